"""Arithmetic with exact numbers, floats and infinity: quotients by 0 and overflow are infinite."""

import math
from fractions import Fraction
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from otspec._base.arithmetic import Number


def is_number(value: Any) -> TypeGuard[Number]:
    """Whether something is a real number of a kind that Python or NumPy has."""
    return isinstance(value, (Real, np.number, np.bool_))


def plain_number(value: Any) -> Number:
    """Return a number as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def over(one: Number, two: Number) -> Number:
    """Return a quotient: exact if both are, infinite if the divisor is 0."""
    if two == 0:
        return math.inf if one >= 0 else -math.inf
    if isinstance(one, float) or isinstance(two, float):
        return float(one) / float(two)
    return Fraction(one) / Fraction(two)


def powered(number: Number, power: Number) -> Number:
    """Return a power of a positive number: exact for the powers 1 and -1."""
    if power == 1:
        return number
    return over(1, number) if power == -1 else float(number) ** float(power)


def size_of(number: Number) -> Number:
    """Return the absolute value."""
    return number if number >= 0 else -number


def exponential(y: Number) -> float:
    """Return e to a power."""
    return math.exp(y) if y < 700 else math.inf
