"""E[τ] of rules for one block (Theory, 7–9) on the letters: a lower and an upper bound.

Texts after which both models remember the same differ only in their ratio of wanted to drafted
mass, and the formula of E[τ] is concave, monotone and homogeneous in the two masses. So to put
texts of neighboring ratios together can only raise it, and to share a text out among the two
grid points beside its ratio, so that both masses stay what they are, can only lower it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from figures.on_letters import LetterPair
from otspec._base.arithmetic import Array, IntArray
from otspec.blocks import BlockVerification, BlockVerificationPreprint, TokenVerification
from otspec.blocks.single_draft import SingleDraftRule

STEP = 0.02
"""Of the logarithm of the ratio, from one grid point to the next."""
LEAST, MOST = -14.0, 10.0
"""The logarithms of the least and of the greatest ratio of the grid."""
CAPPED: dict[type[SingleDraftRule], bool | None] = {
    TokenVerification: None,
    BlockVerification: True,
    BlockVerificationPreprint: False,
}
"""Whether a rule cuts what is wanted of a text down to what is drafted of it, if it has a ratio."""


class Bounds(NamedTuple):
    """Two numbers that another one lies between."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The middle of both."""
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Grid:
    """Ratios whose logarithms are evenly spaced; the greatest is 1 if ratios are capped there."""

    step: float
    capped: bool

    @property
    def size(self) -> int:
        """How many ratios there are."""
        return round(((0.0 if self.capped else MOST) - LEAST) / self.step) + 1

    @property
    def ratios(self) -> Array:
        """The ratios, ascending."""
        return np.exp(LEAST + self.step * np.arange(self.size))

    def beginning(self, pair: LetterPair) -> Array:
        """Return the masses of empty texts, whose ratio is 1: shape (contexts, size)."""
        masses = np.zeros((len(pair.places), self.size))
        masses[:, round(-LEAST / self.step)] = pair.places
        return masses

    def dealt(self, places: IntArray, masses: Array) -> Array:
        """Return the masses by place, token by token: shape (tokens, size).

        What is beyond the last place is put there, what is before the first is left out.
        """
        tokens = len(places)
        inside = np.minimum(places, self.size - 1) + self.size * np.arange(tokens)[:, None]
        weights = np.where(places >= 0, masses, 0.0)
        inside = np.where(places >= 0, inside, 0)
        flat = np.bincount(inside.ravel(), weights.ravel(), minlength=tokens * self.size)
        return flat.reshape(tokens, self.size)


def kept_tokens(
    pair: LetterPair, rule: type[SingleDraftRule], length: int, step: float = STEP
) -> list[Bounds]:
    """Return bounds of E[τ] at a random place of the text, for blocks of 1, …, L tokens.

    Parameters
    ----------
    pair : LetterPair
    rule : type
        One of the rules for one block of the package.
    length : int
        L.
    step : float
        Of the grid. Half of it brings the bounds four times closer together.
    """
    capped = CAPPED[rule]
    if capped is None:
        return [Bounds(kept, kept) for kept in accumulate(_kept_token_by_token(pair, length))]
    grid = Grid(step, capped)
    lows = accumulate(_shared_out(pair, grid, length))
    highs = accumulate(_put_together(pair, grid, length))
    return [Bounds(*both) for both in zip(lows, highs, strict=True)]


def _kept_token_by_token(pair: LetterPair, length: int) -> list[float]:
    """Return for each length how likely token verification keeps so many tokens."""
    mass, found = pair.places, []
    for _ in range(length):
        mass = pair.step(mass[:, None] * np.minimum(pair.draft, pair.target))
        found.append(float(mass.sum()))
    return found


def _shared_out(pair: LetterPair, grid: Grid, length: int) -> list[float]:
    """Return the same for a block rule, from below: every text is shared out on the grid."""
    shifts = np.log(pair.target / pair.draft) / grid.step
    moves = np.floor(shifts).astype(int)
    upper = np.expm1((shifts - moves) * grid.step) / math.expm1(grid.step)
    worth = np.minimum(grid.ratios, 1.0)
    masses, found = grid.beginning(pair), []
    for _ in range(length):
        longer = np.zeros_like(masses)
        for context in np.flatnonzero(masses.any(axis=1)).tolist():
            places = np.flatnonzero(masses[context])
            drafted = np.multiply.outer(pair.draft[context], masses[context, places])
            near = np.add.outer(moves[context], places)
            share = upper[context][:, None]
            row = grid.dealt(near, drafted * (1 - share)) + grid.dealt(near + 1, drafted * share)
            longer[pair.following[context]] += row
        masses = longer
        found.append(float((masses * worth).sum()))
    return found


def _put_together(pair: LetterPair, grid: Grid, length: int) -> list[float]:
    """Return the same from above: texts next to one grid point are one."""
    drafted, found = grid.beginning(pair), []
    wanted = drafted.copy()
    for _ in range(length):
        sums = np.zeros((2, *drafted.shape))
        for context in np.flatnonzero(drafted.any(axis=1)).tolist():
            places = np.flatnonzero(drafted[context])
            masses = np.multiply.outer(pair.draft[context], drafted[context, places])
            asked = np.multiply.outer(pair.target[context], wanted[context, places])
            if grid.capped:
                asked = np.minimum(asked, masses)
            near = np.rint((np.log(asked / masses) - LEAST) / grid.step).astype(int)
            near = np.maximum(near, 0)
            for total, each in zip(sums, (masses, asked), strict=True):
                total[pair.following[context]] += grid.dealt(near, each)
        drafted, wanted = sums
        found.append(float(np.minimum(drafted, wanted).sum()))
    return found
