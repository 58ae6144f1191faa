"""Exact numbers as decimal digits, however many they have.

Python refuses to write or read integers of more than 4,300 digits, for the whole process. Here they
are written in nearly linear time, without that switch; reading them stays refused.
"""

import decimal
import math
import sys
from fractions import Fraction
from typing import Any

MOST_DIGITS = 4300  # digits of the longest exact number that is read from text
_DIRECT_BITS = 12_000  # below, str() is allowed at any setting of Python's limit, and fast
_SHOWN = 40
_ENDS = 3


def digits_of(number: int) -> str:
    """Return all decimal digits of an integer: ``str(number)`` without Python's limit."""
    limit = sys.get_int_max_str_digits() or _DIRECT_BITS
    if abs(number).bit_length() <= min(_DIRECT_BITS, 3 * limit):
        return str(number)
    sign = "-" if number < 0 else ""
    # The context is this thread's own. Nothing is rounded: that would raise.
    with decimal.localcontext() as context:
        context.prec, context.Emax = decimal.MAX_PREC, decimal.MAX_EMAX
        context.Emin = decimal.MIN_EMIN
        context.traps[decimal.Inexact] = True
        return sign + str(_as_decimal(abs(number), {}))


def _as_decimal(number: int, powers: dict[int, decimal.Decimal]) -> decimal.Decimal:
    """Return an integer as a decimal, half by half: libmpdec multiplies fast."""
    bits = number.bit_length()
    if bits <= 1024:
        return decimal.Decimal(number)
    half = 1 << (bits.bit_length() - 2)  # powers of two, which come again
    if half not in powers:
        powers[half] = decimal.Decimal(2) ** half
    high = number >> half
    low = number - (high << half)
    return _as_decimal(high, powers) * powers[half] + _as_decimal(low, powers)


def written(value: Fraction | int) -> str:
    """Return an exact number whole, such as ``"17/20"``, with all its digits."""
    if value.denominator == 1:
        return digits_of(int(value))
    return f"{digits_of(value.numerator)}/{digits_of(value.denominator)}"


def shortened(value: Fraction | int) -> str:
    """Return an exact number for people: whole, or beyond 40 characters its ends and length.

    Examples
    --------
    >>> shortened(Fraction(1, 3**10_000))
    '1/163…001 (4,772 digits)'
    """
    whole = written(value)
    if len(whole) <= _SHOWN:
        return whole
    most = max(len(part.lstrip("-")) for part in whole.split("/"))
    return f"{'/'.join(map(_ends, whole.split('/')))} ({most:,} digits)"


def _ends(digits: str) -> str:
    sign = "-" if digits.startswith("-") else ""
    rest = digits.removeprefix("-")
    return digits if len(rest) <= 2 * _ENDS + 1 else f"{sign}{rest[:_ENDS]}…{rest[-_ENDS:]}"


def plain(value: Any) -> str:
    """Return any value as ``str`` would, an exact number by :func:`shortened`."""
    return shortened(value) if isinstance(value, (Fraction, int)) else str(value)


def counted(number: int) -> str:
    """Return a count with thousands separated; by its power of ten if nobody would read that."""
    if number.bit_length() <= 100:
        return f"{number:,}"
    return f"more than 10^{int((number.bit_length() - 1) * math.log10(2))}"
