"""All that decoding may do: every answer to everything that is drawn, with its probability."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from otspec.blocks.trees.verifiers.token_rules import made_rule
from otspec.decoding.draws import Draws
from otspec.decoding.reader import Reader, Reading


class Branch(Draws):
    """Answers by a script, and the first possible answer after its end."""

    def __init__(self, script):
        self.script = list(script)
        self.numbers, self.mass = [], 1

    def token(self, masses):
        possible = np.flatnonzero(masses).tolist()
        choice = self._choice(len(possible))
        self.mass = self.mass * masses[possible[choice]]
        return possible[choice]

    def drafts(self, law):
        tuples, masses = _table(type(law), tuple(law.draft.tolist()), law.k)
        return tuples[self.token(masses)]

    def noise(self, place, size):
        raise NotImplementedError("noise is a function of a seed: see test_same_seed.py")

    def _choice(self, number):
        if len(self.numbers) == len(self.script):
            self.script.append(0)
        self.numbers.append(number)
        return self.script[len(self.numbers) - 1]


def every_branch(function):
    """Yield what a function of draws returns, with its probability, for all that may be drawn."""
    script = []
    while True:
        branch = Branch(script)
        yield function(branch), branch.mass
        script = branch.script
        while script and script[-1] + 1 == branch.numbers[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


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
            for (step, after), chance in every_branch(decoder.step):
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
def _table(law, draft, k):
    """Return the tuples of a law and their masses: branches meet the same laws again and again."""
    tuples, masses = law(np.array(draft), k).tuples()
    return list(map(tuple, tuples.tolist())), masses


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
        return _kernel(*self.arguments, drafts)

    @property
    def law(self):
        return _rule(*self.arguments).law


def remembered_rule(rule, draft, target, k):
    """Do what :func:`otspec.blocks.trees.verifiers.token_rules.made_rule` does."""
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
