"""Budgets in a divergence of the output, with bounds by prices of the tokens (Theory, 30)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from otspec.arguments import as_real
from otspec.arithmetic import Array, Number, is_exact
from otspec.cuts.levels import level_selection
from otspec.cuts.minimum import cut_bound
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.optimum.budgets import Budget
from otspec.optimum.outputs import Outputs

_SLIGHT = 1e-15
"""A change by so much less than another does not matter, and its ratio may have few digits."""


@dataclass(frozen=True)
class Divergence(Budget):
    """The output o is within Σ q f(o/q) of the target q, f convex with f(1) = f'(1) = 0.

    In floats. A subclass has f'(x), its limit for large x, and the conjugate f*(t), the largest
    t x − f(x), as :meth:`slopes`, :attr:`steepest` and :meth:`conjugate`.
    """

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check a budget: a number from 0, beside a target in floats.

        Raises
        ------
        ValueError
            As :class:`Budget`, or an exact target.
        """
        refuse_exact(cls.name, target)
        return cls(float(as_real(amount, cls.name, 0)))

    accuracy: ClassVar[float] = 1e-7
    proof: ClassVar[str] = (
        "Prices of the tokens prove it: their bound on all rules within is that number, but for "
        "rounding."
    )

    @property
    @abstractmethod
    def steepest(self) -> float:
        """The limit of f'."""

    @property
    def mean(self) -> float:
        """The most that Σ q f(o/q) may be."""
        return float(self.amount)

    @abstractmethod
    def slopes(self, output: Distribution, target: Distribution) -> Array:
        """Return f'(o/q) for positive q, shape (n,)."""

    @abstractmethod
    def conjugate(self, t: Array, target: Distribution) -> Array:
        """Return q f*(t) for positive q, infinite beyond :attr:`steepest`, shape (n,)."""

    def acceptance(self, law: DraftLaw, target: Distribution, lossless: Number) -> float:
        """Return α and the total variation that the budget allows.

        Raises
        ------
        ValueError
            Two independent drafts over more than 100 tokens, whose selection law is not known.
        """
        selection = level_selection(law, target)
        if selection is None:
            raise ValueError(
                f"{self.name} needs a selection law, which is not known for {law.k} independent "
                f"drafts over {law.n} tokens: use at most 100 tokens, or total_variation"
            )
        return min(1.0, float(lossless) + self.moved(Outputs(selection, target)))

    def moved(self, outputs: Outputs) -> float:
        """Search for the last output within the budget: their distances ascend."""
        farthest = outputs.farthest_wanted if self.steepest == math.inf else outputs.farthest
        low, high = 0.0, float(farthest)
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
        self, law: DraftLaw, target: Distribution, cut: tuple[int, ...], output: Distribution
    ) -> float:
        """Return the least of several bounds, of which each holds whatever the output is.

        By the cut, if the output is to be the target; by the tokens that are never wanted, if none
        of them can be output; and by prices w in [0, 1]: Σ min(b, o) is at most w·o + (1 − w)·b.
        """
        bounds = [1.0]
        if self.amount == 0:
            bounds.append(float(cut_bound(law, target, cut)))
        if self.steepest == math.inf:
            bounds.append(1 - float(law.inside(np.flatnonzero(target == 0))))
        wanted = target > 0
        with np.errstate(divide="ignore", over="ignore"):
            slopes = self.slopes(output[wanted], target[wanted])
        changes = np.abs(output[wanted] - target[wanted])
        precise = slopes[changes >= _SLIGHT * changes.max()]
        low, high = min(precise.min(), 0.0), max(precise.max(), 0.0)
        if (output[~wanted] > 0).any():
            high = self.steepest
        if -math.inf < low < high < math.inf:
            scale = 1 / (high - low)
            prices = np.ones(law.n)
            prices[wanted] = np.clip((slopes - low) * scale, 0, 1)
            # A larger multiplier is as valid, and rounding leads to no tilt beyond the steepest.
            rounded = scale * (1 + 8 * float(np.finfo(float).eps))
            bounds.append(self._by_prices(law, target, prices, rounded, -low * scale))
        return min(bounds)

    def _by_prices(
        self, law: DraftLaw, target: Distribution, prices: Array, scale: float, shift: float
    ) -> float:
        """Return a bound from prices and multipliers of the budget and of Σ o = 1, all any.

        w·o is at most λ B + μ + λ Σ q f*((w − μ)/λ), and w·b at least the integral of P(all
        drafts inside {w ≥ t}) over t.
        """
        tilts = (prices - shift) / scale
        wanted = target > 0
        if not (tilts[~wanted] <= self.steepest).all():
            return 1.0
        priced = self.conjugate(tilts[wanted], target[wanted]).sum()
        dear = scale * (self.mean + priced) + shift
        order = np.argsort(-prices)
        steps = -np.diff(prices[order], append=0.0)
        kept = (steps * law.inside_prefixes(order)[1:]).sum()
        return float(dear + 1 - kept)


def refuse_exact(name: str, target: Distribution) -> None:
    """Refuse an exact target: logarithms are not rational.

    Raises
    ------
    ValueError
        Naming the budget that can be had exactly.
    """
    if is_exact(target):
        raise ValueError(
            f"{name} is computed in floats, but the target is exact: pass floats, or "
            "total_variation"
        )
