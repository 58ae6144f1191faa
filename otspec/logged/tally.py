"""Sums over texts of what was counted in each, and ratios of them with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.frozen import Frozen
from otspec.estimate import radius_of


class Ratio(NamedTuple):
    """A ratio of two sums, with a confidence interval for the ratio over all texts."""

    value: float
    low: float
    """NaN for a single text, as ``high``."""
    high: float


@dataclass(frozen=True, eq=False)
class Tally(Frozen):
    """Sums and products over texts of what was counted in each; those of more texts are added.

    Parameters
    ----------
    texts : int
    sums : ndarray, shape (m,)
    products : ndarray, shape (m, m)
        Of each two counts of one text, summed over the texts.
    """

    texts: int
    sums: Array
    products: Array = field(repr=False)

    @classmethod
    def of(cls, counts: Array) -> Tally:
        """Return the tally of texts, a row of counts for each: shape (texts, m)."""
        rows = np.array(counts, dtype=float)
        return cls(len(rows), rows.sum(axis=0), rows.T @ rows)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.texts + other.texts, self.sums + other.sums, self.products + other.products
        )

    def ratio(self, above: Array, below: Array) -> Ratio:
        """Return Σ counts · above / Σ counts · below, and its t interval with 95% confidence.

        The variance is that of a ratio of sums over texts that are independent of each other, by
        linearisation. NaN where the lower sum is 0.

        Parameters
        ----------
        above, below : ndarray, shape (m,)
        """
        upper, lower = float(self.sums @ above), float(self.sums @ below)
        if lower == 0:
            return Ratio(math.nan, math.nan, math.nan)
        value = upper / lower
        radius = radius_of(self.square((above - value * below) / lower), self.texts)
        return Ratio(value, value - radius, value + radius)

    def square(self, direction: Array) -> float:
        """Return Σ over the texts of (counts · direction)²."""
        return max(0.0, float(direction @ self.products @ direction))
