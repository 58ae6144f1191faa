"""One number, whatever it is written as: a float, or the fraction that it is exactly."""

import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from otspec._base.coerce import MOST_DIGITS, shown

_LARGEST_EXPONENT = 4000  # read exactly, 1e999999999 would fill the memory


def as_float(value: Any, place: str) -> float:
    """Return a number, or what is written of one, as a float."""
    try:
        if not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{place} is {shown(value, 40)}: write numbers such as 0.3 or 3/10")


def as_fraction(value: Any, place: str) -> Fraction:
    """Return an exact number, or what is written of one, as a fraction; errors as above."""
    if type(value) is Fraction:  # a subclass may compute as it likes
        return value
    too_long = False
    if isinstance(value, str):
        _refuse_many_digits(value, place)
    try:
        if isinstance(value, numbers.Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, (str, Decimal)):
            too_long = abs(_exponent(value)) > _LARGEST_EXPONENT
            if not too_long:
                return Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        pass
    if too_long:
        raise ValueError(
            f"{place} is {shown(value)}: exact numbers have exponents of at most "
            f"{_LARGEST_EXPONENT}, since all their digits are kept"
        )
    raise ValueError(not_a_number(place, value))


def _refuse_many_digits(text: str, place: str) -> None:
    digits = max(map(len, re.split(r"[^\d_]+", text)))
    if digits > MOST_DIGITS:
        raise ValueError(
            f"{place} is {shown(text)}, {digits:,} digits: exact numbers are read with up to "
            f"{MOST_DIGITS:,}; write it as a decimal of a few, or pass a Fraction in Python"
        )


def _exponent(value: str | Decimal) -> int:
    """Return the power of ten that a number is written with."""
    if isinstance(value, Decimal):
        return value.adjusted()
    _, letter, exponent = value.lower().partition("e")
    return int(exponent) if letter else 0


def not_a_number(place: str, value: Any) -> str:
    """Say that something is no number."""
    return (
        f"{place} is {shown(value)}, which is not a finite number: write a float, an integer or a "
        "fraction such as '3/10'"
    )
