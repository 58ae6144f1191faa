"""G, the probability that all drafts are below a knot (Pooled, prop. 1)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from otspec._base.arithmetic import Array, IntArray, is_exact, prefix_sums
from otspec._base.frozen import Frozen
from otspec.drafts import IID, WithoutReplacement
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.pools import Pools


class InsideMasses(Frozen, ABC):
    """G at the m + 1 knots of pools, a convex curve over them."""

    @property
    @abstractmethod
    def values(self) -> Array:
        """G at each knot, shape (m + 1,): from 0 to 1."""

    @property
    @abstractmethod
    def rises(self) -> Array:
        """By how much G rises over each pool, shape (m,)."""

    def chords(self, starts: IntArray, ends: IntArray, slopes: Array) -> Array:  # noqa: ARG002
        """Return the slopes of chords between knots with all digits that are known."""
        return slopes


@dataclass(frozen=True, eq=False)
class PowerMasses(InsideMasses):
    """G = u^k at knot u, for k i.i.d. drafts."""

    pools: Pools
    k: int

    @property
    def values(self) -> Array:
        """u^k at each knot, shape (m + 1,)."""
        return self.pools.by_pool.powers(self.k)

    @property
    def rises(self) -> Array:
        """By how much u^k rises over each pool, shape (m,)."""
        slopes = self.pools.by_pool.slopes(slice(-1), slice(1, None), self.k)
        rises: Array = self.pools.draft * slopes
        return rises

    def chords(self, starts: IntArray, ends: IntArray, slopes: Array) -> Array:
        """Return slopes of chords, in floats from the tokens' own masses."""
        # So no knot is rounded to a float before its power is taken.
        return slopes if is_exact(slopes) else self.pools.by_token.slopes(starts, ends, self.k)


@dataclass(frozen=True, eq=False)
class SummedMasses(InsideMasses):
    """G as sums of what is known of each pool."""

    # (m,): the probability that all drafts are in the pool or below, and not all below
    steps: Array

    @property
    def rises(self) -> Array:
        """By how much G rises over each pool, shape (m,)."""
        return self.steps

    @property
    def values(self) -> Array:
        """G at each knot, shape (m + 1,)."""
        return prefix_sums(self.steps)


@singledispatch
def inside_masses_of(law: ByRatio, pools: Pools) -> InsideMasses:
    """Return G of a draft law over pools of its draft distribution, in whatever unit."""
    last = np.cumsum(np.bincount(pools.index[pools.tokens > 0], minlength=len(pools.draft)))
    inside = law.inside_prefixes(pools.in_order)[: int(last[-1]) + 1]
    return SummedMasses(np.diff(inside[np.concatenate([[0], last])]))


@inside_masses_of.register
def _(law: IID, pools: Pools) -> InsideMasses:
    return PowerMasses(pools, law.k)


@inside_masses_of.register
def _(law: WithoutReplacement, pools: Pools) -> InsideMasses:
    return SummedMasses(pools.rises_without_replacement(law.draft, law.k))
