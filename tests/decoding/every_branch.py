"""The laws of decoded texts and of models, and readers and rules that remember."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from otspec.blocks.trees.verifiers.nodes import made_rule
from otspec.chance import branches
from otspec.decoding.verification import Reader, Reading


def law_of_texts(decoder, most, end=frozenset(), same=None):
    """Return the law of decoded texts of at most so many tokens, by following every branch.

    Decoders of one text and one history of acceptances are followed once; ``same`` is told of each
    two of them.
    """
    law = {}
    level = {((), ()): (1, decoder)}
    while level:
        longer = {}
        for (text, history), (mass, decoder) in level.items():
            for chance, (step, after) in branches(decoder.step):
                cut = step.cut(most - len(text), end)
                more = text + cut.tokens
                if cut.ended or len(more) == most:
                    law[more] = law.get(more, 0) + mass * chance
                    continue
                key = more, (*history, step.accepted)
                before, known = longer.get(key, (0, after))
                if same:
                    same(known, after)
                longer[key] = before + mass * chance, known
        level = longer
    return law


def law_of_model(model, most, end=frozenset(), text=()):
    """Return the law of the texts of a language model that stop at an end token."""
    if len(text) == most or (text and text[-1] in end):
        return {text: 1}
    law = {}
    for token, chance in enumerate(model(text).tolist()):
        if chance > 0:
            for longer, mass in law_of_model(model, most, end, (*text, token)).items():
                law[longer] = chance * mass
    return law


@dataclass(frozen=True, eq=False)
class TableReader(Reader):
    """A reader that asks a language model of the package for every text anew."""

    model: object
    texts: tuple = ((),)
    """The text that was kept, and of each token behind it the text that it ends."""

    @property
    def n(self):
        return self.model.n

    @property
    def exact(self):
        return self.model.exact

    @property
    def length(self):
        return len(self.texts[0])

    def read(self, tokens, parents, last):
        texts = list(self.texts)
        for token, parent in zip(tokens, parents, strict=True):
            texts.append((*texts[parent + 1], token))
        rows = [self.model(text) for text in texts[len(texts) - last :]]
        return Reading(rows, replace(self, texts=tuple(texts)))

    def keep(self, path):
        ends = [self.texts[place + 1] for place in path]
        texts = [self.texts[0], *ends]
        assert all(text[:-1] == before for before, text in zip(texts, ends, strict=False))
        return replace(self, texts=(texts[-1],))


@cache
def _kernel(rule, draft, target, k, drafts):
    return _rule(rule, draft, target, k).kernel(drafts)


@cache
def _rule(rule, draft, target, k):
    return made_rule(rule, np.array(draft), np.array(target), k)


@dataclass(frozen=True)
class RememberedRule:
    """A rule whose kernels are computed once: branches meet the same nodes again and again."""

    arguments: tuple

    def kernel(self, drafts):
        return _kernel(*self.arguments, tuple(drafts))

    def verify(self, drafts, chance):
        return _rule(*self.arguments).verify(drafts, chance)

    @property
    def law(self):
        return _rule(*self.arguments).law


def remembered_rule(rule, draft, target, k):
    """Do what :func:`otspec.blocks.trees.verifiers.nodes.made_rule` does."""
    return RememberedRule((rule, tuple(draft.tolist()), tuple(target.tolist()), k))


@dataclass(frozen=True, eq=False)
class RememberedReader(Reader):
    """A reader that reads the same only once, for branches that meet it again and again."""

    reader: Reader
    known: dict = field(default_factory=dict)

    @property
    def n(self):
        return self.reader.n

    @property
    def length(self):
        return self.reader.length

    def read(self, tokens, parents, last):
        key = tuple(tokens), tuple(parents), last
        if key not in self.known:
            new = self.reader.read(*key)
            self.known[key] = Reading(list(new.rows), RememberedReader(new.reader))
        return self.known[key]

    def keep(self, path):
        key = tuple(path)
        if key not in self.known:
            self.known[key] = RememberedReader(self.reader.keep(key))
        return self.known[key]
