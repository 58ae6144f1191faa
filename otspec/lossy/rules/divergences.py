"""Entropies and divergences in nats: floats, of exact distributions too."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from otspec.arithmetic import Array, Number, as_number, positive_part
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

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        In one arithmetic.
    """
    held = first > 0
    if bool((second[held] == 0).any()):
        return math.inf
    terms = [
        float(mass) * _log_ratio(mass, other)
        for mass, other in zip(first[held].tolist(), second[held].tolist(), strict=True)
        if mass != other
    ]
    return max(0.0, math.fsum(terms))


def jensen_shannon(first: Distribution, second: Distribution) -> float:
    """Return the mean divergence of the two from their mean: from 0 to ln 2."""
    middle: Array = (first + second) / 2
    return (kullback_leibler(first, middle) + kullback_leibler(second, middle)) / 2


def _log_ratio(first: Number, second: Number) -> float:
    """Return ln(first/second) with all digits also where the two are close, of any positive two."""
    if second / 2 < first < second * 2:
        return math.log1p(float((first - second) / second))
    return _log(first) - _log(second)


def _log(value: Number) -> float:
    if isinstance(value, Fraction):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value)
