"""A model that reads texts and trees, and the verification of a tree with what it says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from otspec._base import Array, Frozen, as_seed
from otspec.batch import shared_noise
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import ROOT, DraftedTree, node_and_row
from otspec.chance import Drawn
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw, TooFewTokensError
from otspec.models.base import Model, Prefix
from otspec.rules import TargetOnly
from otspec.rules.shared_noise.base import earliest

Result = TypeVar("Result")


class Reader(Frozen, ABC):
    """A language model with what it has read, a text and maybe a tree; it is never changed."""

    n: int
    """Vocabulary size."""
    exact: bool = False
    """Whether probabilities are ``Fraction`` rather than float."""
    length: int
    """Tokens of the text that was read and kept."""

    @abstractmethod
    def read(self, tokens: Sequence[int], parents: Sequence[int], last: int) -> Reading:
        """Read more tokens, and ask the next token of the ``last`` ones.

        ``parents``: by number among all that was read behind the text; −1 for the text itself.
        """

    @classmethod
    def read_all(cls, requests: Sequence[Request]) -> list[Reading]:
        """Read for several texts: here one after the other, in a batch where a reader can."""
        return [each.reader.read(each.tokens, each.parents, each.last) for each in requests]

    @abstractmethod
    def keep(self, path: Sequence[int]) -> Reader:
        """Return the reader of a text longer by a path, numbers of what was read."""


@dataclass(frozen=True, eq=False)
class Reading(Frozen):
    """What comes of reading."""

    rows: Sequence[Distribution]
    """The distribution after each token that was asked, which is computed when it is looked at."""
    reader: Reader  # the model that has read the tokens


class Request(NamedTuple):
    """What is to be read: a reader, and the arguments of :meth:`Reader.read`."""

    reader: Reader
    tokens: Sequence[int]
    parents: Sequence[int]
    last: int
    drafting: bool = False  # whether the reader is the draft model


Reads: TypeAlias = Generator[Request, Reading, Result]
"""A function that asks to read, and goes on with what comes of it."""


def alone(reads: Reads[Result]) -> Result:
    """Run a function that asks to read, and read each of its requests by itself."""
    try:
        request = next(reads)
        while True:
            [reading] = request.reader.read_all([request])
            request = reads.send(reading)
    except StopIteration as done:
        return done.value


def read_text(reader: Reader, tokens: Sequence[int]) -> Reading:
    """Read what follows a text, token after token."""
    return reader.read(tokens, range(-1, len(tokens) - 1), 1)


class SeededChance(Drawn):
    """The choices of a seed, and its noise at each place of a text of a batch."""

    def __init__(self, seed: int, text: int | None = None) -> None:
        key = () if text is None else (text,)
        seeds = np.random.SeedSequence(as_seed(seed), spawn_key=key)
        super().__init__(np.random.default_rng(seeds))
        self._key = int(seeds.generate_state(1, np.uint64)[0])

    def noise(self, place: int, size: int) -> Array:
        """Return the exponential noise of a place in the text, the same whenever it is asked."""
        return shared_noise(np.zeros((1, size)), np.array([place]), self._key)[0]


class Verdict(NamedTuple):
    """How the verification of a tree ended."""

    node: int
    """The last node that is kept; −1 if none is."""
    token: int
    """The token that follows it."""
    verifier: Verifier
    """What verifies the next tree."""


@dataclass(frozen=True, eq=False)
class Verifier(Frozen, ABC):
    """A rule at work on one text."""

    # (draft, k) → the law of k drawn children of a node
    law_class: Callable[[Distribution, int], DraftLaw]

    def drafts(
        self,
        draft: Distribution,
        k: int,
        top: bool,
        place: int,  # noqa: ARG002 -- shared noise is that of a place
        chance: SeededChance,
    ) -> tuple[Prefix, bool]:
        """Return up to k children at a place, and whether equal ones go on together."""
        law_class = TargetOnly.law_class if top else self.law_class
        try:
            law = law_class(draft, k)
        except TooFewTokensError:
            law = law_class(draft, int(np.count_nonzero(draft)))
        return law.draw(chance), law.iid

    @abstractmethod
    def verify(self, drafts: DraftedTree, start: int, chance: SeededChance) -> Verdict:
        """Say which nodes are kept, and what follows them."""


@dataclass(frozen=True, eq=False)
class RuleVerifier(Verifier):
    """The program of a rule for blocks or trees, at work on one text."""

    rule: BlockRule  # of the models after the text, if it corrects more than one token
    # draft, target: the two models, after the prompt
    draft: ReadModel
    target: ReadModel
    text: Prefix = ()  # what follows the prompt

    def verify(self, drafts: DraftedTree, start: int, chance: SeededChance) -> Verdict:  # noqa: ARG002
        """Run the program, and draw the token that follows what it keeps."""
        if not self.rule.renews:
            # The target may be corrections of the last block, which ask for the rows of the models.
            texts = {node: self.text + drafts.text(node) for node in range(ROOT, len(drafts))}
            self.target.remember({text: drafts.target(node) for node, text in texts.items()})
            above = {node: text for node, text in texts.items() if drafts.children(node)}
            self.draft.remember({text: drafts.draft(node) for node, text in above.items()})
            drafts = replace(drafts, target=lambda node: self.rule.target(drafts.text(node)))
        node, row = node_and_row(self.rule.verify(drafts, chance))
        kept = drafts.text(node)
        if self.rule.renews:
            token = chance.choose(drafts.target(node) if row is None else row)
            return Verdict(node, token, self)
        outcome = self.rule.ended(kept, row)
        token = chance.choose(outcome.following(()))
        text = (*self.text, *kept, token)
        rule = self.rule.restarted(self.draft.after(text), outcome.following.after((token,)))
        return Verdict(node, token, replace(self, text=text, rule=rule))


@dataclass(frozen=True, eq=False)
class SharedNoiseVerifier(Verifier):
    """The target's token of shared noise at each place: the text is that of plain decoding.

    Both models draw with the noise of a place, a function of the seed. So the text, which is the
    target's in law, depends on the seed and the target alone, not on the draft, the tree or a
    batch. Source: :class:`otspec.rules.GumbelCoupling`.
    """

    def drafts(
        self, draft: Distribution, k: int, top: bool, place: int, chance: SeededChance
    ) -> tuple[Prefix, bool]:
        """Return the first tokens of the draft's race with the noise of the place."""
        if top:
            return super().drafts(draft, k, top, place, chance)
        noise = chance.noise(place, len(draft))
        count = min(k, int(np.count_nonzero(draft)))
        return tuple(earliest(noise, draft, count).tolist()), False

    def verify(self, drafts: DraftedTree, start: int, chance: SeededChance) -> Verdict:
        """Follow the target's tokens through the tree as far as they were drafted."""
        node, place = ROOT, start
        while True:
            row = drafts.target(node)
            token = int(earliest(chance.noise(place, len(row)), row, 1)[0])
            below = [child for child in drafts.children(node) if drafts[child] == token]
            if not below:
                return Verdict(node, token, self)
            node, place = below[0], place + 1


class ReadModel(Model):
    """A reader, which has read nothing yet, as a language model after a prompt."""

    def __init__(self, reader: Reader, prompt: Prefix) -> None:
        self._reader, self._prompt = reader, prompt
        self._rows: dict[Prefix, Distribution] = {}
        self.n, self.exact = reader.n, reader.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution after the prompt and a prefix, by reading it if need be."""
        if prefix in self._rows:
            return self._rows[prefix]
        return read_text(self._reader, self._prompt + prefix).rows[0]

    def remember(self, rows: dict[Prefix, Distribution]) -> None:
        """Have the distributions after some texts at hand, and no others."""
        self._rows = dict(rows)
