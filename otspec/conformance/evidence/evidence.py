"""A sequential exact test of counts against a law, and its size (Conformance, 1 and 2).

The evidence against a law after N samples is the likelihood of the counts under laws near it, on
average over a Dirichlet prior, divided by the likelihood under the law. Under the law its
expectation is 1 at every time, so that it ever reaches 1/α with probability α at most (Ville).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.special import chndtr, gammaln

from otspec._base import Array, Frozen, IntArray

MISS = 1e-3  # probability of missing a law at the distance to detect
EARLY = (0.5, 0.75)  # shares of all samples at which a clearly near law passes, missing MISS/8 each
COARSER = 100  # a second prior has so many times the variance
RATIOS = (3, 10, 30)  # samples per pseudo-count of the prior, of which the best is taken
LARGEST = 10**9  # most samples that a test may need


@dataclass(frozen=True)
class Requirement:
    """What a test of one law takes."""

    cells: int  # of the law
    detect: float  # the total variation to be found with probability 1 − MISS
    false_alarm: float  # the probability with which a right law is ever called wrong
    rounding: float  # errors of a probability, relative and absolute, that count as rounding
    size: int  # samples
    concentration: float  # pseudo-counts of the prior
    peak: float = 0.0  # the largest probability of the law, or less

    @property
    def threshold(self) -> float:
        """Of the logarithm of the evidence."""
        return -math.log(self.false_alarm)


def missed(
    cells: int, false_alarm: float, rounding: float, peak: float, detect: Any, size: Any
) -> Array:
    """Return how often a test misses a law at a total variation, for each of :data:`RATIOS`."""
    ratio, freedom = np.array(RATIOS), max(cells - 1, 1)
    needed = -math.log(false_alarm) + math.log(2) + size * math.log1p(2 * rounding)
    statistic = (needed + freedom / 2 * np.log1p(ratio)) * 2 * (1 + ratio) / ratio
    return chndtr(statistic, freedom, size * raised(detect, peak))


def least(misses: Callable[[Array], Array], most: float, near: Callable[[Array], Any]) -> Array:
    """Return from which value on few laws are missed, for each of :data:`RATIOS`, by bisection."""
    high = np.full(len(RATIOS), most)
    low = np.zeros_like(high)
    while (far := high - low > near(low)).any():
        middle = ((low + high) / 2).astype(low.dtype)
        enough = misses(middle) <= MISS / 4
        high, low = np.where(far & enough, middle, high), np.where(far & ~enough, middle, low)
    return high


def raised(detect: float | Array, peak: float) -> Any:
    """Return what a sample adds at least to the noncentrality of Pearson's statistic."""
    largest = peak * (1 - peak) if peak > 0.5 else 0.25
    return detect**2 / np.minimum(np.maximum(largest, 16 * np.asarray(detect)), 0.25)


