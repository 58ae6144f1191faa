"""Faults in random numbers: one used for two things, or of the wrong law."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from otspec.conformance.faults.base import known, part
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, MarkedText, Row
from otspec.conformance.following.uniform import Uniform
from otspec.rules import GumbelCoupling

FRESH = "draw a new uniform number for every test and for every draw"
selected, passes = part("selected"), part("passes")


def inverted(uniform: Uniform, weights: Row, otherwise: int) -> int:
    """Return the symbol at which the sum of weights passes a uniform number."""
    total, reached, last = sum(weights), 0.0, otherwise
    for symbol, weight in enumerate(weights):
        if weight <= 0:
            continue
        reached, last = reached + weight, symbol
        if uniform.below(reached / total):
            return symbol
    return last


@lru_cache(maxsize=4096)
def raced_again(rates: tuple[float, ...], first: int, weights: tuple[float, ...]) -> list[float]:
    """Return the law of argmin E/weights given that of E/rates, with the same noise E."""
    raced = GumbelCoupling(np.array(rates), np.array(weights), 1, normalize=True)
    return [float(mass) for mass in raced.kernel([first])]


class WithRaces(Machine):
    """A verifier whose draws are races of exponential numbers, as engines have them."""

    def raced(self, node: int, weights: Row) -> int:
        """Draw from weights with the numbers that a node was drawn with."""
        if sum(weights) <= 0 or self.kind.law not in ("iid", "without-replacement"):
            return self.pick(weights)
        return self.pick(
            raced_again(tuple(self.offered_to(node)), self.token(node), tuple(weights))
        )


@part("correction", WithRaces)(
    "draft and correction raced with the same noise", FRESH, pipeline=True
)
def correction_raced(self: WithRaces, node: int, weights: Row) -> int:
    """Both are drawn as argmin E/p with the exponential numbers E of the rejected draft."""
    below = self.children(node)
    return self.raced(below[0], weights) if below else self.draw(weights)


@part("drafted", WithRaces)(
    "drafts of neighboring positions raced with the same noise",
    FRESH,
    ("block", "tree"),
    pipeline=True,
)
def neighbors_raced(self: WithRaces, node: int, weights: Row) -> int:
    """Every second draft of a path is drawn with the exponential numbers of the one before it."""
    odd = len(self.path(node)) % 2
    return self.pick(weights) if odd else self.raced(self.kind.parents[node], weights)


class WithNumbers(Machine):
    """A verifier whose uniform numbers have names."""

    @cached_property
    def _numbers(self) -> defaultdict[int, Uniform]:
        return defaultdict(lambda: Uniform(self.chance))

    def number(self, name: int) -> Uniform:
        """Return the number of a name, always the same."""
        return self._numbers[name]

    def passes(self, chance: float, child: int) -> bool:
        return self.number(child).below(chance)


passes_by_number, draw_by_number = part("passes", WithNumbers), part("draw", WithNumbers)


@known("one random number for all tests", FRESH)
class OneNumber(WithNumbers):
    """Every test compares with the same uniform number."""

    def passes(self, chance: float, child: int) -> bool:
        return self.number(TEXT).below(chance)


@passes_by_number("one random number for all siblings", FRESH, ("tree",))
def one_of_siblings(self: WithNumbers, chance: float, child: int) -> bool:
    """The tests of all children of a node compare with the same uniform number."""
    return self.number(self.siblings(child)[0]).below(chance)


@passes_by_number("random numbers off by one", FRESH)
def numbers_shifted(self: WithNumbers, chance: float, child: int) -> bool:
    """The second test uses the first one's number again, the third the second's."""
    return self.number(max(child - 1, 0)).below(chance)


@known("random number shared by test and draw", FRESH)
class SharedWithDraw(WithNumbers):
    """The token is drawn with the number of the last test."""

    _last = 0

    def passes(self, chance: float, child: int) -> bool:
        self._last = child
        return super().passes(chance, child)

    def draw(self, weights: Row) -> int:
        return inverted(self.number(self._last), weights, self.n)


@draw_by_number("random number shared by first test and draw", FRESH)
def shared_with_first(self: WithNumbers, weights: Row) -> int:
    """The token is drawn with the number of the first draft's test."""
    return inverted(self.number(0), weights, self.n)


