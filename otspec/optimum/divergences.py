"""Budgets in Kullback-Leibler and Rényi divergences (Theory, 30)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from otspec._base import Array, as_float_above, as_list, as_real, plain, shown
from otspec.distributions import Distribution
from otspec.optimum.prices import Divergence, log_mean, log_ratios, log_sum, quotient, refuse_exact

_MOST_ORDER = 1e100  # powers of so high an order are those of the largest ratio


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    """The output o is within D(o‖q) = Σ o log(o/q) of the target, in nats."""

    name: ClassVar[str] = "kullback_leibler"
    words: ClassVar[str] = "Kullback-Leibler divergence D(output||target)"
    exponent = 1.0

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return Σ o log(o/q); infinite if a token is output that the target never has."""
        wanted = target > 0
        if (output[~wanted] > 0).any():
            return math.inf
        output, target = output[wanted], target[wanted]
        logs = log_ratios(output, target)
        logs[output == 0] = 0  # x log x
        return float(max(0.0, (output * logs - (output - target)).sum()))

    def dearest(self, heights: Array, highest: float, target: Distribution) -> float:
        """Return (B + log Σ q e^z)/highest, by Donsker and Varadhan."""
        return (float(self.amount) + log_mean(target, heights)) / highest


@dataclass(frozen=True)
class ReverseKullbackLeibler(Divergence):
    """The output o is within D(q‖o) = Σ q log(q/o) of the target, in nats."""

    name: ClassVar[str] = "reverse_kullback_leibler"
    words: ClassVar[str] = "Kullback-Leibler divergence D(target||output)"
    exponent = 0.0

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return Σ q log(q/o); infinite if a token is never output that the target has."""
        wanted = target > 0
        unwanted = output[~wanted].sum()
        output, target = output[wanted], target[wanted]
        if (output == 0).any():
            return math.inf
        terms = (output - target) - target * log_ratios(output, target)
        return float(max(0.0, terms.sum() + unwanted))

    def dearest(self, heights: Array, highest: float, target: Distribution) -> float:
        """Return (e^{−B − Σ q z} − 1)/(e^{−highest} − 1), by Jensen's inequality."""
        mean = float((target * heights).sum())
        return float(quotient(-1, float(self.amount) + mean, highest))


@dataclass(frozen=True)
class Renyi(Divergence):
    """The output o is within D_a(o‖q) = log Σ q (o/q)^a / (a − 1) of the target, in nats.

    The order a is positive and not 1: there it is :class:`KullbackLeibler`.
    """

    name: ClassVar[str] = "renyi"
    words: ClassVar[str] = "Rényi divergence"

    order: float

    @property
    def exponent(self) -> float:
        """The order."""
        return self.order

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check the order and a number from 0, beside a target in floats; else a ValueError."""
        refuse_exact(cls.name, target)
        wanted = "two numbers, the order and the budget, such as (2, 0.1)"
        parts = as_list(amount, cls.name, wanted, 2)
        if len(parts) != 2:
            raise ValueError(f"{cls.name} is {shown(amount)}: it must be {wanted}")
        order = as_float_above(parts[0], f"{cls.name}[0]", 0, _MOST_ORDER)
        if order == 1:
            raise ValueError(
                f"{cls.name}[0] is 1, where the divergence is Kullback-Leibler's: pass "
                f"{KullbackLeibler.name}={plain(as_real(parts[1], f'{cls.name}[1]', 0))}"
            )
        return cls(float(as_real(parts[1], f"{cls.name}[1]", 0)), order)

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return log Σ q (o/q)^a / (a − 1)."""
        wanted = target > 0
        unwanted = output[~wanted].sum()
        if self.order > 1 and unwanted > 0:
            return math.inf
        possible = output > 0
        lost = target[wanted & ~possible].sum()
        output, target = (law[wanted & possible] for law in (output, target))
        if not output.size:
            return math.inf
        order, rate, logs = self.order, self.order - 1, log_ratios(output, target)
        # Σ q (o/q)^a − 1, less a Σ (o − q), which is 0: that is a (a − 1) Σ q f(o/q). The first
        # form has all digits near order 0, the second near order 1.
        with np.errstate(over="ignore"):
            if order < 0.5:
                terms = target * np.expm1(order * logs) - order * (output - target)
            else:
                terms = output * np.expm1(rate * logs) - rate * (output - target)
        more = terms.sum() + rate * lost - order * unwanted
        total = math.log1p(more) if abs(more) < 0.5 else log_sum(target, order * logs)
        return max(0.0, float(total / rate))

    def dearest(self, heights: Array, highest: float, target: Distribution) -> float:
        """Return (e^{(a − 1) m} − 1)/(e^{(a − 1) h} − 1), a m = B + log Σ q e^{a z} (Hölder)."""
        reached = (float(self.amount) + log_mean(target, self.order * heights)) / self.order
        return float(quotient(self.order - 1, reached, highest))
