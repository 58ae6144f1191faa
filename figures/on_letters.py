"""The letters as tables of numbers: what rules keep at a random place of the text, in floats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.blocks import WarpedModel
from otspec.datasets import letters
from otspec.datasets.english_letters import ALPHABET
from otspec.frozen import Frozen

SYMBOLS = len(ALPHABET)
GREEDY = 0.0
"""The temperature at which a model draws its likeliest token."""


@dataclass(frozen=True)
class Warping:
    """How the models of the letters are warped.

    Parameters
    ----------
    temperature, draft_temperature : float
        Of the target and of the draft.
    top_p : float, optional
        Of both.
    """

    temperature: float = 1.0
    draft_temperature: float = 1.0
    top_p: float | None = None


@dataclass(frozen=True)
class LetterPair(Frozen):
    """The default pair of the letters after each two letters, and how often those occur.

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
    """Return the default pair of the letters, warped."""
    pair = letters(exact=False)
    draft, target = (
        WarpedModel(model, temperature=temperature, top_p=warping.top_p)
        for model, temperature in (
            (pair.draft, warping.draft_temperature),
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
