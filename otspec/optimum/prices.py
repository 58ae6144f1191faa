"""Budgets in a divergence of the output, with bounds by prices of the tokens (Theory, 30)."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from otspec._base import Array, Number, as_real, is_exact
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.optimum.budgets import SMALLEST, Budget, Outputs
from otspec.optimum.cuts.levels import level_selection
from otspec.optimum.cuts.minimum import cut_bound

_EPS = float(np.finfo(float).eps)
_LONGEST = 1490.0
"""Of logarithms of ratios: the smallest float is 2^−1074, and both levels may be as far from 1."""
_NORMAL = float(np.finfo(float).tiny)  # ratios of smaller numbers may have few digits


@dataclass(frozen=True)
class Divergence(Budget):
    """The output o is within a divergence of the target q, in floats.

    It is a function of Σ q f(o/q), f'(x) = (x^{a − 1} − 1)/(a − 1), log x at a = 1.
    """

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check a budget: a number from 0, beside a target in floats."""
        refuse_exact(cls.name, target)
        return cls(float(as_real(amount, cls.name, 0)))

    proof: ClassVar[str] = (
        "Prices of the tokens prove it: their bound on all rules within is that number, but for "
        "rounding."
    )

    @property
    @abstractmethod
    def exponent(self) -> float:
        """The order a."""

    @property
    def accuracy(self) -> float:
        """Of exponents a z and (a − 1) z, rounded a few times, z the logarithm of two floats."""
        return 8 * _EPS * (1 + self.exponent) * _LONGEST

    @property
    def wanted_only(self) -> bool:
        """Whether the output has to be 0 where the target is."""
        return self.exponent >= 1

    @abstractmethod
    def dearest(self, heights: Array, highest: float, target: Distribution) -> float:
        """Return what Σ w o is at most within the budget, for the prices of some heights.

        Heights z are from 0 to ``highest``, which may be infinite below order 1; the price is
        w = (e^{(a − 1) z} − 1)/(e^{(a − 1) highest} − 1), and 1 for tokens that are never wanted.
        """

    def acceptance(self, law: DraftLaw, target: Distribution, lossless: Number) -> float:
        """Return α and the total variation that the budget allows."""
        selection = level_selection(law, target)
        if selection is None:
            raise ValueError(
                f"{self.name} needs a selection law, which is not known for {law.k} independent "
                f"drafts over {law.n} tokens: use at most 100 tokens, or total_variation"
            )
        return min(1.0, float(lossless) + self.moved(Outputs(selection, target)))

    def moved(self, outputs: Outputs) -> float:
        """Search for the last output within the budget: their distances ascend."""
        low, high = 0.0, float(outputs.farthest_wanted if self.wanted_only else outputs.farthest)
        if self.amount == 0:  # rounding would hide that others are farther
            return low
        if self._holds(outputs.at(high), outputs.target):
            return high
        while low < (middle := (low + high) / 2) < high:
            within = self._holds(outputs.at(middle), outputs.target)
            low, high = (middle, high) if within else (low, middle)
        return low

    def _holds(self, output: Distribution, target: Distribution) -> bool:
        return self.distance(output, target) <= self.amount

    def bound(
        self,
        law: DraftLaw,
        target: Distribution,
        cut: tuple[int, ...],
        selection: Distribution,
        output: Distribution,
    ) -> float:
        """Return the least of several bounds, of which each holds whatever the output is.

        By the cut and the total variation within the budget, at most √(B/2) and for Rényi orders
        a below 1 √(B/2a); by the tokens that are never wanted, if none of them can be output; and
        by prices w in [0, 1]: Σ min(b, o) is at most w·o + (1 − w)·b.
        """
        # Pinsker's inequality; below order 1 Gilardoni's.
        slack = math.sqrt(self.amount / 2 / (min(self.exponent, 1) or 1))
        bounds = [1.0, float(cut_bound(law, target, cut)) + slack]
        if self.wanted_only:
            bounds.append(1 - float(law.inside(np.flatnonzero(target == 0))))
        wanted = target > 0
        logs = log_ratios(selection[wanted], target[wanted])
        for low, high in self._levels(logs, target, output):
            # Prices of nearly equal levels are rounding; there the cut is enough.
            if high - low > _EPS and (high - low < math.inf or not self.wanted_only):
                heights = np.clip(logs - low, 0, high - low)
                prices = np.ones(law.n)
                prices[wanted] = quotient(self.exponent - 1, heights, high - low)
                dearest = self.dearest(heights, high - low, target[wanted])
                bounds.append(dearest + _cheapest(law, prices))
        return float(min(bounds))

    def _levels(
        self, logs: Array, target: Distribution, output: Distribution
    ) -> Iterator[tuple[float, float]]:
        """Yield logarithms of the least and the greatest ratio o/q of a law that is optimal."""
        # They are the output's; but the ratio of a token that is rare in the target may be far
        # greater than the floats of an output show: so great that all of the budget is spent.
        precise = np.minimum(output, target) >= _NORMAL
        ratios = log_ratios(output[precise], target[precise])
        low, high = ratios.min(initial=0), ratios.max(initial=0)
        wanted = target > 0
        yield low, math.inf if (output[~wanted] > 0).any() else high
        target, above = target[wanted], float(logs.max(initial=0))
        while high < (middle := (high + above) / 2) < above:
            within = self._holds(_clipped(target, logs, low, middle), target)
            high, above = (middle, above) if within else (high, middle)
        yield low, high


