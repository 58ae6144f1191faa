"""Vessels that communicate: what each holds of an amount, exactly (Theory, 30)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec import ratios
from otspec._base.arithmetic import (
    Array,
    IntArray,
    Number,
    as_number,
    positive_part,
    prefix_sums,
    suffix_sums,
)
from otspec._base.frozen import Frozen, cached_property

_UNIT = 2**60
"""The smallest float times this has an inverse."""


@dataclass(frozen=True, eq=False)
class Vessels(Frozen):
    """Vessels that fill alike until the low ones are full.

    Parameters
    ----------
    volumes, widths : ndarray, shape (m,)
        Of each vessel; widths are positive.
    """

    volumes: Array
    widths: Array

    @cached_property
    def total(self) -> Number:
        """What all vessels hold together."""
        return as_number(self.volumes.sum(), like=self.widths)

    @cached_property
    def _bases(self) -> Array:
        """The widths in a unit that keeps heights within the floats."""
        bases: Array = self.widths * _UNIT
        return bases

    @cached_property
    def _heights(self) -> Array:
        heights: Array = self.volumes / self._bases
        return heights

    @cached_property
    def _order(self) -> IntArray:
        return ratios.ascending(self._heights)

    @cached_property
    def _full(self) -> Array:
        """What is in the lowest j vessels when they are full, (m + 1,)."""
        return prefix_sums(self.volumes[self._order])

    @cached_property
    def _open(self) -> Array:
        """The width of all vessels but the lowest j, (m + 1,)."""
        return suffix_sums(self._bases[self._order])

    @cached_property
    def _reached(self) -> Array:
        """How much there is when the level is at the height of each vessel, lowest first, (m,)."""
        reached: Array = self._full[:-1] + self._heights[self._order] * self._open[:-1]
        return reached

    def filled(self, amount: Number) -> Array:
        """Return what each vessel holds of an amount: min(volume, level · width), shape (m,).

        What is beyond the total runs over.
        """
        lowest = int(np.searchsorted(self._reached, np.asarray(amount, self._reached.dtype)))
        held: Array = self.volumes.copy()
        if lowest < len(held):
            others = self._order[lowest:]
            rest = positive_part(np.asarray([amount - self._full[lowest]]))
            bases = self._bases[others]
            filled = rest * (bases / self._open[lowest])
            if lowest > 0:  # by rounding it could be below vessels that are full
                filled = np.maximum(filled, self._heights[self._order[lowest - 1]] * bases)
            held[others] = np.minimum(held[others], filled)
        return held
