"""The letters as tables of numbers: what rules keep at a random place of the text, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import Frozen
from otspec.blocks.trees.verifiers.nodes import TokenRule, made_rule
from otspec.datasets import letters
from otspec.datasets.english_letters import ALPHABET
from otspec.models import WarpedModel
from otspec.rules.base.rule import NotExactError, Rule

SYMBOLS = len(ALPHABET)
EXACT_DISTINCT = 4
"""The most distinct drafts whose recursive rejection is exact."""
PATHS, SEED = 500, 0
"""Of the simulated rejections of more of them, which have no other sum."""


@dataclass(frozen=True)
class Warping:
    """How the models of the letters are warped.

    Parameters
    ----------
    temperature, draft_temperature : float
        Of the target and of the draft.
    top_p : float, optional
        Of both.
    draft : str
        Which of the letters' models drafts: "bigram", or "unigram", which is weaker.
    """

    temperature: float = 1.0
    draft_temperature: float = 1.0
    top_p: float | None = None
    draft: str = "bigram"


@dataclass(frozen=True)
class LetterPair(Frozen):
    """A draft and the target of the letters after each two letters, and how often those occur.

    Parameters
    ----------
    draft, target : ndarray, shape (729, 27)
        After each two letters the distribution of the next.
    places : ndarray, shape (729,)
        How often the text has each two letters.
    """

    draft: Array
    target: Array
    places: Array

    @cached_property
    def following(self) -> IntArray:
        """Which two letters are the last after one more, shape (729, 27)."""
        pairs = np.arange(SYMBOLS**2)
        following: IntArray = pairs[:, None] % SYMBOLS * SYMBOLS + np.arange(SYMBOLS)
        return following

    def step(self, masses: Array) -> Array:
        """Return the masses of the last two letters from those of three, (729, 27) → (729,)."""
        summed: Array = masses.reshape(SYMBOLS, SYMBOLS, SYMBOLS).sum(axis=0).ravel()
        return summed


@lru_cache(maxsize=8)
def letter_pair(warping: Warping = Warping()) -> LetterPair:
    """Return a draft of the letters and their target, warped."""
    pair = letters(exact=False)
    draft, target = (
        WarpedModel(model, temperature=temperature, top_p=warping.top_p)
        for model, temperature in (
            (getattr(pair, warping.draft), warping.draft_temperature),
            (pair.target, warping.temperature),
        )
    )
    contexts = list(product(range(SYMBOLS), repeat=2))
    occurring = pair.target.contexts()
    return LetterPair(
        np.array([draft(context) for context in contexts]),
        np.array([target(context) for context in contexts]),
        np.array([float(occurring.get(context, 0)) for context in contexts]),
    )


@dataclass(frozen=True)
class LetterTrees(Frozen):
    """A rule for one token at the nodes of trees on the letters; its laws are found once.

    Parameters
    ----------
    pair : LetterPair
    rule : callable
        (draft, target, k) → a rule for one token.
    merge : bool
        Whether equal i.i.d. children go on together, see :class:`otspec.blocks.DraftSelection`.
    """

    pair: LetterPair
    rule: TokenRule
    merge: bool = False

    def accepted(self, k: int) -> Array:
        """Return after each two letters how likely y is accepted and drafted c times.

        Returns
        -------
        ndarray, shape (729, k or 1, 27)
            Entry c − 1 is of c equal drafts; without ``merge`` all counts are one. Simulated where
            the rule has no exact law.
        """
        if k not in self._known:
            rows = zip(self.pair.draft, self.pair.target, strict=True)
            laws = [self._law(made_rule(self.rule, draft, target, k)) for draft, target in rows]
            self._known[k] = np.array(laws)
        return self._known[k]

    def _law(self, made: Rule) -> Array:
        if self.merge and made.law.iid:
            return made.accepted().counted.accepted
        try:
            return made.accepted().by_token[None]
        except NotExactError:
            return made.estimate(PATHS, SEED).by_token.value[None]

    def tokens_per_call(self, branching: Sequence[int]) -> float:
        """Return 1 + E[τ] of a tree at a random place of the text."""
        return 1 + float(self.pair.places @ self._kept(tuple(branching), 1))

    def _kept(self, branching: tuple[int, ...], nodes: int) -> Array:
        """Return how many tokens are kept below so many equal nodes, after each two letters."""
        if not branching:
            return np.zeros(len(self.pair.places))
        laws = self.accepted(nodes * branching[0])
        counts = laws.shape[1] if len(branching) > 1 else 1
        if counts == 1:
            laws = laws.sum(axis=1, keepdims=True)
        kept = np.zeros(len(self.pair.places))
        for count in range(counts):
            further = self._kept(branching[1:], count + 1)[self.pair.following]
            kept += (laws[:, count] * (1 + further)).sum(axis=1)
        return kept

    @cached_property
    def _known(self) -> dict[int, Array]:
        return {}


@lru_cache(maxsize=16)
def letter_trees(rule: TokenRule) -> LetterTrees:
    """Return the trees of a rule on the letters as they are, whose laws all items share."""
    return LetterTrees(letter_pair(), rule)