def _clipped(target: Distribution, logs: Array, low: float, high: float) -> Array:
    """Return q·clip(b/q, L, U), given logarithms; 0 only at a level of 0."""
    levels = np.clip(logs, low, high)
    clipped: Array = np.exp(levels + np.log(target))
    return np.where(levels > -math.inf, np.maximum(clipped, SMALLEST), clipped)


def _cheapest(law: DraftLaw, prices: Array) -> float:
    """Return the most that (1 − w)·b can be, b the law of a selected draft."""
    # w·b is at least the integral of P(all drafts inside {w ≥ t}) over t.
    order = np.argsort(-prices)
    steps = -np.diff(prices[order], append=0.0)
    return float(1 - (steps * law.inside_prefixes(order)[1:]).sum())


def log_ratios(output: Distribution, target: Distribution) -> Array:
    """Return log(o/q) for positive q, −∞ where o is 0; with all digits where the two are close."""
    change = output - target
    with np.errstate(divide="ignore", over="ignore"):
        logs: Array = np.log(output) - np.log(target)
    near = np.abs(change) < target / 2
    logs[near] = np.log1p(change[near] / target[near])
    return logs


def quotient(rate: float, heights: Any, highest: float) -> Any:
    """Return (e^{r z} − 1)/(e^{r h} − 1), its limit z/h where r is 0, without overflow."""
    if rate == 0:
        return heights / highest
    if rate < 0:
        return np.expm1(rate * heights) / np.expm1(rate * highest)
    with np.errstate(over="ignore"):
        risen = np.exp(rate * (heights - highest))
        return risen * np.expm1(-rate * heights) / np.expm1(-rate * highest)


def log_mean(weights: Distribution, powers: Array) -> float:
    """Return log Σ w e^x for weights of sum 1, with all digits where x is small."""
    if np.abs(powers).max() > 1:
        return log_sum(weights, powers)
    return math.log1p((weights * np.expm1(powers)).sum())


def log_sum(weights: Array, powers: Array) -> float:
    """Return log Σ w e^x for positive weights, without overflow, also where all w are subnormal."""
    logs = np.log(weights) + powers
    peak = float(logs.max())
    return peak + math.log(np.exp(logs - peak).sum())


def refuse_exact(name: str, target: Distribution) -> None:
    """Refuse an exact target: logarithms are not rational."""
    if is_exact(target):
        raise ValueError(
            f"{name} is computed in floats, but the target is exact: pass floats, or "
            "total_variation"
        )
