"""What a caller passes as an array, a number or in one line; exact numbers as decimal digits.

Python refuses to write or read integers of more than 4,300 digits, for the whole process. Here they
are written in nearly linear time, without that switch; reading them stays refused.
"""

import decimal
import math
import numbers
import re
import sys
from array import ArrayType
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec._base.extras import memory

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


_DEEPEST = 32  # levels of nested lists; an array has no more axes
_MOST_ENTRIES = 2**31  # lists that hold one list many times are larger than they look
_MOST_GIVEN = 10**6  # entries of a sequence that is no list, which may say and give anything


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of whatever NumPy makes one of."""
    if _is_sequence(values):
        values = boxed(values, name).tolist()
    try:
        array = np.asanyarray(values)
        masked = is_masked(array)
    except Exception as error:  # __array__, __len__ and the like are the caller's code
        raise ValueError(
            f"{name} cannot be read as an array ({reason(error)}): convert it to a NumPy array "
            "first"
        ) from error
    if masked:
        raise ValueError(
            f"{name} has masked entries: give them a value with filled(0), or drop them with "
            "compressed()"
        )
    return np.asarray(array)


def unboxed(value: Any) -> Any:
    """Return the entry of an array of no dimension; anything else as it is."""
    single = isinstance(value, np.ndarray) and value.ndim == 0 and not is_masked(value)
    return value[()] if single else value


def is_masked(values: Any) -> bool:
    """Whether entries of a NumPy masked array, or of one that lists hold, are masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return False
    mask = np.ma.getmaskarray(values)
    return bool(mask.any()) if mask.dtype == bool else True


def boxed(values: Any, name: str) -> npt.NDArray[Any]:
    """Put nested lists into an object array without letting NumPy turn strings into numbers."""
    try:
        shape = _shape(values, name)
        level = [values]
        for depth in range(len(shape) + 1):
            rows = [_row(value, name) for value in level]
            lengths = {None if row is None else len(row) for row in rows}
            if lengths - ({shape[depth]} if depth < len(shape) else {None}):
                raise ValueError(f"{name} is ragged: its rows must have one length")
            level = [entry for row in rows if row is not None for entry in row] or level
            if 0 in lengths:
                level = []
                break
        if any(map(is_masked, level)):
            raise ValueError(f"{name} has masked entries: fill or drop them first")
        return np.fromiter(level, dtype=object, count=len(level)).reshape(shape)
    except ValueError:
        raise
    except Exception as error:  # lists may be of a class of the caller's
        raise ValueError(f"{name} cannot be read as a list ({reason(error)})") from error


def _shape(values: Any, name: str) -> tuple[int, ...]:
    """Return the shape of nested lists, going by the first entry of each."""
    shape: list[int] = []
    row = _row(values, name)
    while row is not None:
        shape.append(len(row))
        if len(shape) > _DEEPEST or math.prod(shape) > _MOST_ENTRIES:
            raise ValueError(
                f"{name} is nested more than {_DEEPEST} levels deep, or holds itself: pass a list "
                "of numbers"
            )
        row = _row(row[0], name) if row else None
    return tuple(shape)


def _row(value: Any, name: str) -> list[Any] | None:
    """Return the entries of a list or an array; None for a single entry."""
    if _is_sequence(value):
        return _in_full(value, name)
    if not getattr(value, "ndim", 0):
        return None
    array = as_array(value, name)
    refuse_larger_than_memory(array, name, each=40)  # of a list, with the numbers in it
    return array.tolist()


def refuse_larger_than_memory(array: npt.NDArray[Any], name: str, each: int = 8) -> None:
    """Refuse an array of which a copy, so many bytes for each number, would fill the memory."""
    if array.size * each > memory() / 2:
        raise ValueError(
            f"{name} has shape {array.shape}: that is more than half of this machine's memory; "
            "pass fewer numbers"
        )


def _is_sequence(values: Any) -> bool:
    """Whether it is a list, or what NumPy would go through like one, without end if it has none."""
    kind = type(values)
    if issubclass(kind, (list, tuple)):
        return True
    if not hasattr(kind, "__getitem__") or not hasattr(kind, "__len__"):
        return False
    if issubclass(kind, (str, bytes, bytearray, memoryview, ArrayType, Mapping)):
        return False
    return not any(hasattr(kind, f"__array{what}__") for what in ("", "_interface", "_struct"))


def _in_full(values: Any, name: str) -> list[Any]:
    """Return the entries of a sequence, of which there have to be as many as it says."""
    if type(values) in (list, tuple):
        return list(values)
    try:
        count = len(values)
        entries = list(islice(iter(values), min(count, _MOST_GIVEN) + 1))
    except Exception as error:  # __len__, __iter__ and __getitem__ are the caller's code
        raise ValueError(f"{name} cannot be read as a list ({reason(error)})") from error
    if len(entries) > _MOST_GIVEN:
        raise ValueError(f"{name} has more than {_MOST_GIVEN:,} entries: pass a list or an array")
    if len(entries) != count:
        raise ValueError(
            f"{name} says that its length is {shown(count)}, but gives "
            f"{'more' if len(entries) > count else 'fewer'} entries: pass a list or an array"
        )
    return entries


def shown(value: Any, most: int = 60) -> str:
    """Return a value as error messages show it: on one line, and short."""
    try:
        exact = isinstance(value, (Fraction, int)) and not isinstance(value, bool)
        text = shortened(value) if exact else " ".join(repr(value).split())
    except Exception:  # __repr__ is the caller's code; lists may be too deep, integers too long
        text = f"of type {type(value).__name__}"
    return text if len(text) <= most else text[: most - 3] + "..."


def reason(error: Exception) -> str:
    """Return what an exception of the caller's code says, on one line."""
    return shown(error, 120)


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
