"""Budgets in Kullback-Leibler and Rényi divergences (Theory, 30)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from otspec.arguments import as_float_above, as_list, as_real
from otspec.arithmetic import Array
from otspec.digits import plain
from otspec.distributions import Distribution
from otspec.optimum.prices import Divergence, refuse_exact
from otspec.raw import shown

_MOST_ORDER = 1e100
"""Powers of so high an order are those of the largest ratio."""


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    """The output o is within D(o‖q) = Σ o log(o/q) of the target, in nats.

    Parameters
    ----------
    amount : float
    """

    name: ClassVar[str] = "kullback_leibler"
    words: ClassVar[str] = "Kullback-Leibler divergence D(output||target)"
    steepest = math.inf

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return Σ o log(o/q); infinite if a token is output that the target never has."""
        if (output[target == 0] > 0).any():
            return math.inf
        seen = output > 0
        logs = np.log(output[seen]) - np.log(target[seen])
        terms = output[seen] * logs - output[seen] + target[seen]
        return float(max(0.0, terms.sum() + target[~seen].sum()))

    def slopes(self, output: Distribution, target: Distribution) -> Array:
        """Return log(o/q)."""
        slopes: Array = np.log(output) - np.log(target)
        return slopes

    def conjugate(self, t: Array, target: Distribution) -> Array:
        """Return q (e^t − 1)."""
        with np.errstate(over="ignore"):
            conjugate: Array = np.exp(t + np.log(target)) - target
        return conjugate


@dataclass(frozen=True)
class ReverseKullbackLeibler(Divergence):
    """The output o is within D(q‖o) = Σ q log(q/o) of the target, in nats.

    Parameters
    ----------
    amount : float
    """

    name: ClassVar[str] = "reverse_kullback_leibler"
    words: ClassVar[str] = "Kullback-Leibler divergence D(target||output)"
    steepest = 1.0

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return Σ q log(q/o); infinite if a token is never output that the target has."""
        wanted = target > 0
        if (output[wanted] == 0).any():
            return math.inf
        logs = np.log(target[wanted]) - np.log(output[wanted])
        terms = target[wanted] * logs + output[wanted] - target[wanted]
        return float(max(0.0, terms.sum() + output[~wanted].sum()))

    def slopes(self, output: Distribution, target: Distribution) -> Array:
        """Return 1 − q/o."""
        slopes: Array = 1 - target / output
        return slopes

    def conjugate(self, t: Array, target: Distribution) -> Array:
        """Return −q log(1 − t)."""
        with np.errstate(divide="ignore"):
            conjugate: Array = -target * np.log1p(-np.minimum(t, 1))
        return conjugate


@dataclass(frozen=True)
class Renyi(Divergence):
    """The output o is within D_a(o‖q) = log Σ q (o/q)^a / (a − 1) of the target, in nats.

    Parameters
    ----------
    amount : float
    order : float
        a, positive and not 1: there it is :class:`KullbackLeibler`.
    """

    name: ClassVar[str] = "renyi"
    words: ClassVar[str] = "Rényi divergence"

    order: float

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check a budget: the order and a number from 0, beside a target in floats.

        Raises
        ------
        ValueError
            Not the two, or an exact target.
        """
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

    @property
    def steepest(self) -> float:
        """1/(1 − a) below 1."""
        return math.inf if self.order > 1 else 1 / (1 - self.order)

    @property
    def mean(self) -> float:
        """(e^{(a − 1) B} − 1)/(a (a − 1)) of f(x) = (x^a − 1 − a (x − 1))/(a (a − 1))."""
        with np.errstate(over="ignore"):
            grown = float(np.expm1((self.order - 1) * float(self.amount)))
        return grown / (self.order * (self.order - 1))

    def distance(self, output: Distribution, target: Distribution) -> float:
        """Return log Σ q (o/q)^a / (a − 1)."""
        wanted = target > 0
        if self.order > 1 and (output[~wanted] > 0).any():
            return math.inf
        with np.errstate(divide="ignore"):
            powers = self.order * (np.log(output[wanted]) - np.log(target[wanted]))
        peak = powers.max()
        if peak == -math.inf:
            return math.inf
        total = peak + math.log((target[wanted] * np.exp(powers - peak)).sum())
        return max(0.0, float(total / (self.order - 1)))

    def slopes(self, output: Distribution, target: Distribution) -> Array:
        """Return ((o/q)^{a − 1} − 1)/(a − 1)."""
        logs = np.log(output) - np.log(target)
        slopes: Array = np.expm1((self.order - 1) * logs) / (self.order - 1)
        return slopes

    def conjugate(self, t: Array, target: Distribution) -> Array:
        """Return q ((1 + (a − 1) t)₊^{a/(a − 1)} − 1)/a."""
        base = np.maximum(1 + (self.order - 1) * t, 0)
        with np.errstate(divide="ignore", over="ignore"):
            logs = np.log(target) + self.order / (self.order - 1) * np.log(base)
            conjugate: Array = (np.exp(logs) - target) / self.order
        return conjugate
