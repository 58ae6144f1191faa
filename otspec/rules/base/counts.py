"""Sums of powers, and how many i.i.d. drafts are the accepted token (Theory, 15)."""

from fractions import Fraction
from typing import Any

import numpy as np

from otspec._base import Array, is_exact, power, quotient, refuse_long_power
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import NotExactError

HALVINGS = 200
"""Halvings of an exact root's bracket; a rational root of up to 100 bits is then recognized."""
_BITS = 320  # binary digits of the bounds by which most comparisons are decided


def at_least_once(probability: Any, k: int) -> Any:
    """Return 1 − (1 − probability)^k, of a number or an array."""
    # Floats: as probability · Σ_{i<k} (1 − probability)^i, all terms of which are positive, so that
    # a tiny probability keeps its digits.
    if is_exact(np.asarray(probability)):
        return 1 - power(1 - probability, k)
    return probability * geometric(1 - probability, k)


def geometric(ratio: Any, k: int) -> Any:
    """Return 1 + ratio + … + ratio^(k−1), of a number or an array, for ratios from 0 to 1."""
    # In about log₂ k steps. Floats keep their digits: all that is added up is positive.
    if is_exact(np.asarray(ratio)):
        refuse_long_power(ratio, k)
        return np.frompyfunc(lambda each: _exact_geometric(each, k), 1, 1)(ratio)
    total, highest = ratio * 0 + 1, ratio
    for bit in bin(k)[3:]:  # the binary digits of k after the first
        total, highest = total * (1 + highest), highest * highest
        if bit == "1":
            total, highest = total * ratio + 1, highest * ratio
    return total


def _exact_geometric(ratio: Fraction, k: int) -> Fraction:
    # Of whole numbers: fractions would look for a common divisor at every step.
    part, whole = ratio.numerator, ratio.denominator
    if part == whole:
        return Fraction(k)
    return Fraction((whole**k - part**k) // (whole - part), whole ** (k - 1))


def covers(rho: Fraction, chance: Fraction, k: int) -> bool:
    """Return whether ρ·chance ≥ 1 − (1 − chance)^k, exactly."""
    # Bounds on the power decide nearly always; the power itself would have k times as many digits
    # as the chance.
    accepted = rho * chance
    if accepted >= 1:
        return True
    missed = 1 - chance
    least, most = _power_bounds(missed, k)
    if accepted >= 1 - least:
        return True
    if accepted < 1 - most:
        return False
    return accepted >= 1 - missed**k


def _power_bounds(base: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """Return bounds on base^k, for a base from 0 to 1, by squaring and rounding down and up."""
    one = 1 << _BITS
    low = (base.numerator << _BITS) // base.denominator
    high = -((-base.numerator << _BITS) // base.denominator)
    least, most = one, one
    for bit in bin(k)[2:]:
        least, most = (least * least) >> _BITS, -((-most * most) >> _BITS)
        if bit == "1":
            least, most = (least * low) >> _BITS, -((-most * high) >> _BITS)
    return Fraction(least, one), Fraction(most, one)


def crossing(above: Fraction, below: Fraction, low: Fraction, high: Fraction, k: int) -> int:
    """Return after how many of 2^200 steps from low to high ρ·β reaches 1 − (1 − β)^k."""
    # β = above + below/ρ. Halvings in whole numbers of 320 binary digits, which are rounded.
    one = 1 << _BITS
    start, end, share, rest = (
        (number.numerator << _BITS) // number.denominator for number in (low, high, above, below)
    )
    first, last = 0, 1 << HALVINGS
    while last - first > 1:
        middle = (first + last) // 2
        rho = start + ((end - start) * middle >> HALVINGS)
        missed = one - share - (rest << _BITS) // rho
        rejected = one
        for bit in bin(k)[2:]:
            rejected = (rejected * rejected) >> _BITS
            if bit == "1":
                rejected = (rejected * missed) >> _BITS
        holds = (share * rho >> _BITS) + rest >= one - rejected
        first, last = (first, middle) if holds else (middle, last)
    return last


MOST_STEPS, MOST_EXACT_STEPS = 10**9, 10**7  # most terms, n·k², in floats and in exact arithmetic


def refuse_many_counts(rule: PairRule) -> None:
    """Refuse so many drafts that counting them takes too long."""
    most = MOST_EXACT_STEPS if is_exact(rule.draft) else MOST_STEPS
    if len(rule.draft) * rule.k**2 > most:
        raise NotExactError(f"k is {rule.k}: counting how often each token is drafted takes long")


def no_counts(rule: PairRule) -> Array:
    """Return chances of 0 by the number of drafts that are y, from none to all: (k + 1, n)."""
    # In exact arithmetic they are whole numbers, over a denominator that the caller knows.
    refuse_many_counts(rule)
    return np.zeros((rule.k + 1, len(rule.draft)), dtype=rule.draft.dtype)


def with_one_more(counts: Array, drawn: Array, others: Array) -> Array:
    """Return the chances after one more draft, which is y or another with these chances."""
    more: Array = counts * others
    more[1:] += counts[:-1] * drawn
    return more


def drafted_counts(rule: PairRule, draft: Array, unit: Any) -> Array:
    """Return how likely c of the drafts are y, times unit^k, for a draft times unit."""
    counts = no_counts(rule)
    counts[0] += unit // unit
    for _ in range(rule.k):
        counts = with_one_more(counts, draft, unit - draft)
    return counts


def over(counts: Array, unit: Any) -> Array:
    """Return whole numbers divided by another one as fractions, floats divided."""
    divided: Array = np.frompyfunc(lambda count: quotient(count, unit), 1, 1)(counts)
    return divided if counts.dtype == object else divided.astype(float)
