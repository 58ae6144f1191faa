"""What pooled selection of i.i.d. and of distinct drafts share (Pooled, prop. 2-5)."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic, as_real, cached_property
from otspec.coupling import Coupling
from otspec.distributions import Distribution, DistributionLike, as_k
from otspec.drafts.single import ByRatio
from otspec.estimate import Exact, Known
from otspec.optimum.acceptance import optima_of
from otspec.optimum.pools.pools import Pools, SelectionLaw, by_thresholds, clipped_law
from otspec.ratios import Pair
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.pooled.barriers import Barriers, InsideMasses, find_barriers, inside_masses_of
from otspec.rules.pooled.partitions import ByToken, Partition, Thresholds, as_partition


def refined_thresholds(law: ByRatio, target: Distribution, loss: Number) -> Array:
    """Return ascending thresholds on target/draft whose pools accept the optimum up to ``loss``."""
    # Every knot is a cut, so that the best of them bounds the optimum. What the acceptance is
    # below that bound falls to the pools (see losses()); each pool that loses is split at its own
    # slope, strictly between its ratios. In floats this ends where pools cannot be split.
    draft = law.draft
    thresholds, pools_before = draft[:0], 0
    while True:
        pools = by_thresholds(draft, target, thresholds)
        clipped = clipped_law(pools, inside_masses_of(law, pools).values)
        lost = losses(clipped, target)
        if lost.sum() <= loss or len(pools.draft) == pools_before:
            return thresholds
        pools_before = len(pools.draft)
        worst = np.argsort(-lost, kind="stable")
        # The fewest pools without which what is left is at most half of what may be lost.
        rest = lost.sum() - np.cumsum(lost[worst])
        split = worst[: int(np.argmax(2 * rest <= loss)) + 1]
        thresholds = np.union1d(thresholds, clipped.slopes[split[lost[split] > 0]])


def losses(law: SelectionLaw, target: Distribution) -> Array:
    """Return what each pool loses against the bound of the best knot, shape (m,)."""
    # Below the cut a pool could accept all its target mass, above it all that is selected.
    pools = law.pools
    excess = pools.law(law.slopes) - target
    return pools.gathered(
        arithmetic.positive_part(np.where(pools.index < law.cut, -excess, excess))
    )


@dataclass(frozen=True, eq=False)
class PooledRule(PairRule):
    """Pooled selection by knots whose lifetimes exceed a uniform number, then maximal coupling."""

    options: ClassVar[tuple[str, ...]] = ("optima",)
    law_class: ClassVar[type[ByRatio]]
    couples_one: ClassVar[bool] = True

    pools: Partition

    def __init__(
        self,
        draft: DistributionLike,
        target: DistributionLike,
        k: int,
        pools: Partition | str | int | Sequence[object] | Array = "tokens",
        *,
        normalize: bool = False,
    ) -> None:
        super().__init__(draft, target, k, normalize=normalize)
        self.check_k(self.k)
        arithmetic.refuse_long_power(self.draft, self.k)
        self._hold(pools=as_partition(pools).fitting(self.law))

    @classmethod
    def check_k(cls, k: int) -> None:
        """Refuse more drafts than the rule can count, if there is such a limit."""

    @classmethod
    def within(
        cls,
        draft: DistributionLike,
        target: DistributionLike,
        k: int,
        loss: Number,
        *,
        normalize: bool = False,
    ) -> Self:
        """Return the rule with thresholds refined until :meth:`loss_bound` is at most ``loss``."""
        most = as_real(loss, "loss", 0, infinite=True)
        finest = cls(draft, target, k, ByToken(), normalize=normalize)
        thresholds = refined_thresholds(finest.law, finest.target, most)
        return cls(finest.draft, finest.target, finest.k, Thresholds(thresholds))

    @classmethod
    def acceptances_of(
        cls, pair: Pair, ks: Sequence[int], *, optima: Mapping[int, Number] | None = None
    ) -> list[Known]:
        """Return the acceptance for each of several k, with a pool for every ratio."""
        # In floats that is the optimum of the law (Pooled, prop. 3; Beyond, prop. 3): ``optima``,
        # where they are known.
        if pair.exact:
            return super().acceptances_of(pair, ks)
        for k in ks:
            cls.law_class.check_k(pair.draft, as_k(k))
            cls.check_k(k)
        if optima is None:
            optima = dict(zip(ks, optima_of(pair, ks, cls.law_class).tolist(), strict=True))
        return [Exact(optima[k]) for k in ks]

    @cached_property
    def law(self) -> ByRatio:
        """The law of the drafts that the rule verifies."""
        return self.law_class(self.draft, self.k)

    @cached_property
    def wanted_law(self) -> SelectionLaw:
        """The law that the lifetimes are made for; in floats they give it but for rounding."""
        return clipped_law(self._pools, self._heights.values)

    @cached_property
    def barriers(self) -> Barriers:
        """Which drafts compete, and the law of the one that is selected."""
        return find_barriers(self.wanted_law, self._heights)

    @cached_property
    def coupling(self) -> Coupling:
        """How the selected draft becomes the output."""
        return Coupling(self.barriers.law, self.target)

    @cached_property
    def _pools(self) -> Pools:
        return self.pools.pools(self.law, self.target)

    @cached_property
    def _heights(self) -> InsideMasses:
        return inside_masses_of(self.law, self._pools)

    @property
    def knots(self) -> Array:
        """Draft mass below each boundary of the m pools, shape (m + 1,), from 0 to 1."""
        return self._pools.knots

    @property
    def pool(self) -> IntArray:
        """Each token's pool, shape (n,), from 0 to m − 1 by ascending target/draft."""
        return self._pools.index

    @property
    def lifetimes(self) -> Array:
        """Below which uniform number each knot is a barrier, (m + 1,); infinite at cut and ends."""
        return self.barriers.lifetimes

    @property
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""
        return self.barriers.law

    def loss_bound(self) -> Number:
        """Return a bound, from the knots alone, on the optimum less the acceptance."""
        if self.pools.optimal:
            return arithmetic.as_number(0, like=self.draft)
        wanted = self.wanted_law
        lost = losses(wanted, self.target).sum()
        beyond = wanted.pools.beyond_cut(wanted.slopes, wanted.cut, self.law)
        return arithmetic.as_number(lost + beyond, like=self.draft)

    def _by_token(self) -> Array:
        """Return min(b, q), shape (n,); by enumeration with pools that are not optimal."""
        if not self.pools.optimal:
            return super()._by_token()
        return self.accepted_selection()

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        return self.coupling.joint_kernel(drafts, self.shares_of(drafts))

    @abstractmethod
    def shares_of(self, x: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""

    def accepted_selection(self) -> Array:
        """Return min(b, q), shape (n,)."""
        # The law that was wanted: the one that is had differs by rounding, and takes longer.
        return np.minimum(self._pools.law(self.wanted_law.slopes), self.target)
