"""Partitions: how the drafted tokens are cut into pools, as values (Pooled, prop. 5, 6 and 7)."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Frozen, as_array, as_integer, plain, plain_integer, shown
from otspec._base.arithmetic import Array, Number, as_numbers, is_exact, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.pools import (
    Pools,
    by_bins,
    by_ratio,
    by_thresholds,
    by_token,
    in_arithmetic_of,
    merged,
)
from otspec.rules.pooled.barriers import inside_masses_of
from otspec.rules.pooled.graded import by_grade, heaviest, highest_grade

MOST_STEPS = 512
"""Where more pools than this are needed on one side of the cut, floats stop looking."""


def fewest_pools(law: ByRatio, target: Distribution) -> Pools:
    """Return the fewest pools with an optimal law: one sort, and O(n) for every pool.

    In floats it is a pool for every ratio if one side of the cut takes more than
    :data:`MOST_STEPS`, as where the optimum is nearly 1. There B may fall below G by what rounding
    leaves uncertain of G, k √m ε, so that no pools are spent on roundings; so much is lost.
    """
    draft = law.draft
    if law.k == 1:  # always the draft itself
        return by_thresholds(draft, target, draft[:0])
    pools, ratios = by_ratio(draft, target)
    m = len(ratios)
    knots = pools.knots
    heights = inside_masses_of(law, pools).values
    s = int(np.argmax(heights - prefix_sums(pools.target)))
    slack = 0 if is_exact(draft) else law.k * math.sqrt(m) * np.finfo(float).eps
    least = heights - slack
    below = _fewest_steps(knots[: s + 1], least[: s + 1], heights[s], ratios[:s])
    lows, falls = (np.negative(part[s:][::-1], order="C") for part in (knots, ratios))
    above = _fewest_steps(lows, least[s:][::-1].copy(), heights[s], falls)
    if below is None or above is None:
        return pools
    inner = sorted({s, *below, *(m - j for j in above)} - {0, m})
    return merged(pools, ratios, inner)


def _fewest_steps(knots: Array, least: Array, highest: Number, slopes: Array) -> list[int] | None:
    """Return the knots (m + 1,) on the way with fewest steps from the last down to the first."""
    # The law is at least ``least`` at each knot, and ``highest`` at the last one.
    from otspec._base import compiling
    from otspec.rules.pooled import barrier_process  # imports Numba, if it is there

    m = len(slopes)
    if m == 0:
        return []
    plain = is_exact(knots) or not compiling.HAS_NUMBA
    step = barrier_process.best_steps if plain else barrier_process.fast_best_steps
    curve: list[Any] = [compiling.unwriteable(values) for values in (knots, least, slopes)]
    best, following = np.full((2, m + 1), -1, dtype=least.dtype)
    best[m] = highest
    lines = np.empty(m + 1, dtype=object if plain else np.intp)
    taken: list[Array] = []
    while best[0] < least[0]:
        if len(taken) == (m if is_exact(knots) else MOST_STEPS):
            return None
        source = np.empty_like(lines)
        with np.errstate(over="ignore", invalid="ignore"):  # slopes of hardly drafted tokens
            step(*[*curve, best, following, source, lines])
        best, following = following, best
        taken.append(source)
    way, knot = [], 0
    for source in reversed(taken):
        knot = int(source[knot])
        way.append(knot)
    return way


MOST_BINS = 1 << 20
"""Most bins; there are hardly more floats between their thresholds that anybody tells apart."""
MOST_GRADES = 256


class Partition(Frozen, ABC):
    """A way to cut the drafted tokens into pools of ascending target/draft."""

    optimal: ClassVar[bool] = False
    """Whether Σ min(b, q) is the optimum, whatever the draft and the target."""

    @abstractmethod
    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return the pools for i.i.d. or distinct drafts."""

    def fitting(self, law: ByRatio) -> "Partition":  # noqa: ARG002
        """Return the partition in the arithmetic of the drafts; ``ValueError`` if there is none."""
        return self


@dataclass(frozen=True)
class ByToken(Partition):
    """A pool for every ratio that occurs: one sort, and the optimum (proposition 3)."""

    optimal: ClassVar[bool] = True

    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return a pool for every ratio that occurs."""
        return by_token(law.draft, target)


@dataclass(frozen=True)
class Fewest(Partition):
    """The fewest pools with which Σ min(b, q) is the optimum (proposition 6)."""

    optimal: ClassVar[bool] = True

    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return the fewest pools that are optimal."""
        return fewest_pools(law, target)


