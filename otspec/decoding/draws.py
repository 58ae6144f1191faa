"""Where the chance in decoding comes from: everything that is drawn, in one place."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from otspec._base.arguments import as_seed
from otspec._base.arithmetic import Array
from otspec.batch import shared_noise
from otspec.drafts import DraftLaw
from otspec.drafts.base import draw
from otspec.models.base import Prefix


class Draws(ABC):
    """What decoding asks whenever something is left to chance.

    Decoding is a function of the answers and of nothing else that is random. So whoever follows
    all answers, each with its probability, knows the law of the decoded text.
    """

    @abstractmethod
    def token(self, masses: Array) -> int:
        """Return an index drawn with the given probabilities."""

    @abstractmethod
    def drafts(self, law: DraftLaw) -> Prefix:
        """Return a tuple of drafts drawn from a law."""

    @abstractmethod
    def noise(self, place: int, size: int) -> Array:
        """Return the exponential noise of a place in the text, the same whenever it is asked."""


class Chance(Draws):
    """Draws of a generator of random numbers.

    Parameters
    ----------
    seed : int
    text : int, optional
        The number of a text of a batch: those of one seed are independent.
    """

    def __init__(self, seed: int, text: int | None = None) -> None:
        key = () if text is None else (text,)
        seeds = np.random.SeedSequence(as_seed(seed), spawn_key=key)
        self._rng = np.random.default_rng(seeds)
        self._key = int(seeds.generate_state(1, np.uint64)[0])

    def token(self, masses: Array) -> int:
        """Return an index drawn with the given probabilities."""
        return int(draw(masses, 1, self._rng)[0])

    def drafts(self, law: DraftLaw) -> Prefix:
        """Return a tuple of drafts drawn from a law."""
        return tuple(law.sample(1, self._rng)[0].tolist())

    def noise(self, place: int, size: int) -> Array:
        """Return the exponential noise of a place in the text, a function of the seed."""
        row: Array = shared_noise(np.zeros((1, size)), np.array([place]), self._key)[0]
        return row