@known("one random number for all tests and the draw", FRESH)
class OneForAll(OneNumber):
    """Every test and the draw use the same uniform number."""

    def draw(self, weights: Row) -> int:
        return inverted(self.number(TEXT), weights, self.n)


@known("random number shared by draft and test", FRESH, pipeline=True)
class SharedWithDraft(WithNumbers):
    """Each draft is drawn and tested with one number: the seed is set anew before verification."""

    def drafted(self, node: int, weights: Row) -> int:
        return inverted(self.number(node), weights, self.n)


@known("random number shared by draft and correction", FRESH, pipeline=True)
class CorrectionOfDraft(SharedWithDraft):
    """The correction is drawn with the number that the rejected draft was drawn with."""

    passes = Machine.passes

    def correction(self, node: int, weights: Row) -> int:
        below = self.children(node)
        return inverted(self.number(below[0]), weights, self.n) if below else self.draw(weights)


@known("one random number for all drafts", FRESH, pipeline=True)
class OneForDrafts(WithNumbers):
    """All drafts are drawn with one number, so that they are not independent."""

    passes = Machine.passes

    def drafted(self, node: int, weights: Row) -> int:
        return inverted(self.number(TEXT), weights, self.n)


@known(
    "independent coins of several beams",
    "after a rejection test the next beam with the residual, as recursive rejection does; or draw "
    "one number for each depth, and test with the optimum of all beams",
    ("tree",),
)
class BeamsApart(Machine):
    """Each path is verified by itself with own numbers; the longest that is kept wins."""

    def says(self, run: Callable[[Any], MarkedText]) -> MarkedText:
        ends = [self._end(self.path(leaf)) for leaf in self._leaves(TEXT)]
        node = max(ends, key=lambda end: len(self.path(end)), default=TEXT)
        return self.marked((node, self.residual(node, self.target(node), self.draft(node))))

    def _leaves(self, node: int) -> list[int]:
        below = [leaf for child in self.children(node) for leaf in self._leaves(child)]
        return below or [node]

    def _end(self, path: Sequence[int]) -> int:
        """Return the last node of a path that is kept."""
        last = TEXT
        for node in path:
            x = self.token(node)
            if not self.passes(
                min(1.0, self.odds(self.target(last)[x], self.draft(last)[x])), node
            ):
                break
            last = node
        return last


@selected(
    "independent numbers select among several drafts",
    "select with one number among all drafts; or divide by what earlier drafts have left",
    ("tokens", "tree"),
)
def selected_apart(self: Machine, mass: float, left: float) -> float:
    """Each draft is selected with its whole probability, as if none before it had been rejected."""
    return mass


@passes("product of random numbers", "compare with one uniform number at each test")
def product_of_numbers(self: Machine, chance: float, child: int) -> bool:
    """A ratio is compared with the product of two uniform numbers."""
    return Machine.passes(self, chance * (1 - math.log(chance)) if chance > 0 else 0.0, child)


@passes("larger of two random numbers", "compare with one uniform number at each test")
def larger_number(self: Machine, chance: float, child: int) -> bool:
    """A ratio is compared twice, with two uniform numbers, and has to be above both."""
    return Machine.passes(self, chance**2, child)


@passes("random numbers of few bits", "draw uniform numbers in float32 or float64")
def few_bits(self: Machine, chance: float, child: int) -> bool:
    """Uniform numbers have 6 bits, and 0 is one of them."""
    return Machine.passes(self, (math.floor(chance * 64) + 1) / 64, child)


@passes("random numbers that are not uniform", "draw from [0, 1), not from a normal distribution")
def not_uniform(self: Machine, chance: float, child: int) -> bool:
    """The number is below 1/2 with probability 3/4: it is the square of a uniform one."""
    return Machine.passes(self, math.sqrt(chance), child)


@passes("always accepted", "compare the ratio with a uniform number")
def always_accepted(self: Machine, chance: float, child: int) -> bool:
    """No draft is rejected whose ratio is above 0."""
    return Machine.passes(self, float(chance > 0), child)