@lru_cache(maxsize=1024)
def requirement(
    cells: int, detect: float, false_alarm: float, rounding: float, peak: float = 0.0
) -> Requirement:
    """Return the fewest samples that find a total variation (Conformance, 2)."""
    # A law at total variation δ raises the noncentrality of Pearson's statistic by at least 4 δ² N,
    # by the inequality of Cauchy and Schwarz; the evidence is close to a line in it.
    missing = partial(missed, cells, false_alarm, rounding, peak, detect)
    sizes = least(missing, LARGEST, lambda low: np.maximum(1, low // 1000))
    size, ratio = min(zip(sizes.tolist(), RATIOS, strict=True))
    return Requirement(cells, detect, false_alarm, rounding, size, max(size / ratio, 1.0), peak)


@lru_cache(maxsize=1024)
def affordable(
    cells: int, size: int, false_alarm: float, rounding: float, peak: float = 0.0
) -> Requirement:
    """Return what a number of samples finds; a total variation of 1 if that is nothing."""
    missing = partial(missed, cells, false_alarm, rounding, peak, size=size)
    distances = least(missing, 1.0, lambda _: 2.0**-30)
    found, ratio = min(zip(distances.tolist(), RATIOS, strict=True))
    return Requirement(cells, found, false_alarm, rounding, size, max(size / ratio, 1.0), peak)


def requirement_of(
    law: Array, detect: float, false_alarm: float, rounding: float, most: int
) -> Requirement:
    """Return what a test of a law takes, or what it finds with the most samples it may have."""
    # Cells of probability 0 count as one: whatever is seen there shows at once.
    positive = int(np.count_nonzero(law))
    cells = positive + int(positive < len(law))
    peak = float(np.max(law))
    needs = requirement(cells, detect, false_alarm, rounding, peak)
    return needs if needs.size <= most else affordable(cells, most, false_alarm, rounding, peak)


class Evidence(Frozen):
    """The evidence of counts against a law.

    The hypothesis is that no cell is likelier than (1 + 2 ρ) e, where e is the law mixed with the
    uniform one of weight ρ, the rounding: rounding may explain a few counts of probability 0.
    """

    def __init__(self, expected: Array, needs: Requirement) -> None:
        total = expected / expected.sum()
        mixed = (1 - needs.rounding) * total + needs.rounding / len(total)
        self._hold(expected=mixed)
        self.needs = needs
        # Cells that only rounding reaches add next to nothing to Pearson's statistic.
        self.freedom = max(int(np.count_nonzero(total > needs.rounding)) - 1, 1)

    expected: Array  # (cells,): the law

    def logarithm(self, counts: IntArray) -> float:
        """Return the logarithm of the evidence."""
        return float(self.logarithms(counts))

    def logarithms(self, counts: IntArray) -> Array:
        """Return the logarithm of the evidence of each of several counts."""
        size = counts.sum(axis=-1)
        positive = self.expected > 0
        law, seen = self.expected[positive], counts[..., positive]
        parts = []
        for concentration in (self.needs.concentration, self.needs.concentration / COARSER):
            prior = concentration * law
            parts.append(
                gammaln(concentration)
                - gammaln(concentration + size)
                + (gammaln(prior + seen) - gammaln(prior)).sum(axis=-1)
            )
        average = np.logaddexp(parts[0], parts[1]) - math.log(2)
        found = average - seen @ np.log(law) - size * math.log1p(2 * self.needs.rounding)
        # Without rounding a cell may be impossible.
        return np.where((counts[..., ~positive] > 0).any(axis=-1), math.inf, found)

    def wrong(self, counts: IntArray) -> bool:
        """Return whether the counts of any sample, (..., cells), say that the law is another."""
        return bool((self.logarithms(counts) >= self.needs.threshold).any())

    def near(self, counts: IntArray) -> IntArray:
        """Return whether counts, (..., cells), say that the law is nearer than what to detect."""
        size = int(counts.reshape(-1, counts.shape[-1])[0].sum())
        wanted = size * self.expected
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.nansum((counts - wanted) ** 2 / wanted, axis=-1)
        noncentrality = size * raised(self.needs.detect, self.needs.peak)
        return chndtr(statistic, self.freedom, noncentrality) <= MISS / 8

    def looks(self) -> list[int]:
        """Return after how many samples to look, rising; the last are all."""
        size, sizes = self.needs.size, (512 << doubled for doubled in range(21))
        early = [math.ceil(share * size) for share in EARLY]
        return sorted({*(s for s in sizes if s < size), *early, size})

    def passes(self, counts: IntArray) -> bool:
        """Return whether the test of counts, (..., cells), may end."""
        size = int(counts.reshape(-1, counts.shape[-1])[0].sum())
        return size >= self.needs.size or (self.may_pass(size) and bool(self.near(counts).all()))

    def may_pass(self, size: int) -> bool:
        """Return whether the test may end before the last look: after those of :data:`EARLY`."""
        return size in {math.ceil(share * self.needs.size) for share in EARLY}
