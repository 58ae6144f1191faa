"""Entropies and divergences in nats: floats, of exact distributions too."""

import math
from fractions import Fraction

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part
from otspec.distributions import Distribution


def total_variation(first: Distribution, second: Distribution) -> Number:
    """Return Σ (first − second)₊, in the arithmetic of the two."""
    return as_number(positive_part(first - second).sum(), like=first)


def entropy(law: Distribution) -> float:
    """Return −Σ law ln law."""
    masses = law.astype(float)
    masses = masses[masses > 0]
    return max(0.0, -math.fsum(masses * np.log(masses)))


def kullback_leibler(first: Distribution, second: Distribution) -> float:
    """Return Σ first ln(first/second): infinite if ``first`` has a token that ``second`` lacks.

    ``first``, ``second``, shape (n,): in one arithmetic.
    """
    held = first > 0
    first, second = first[held], second[held]
    if bool((second == 0).any()):
        return math.inf
    if is_exact(first):
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return max(0.0, math.fsum(float(p) * _log_ratio(p, q) for p, q in pairs if p != q))
    # Where the two are close the difference has digits that the quotient has lost.
    near = np.abs(first - second) < second / 2
    logarithms = np.log(first) - np.log(second)
    logarithms[near] = np.log1p((first[near] - second[near]) / second[near])
    return max(0.0, float((first * logarithms).sum()))


def jensen_shannon(first: Distribution, second: Distribution) -> float:
    """Return the mean divergence of the two from their mean: from 0 to ln 2."""
    middle: Array = (first + second) / 2
    return (kullback_leibler(first, middle) + kullback_leibler(second, middle)) / 2


def _log_ratio(first: Fraction, second: Fraction) -> float:
    """Return ln(first/second) of positive numbers, with all digits also where they are close."""
    if second / 2 < first < second * 2:
        return math.log1p(float((first - second) / second))
    return _log(first) - _log(second)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
