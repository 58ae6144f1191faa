"""Masses between thresholds on target/draft: two histograms, no sort (Pooled, prop. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from otspec import ratios
from otspec._base.arithmetic import Array, IntArray, is_exact, sums_by, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution

OCTAVES = 8
"""Equal bins cover target/draft from 2^−OCTAVES to 2^OCTAVES; the outermost are open-ended."""


@dataclass(frozen=True, eq=False)
class Histogram(Frozen):
    """Bin j has thresholds[j−1] ≤ target/draft < thresholds[j]."""

    thresholds: Array  # (t,): strictly increasing, at least 0

    def place(self, keys: Array) -> IntArray:
        """Return the bin of each ratio."""
        index: IntArray = np.searchsorted(self.thresholds, keys, side="right").astype(np.intp)
        return index

    def binned(self, draft: Distribution, target: Distribution) -> tuple[IntArray, Array, Array]:
        """Return each token's bin, and the draft and the target mass in each, of drafted tokens.

        ``draft`` and ``target``, shape (n,): in the arithmetic of the thresholds. ``index``, shape
        (n,): the last bin for tokens that are never drafted. ``drafted, wanted``: shape (t + 1,).
        """
        from otspec._base import compiling
        from otspec.optimum.pools import histogram_pass  # imports Numba, if it is there

        if compiling.HAS_NUMBA and not is_exact(draft):
            index, drafted, wanted = histogram_pass.fast_binned(
                draft, target, self._ends, *self._cells
            )
            return index, drafted, wanted
        index = self.place(ratios.target_to_draft(draft, target))
        return index, *self.masses_at(index, draft, target)

    def masses_at(
        self, index: IntArray, draft: Distribution, target: Distribution
    ) -> tuple[Array, Array]:
        """Return the masses of :meth:`binned` where each token's bin is known."""
        bins = len(self.thresholds) + 1
        wanted = np.where(draft > 0, target, draft)
        if is_exact(draft):
            return sums_by(index, draft, bins), sums_by(index, wanted, bins)
        return np.bincount(index, draft, bins), np.bincount(index, wanted, bins)

    @cached_property
    def edges(self) -> tuple[Array, Array]:
        """The lower and the upper edge of each bin, each of shape (t + 1,)."""
        edges = np.concatenate([zeros(1, like=self.thresholds), self.thresholds, [np.inf]])
        return edges[:-1], edges[1:]

    @cached_property
    def _ends(self) -> Array:
        return np.append(self.thresholds, np.nan)

    @cached_property
    def _cells(self) -> tuple[IntArray, int]:
        """Return, for each cell of leading bits, how many thresholds lie below; the first cell."""
        from otspec.optimum.pools.histogram_pass import CELL_SHIFT

        if not len(self.thresholds):
            return np.zeros(1, dtype=np.intp), 0
        ends = self.thresholds[[0, -1]].view(np.int64) >> CELL_SHIFT
        floors = (np.arange(ends[0], ends[1] + 1) << CELL_SHIFT).view(np.float64)
        return np.searchsorted(self.thresholds, floors, side="left"), int(ends[0])


@lru_cache(maxsize=16)
def equal_bins(count: int) -> Histogram:
    """Return bins of equal width in log₂(target/draft)."""
    return Histogram(np.exp2(np.linspace(-OCTAVES, OCTAVES, count + 1)[1:-1]))