@dataclass(frozen=True)
class Bins(Partition):
    """``count`` ≤ 2^20 equal bins of log₂(target/draft) from −8 to 8: no sort (prop. 5)."""

    count: int

    def __post_init__(self) -> None:
        self._hold(count=as_integer(self.count, "count", 1, MOST_BINS, wanted="a number of bins"))

    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return the bins that hold draft mass."""
        return by_bins(law.draft, target, self.count)


@dataclass(frozen=True, eq=False)
class Thresholds(Partition):
    """Pools between increasing thresholds: values[j−1] ≤ target/draft < values[j] (prop. 5)."""

    values: Array

    def __post_init__(self) -> None:
        self._hold(values=_as_thresholds(self.values, "values"))

    def fitting(self, law: ByRatio) -> "Thresholds":
        """Return the thresholds in the drafts' arithmetic; ``ValueError`` if floats are equal."""
        converted = in_arithmetic_of(law.draft, self.values)
        return self if converted is self.values else Thresholds(_as_thresholds(converted, "pools"))

    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return the pools that hold draft mass."""
        return by_thresholds(law.draft, target, self.fitting(law).values)


@dataclass(frozen=True)
class Graded(Partition):
    """Pools for a few grades of target/draft; a draft is put in one of two at random (prop. 7).

    It is what :func:`otspec.batch.pooled_selection` does, and for distinct drafts
    :func:`otspec.batch.pooled_selection_without_replacement`: no sort and no histogram. Distinct
    drafts are the tokens that arrive first, each arrival is put in a pool, and of light tokens the
    repeated arrivals count, too.

    Parameters
    ----------
    count : int
        The number m of positive grades, from 2 to 256: equal steps from 1/2 to k; for distinct
        drafts, to the most that a token can be drafted over its draft mass.
    heavy : int
        Of distinct drafts, tokens heavier than the one after the ``heavy`` heaviest are heavy.

    Raises
    ------
    ValueError
        Unusable numbers.
    """

    count: int = 6
    heavy: int = 32

    def __post_init__(self) -> None:
        count = as_integer(self.count, "count", 2, MOST_GRADES, wanted="a number of grades")
        self._hold(count=count, heavy=as_integer(self.heavy, "heavy", 0))

    def pools(self, law: ByRatio, target: Distribution) -> Pools:
        """Return the grades that some token has, with how likely each token has which."""
        heavy = heaviest(law.draft, self.heavy)
        return by_grade(law.draft, target, highest_grade(law, heavy), self.count, heavy)


def as_partition(pools: Any) -> Partition:
    """Return the partition for ``"tokens"``, ``"fewest"``, a number of bins, or thresholds."""
    if isinstance(pools, Partition):
        return pools
    if isinstance(pools, str) and pools in ("tokens", "fewest"):
        return ByToken() if pools == "tokens" else Fewest()
    number = plain_integer(pools)
    if number is not None and number >= 1:
        otherwise = "use 'tokens' or fewer bins"
        return Bins(as_integer(number, "pools", 1, MOST_BINS, otherwise=otherwise))
    if isinstance(pools, (str, bytes, dict, set)) or as_array([pools], "pools").ndim == 1:
        raise ValueError(
            f"pools is {shown(pools)}: pass 'tokens', 'fewest', a number of bins such as 256, or a "
            "list of increasing thresholds on target/draft"
        )
    return Thresholds(_as_thresholds(pools, "pools"))


def _as_thresholds(values: Any, name: str) -> Array:
    """Return thresholds, checked under the name that the caller gave them."""
    thresholds = as_numbers(values, name)
    if thresholds.ndim != 1:
        raise ValueError(f"{name} has shape {thresholds.shape}: thresholds are one-dimensional")
    numbers = thresholds.tolist()
    for j, value in enumerate(numbers):
        if not 0 <= value < np.inf:
            raise ValueError(
                f"{name}[{j}] is {plain(value)}: a threshold is a finite number, at least 0"
            )
        if j and not numbers[j - 1] < value:
            raise ValueError(
                f"{name}[{j}] is {plain(value)} after {plain(numbers[j - 1])}: thresholds "
                "must increase"
            )
    return thresholds
