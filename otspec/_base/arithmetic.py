"""Numbers of two kinds, float64 and ``Fraction``, behind one door.

Floats of any width become float64; integers, ``Fraction``, ``Decimal`` and strings such as
``"3/10"`` become an object array of ``Fraction``. The two are never mixed.
"""

import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from otspec._base.coerce import (
    as_array,
    as_float,
    as_fraction,
    boxed,
    not_a_number,
    refuse_larger_than_memory,
    shown,
    unboxed,
)
from otspec._base.frozen import read_only

Array: TypeAlias = npt.NDArray[Any]
IntArray: TypeAlias = npt.NDArray[np.intp]
Number: TypeAlias = float | Fraction

_MOST_BITS = 2**20  # the longest numerator or denominator of an exact power, about 315,000 digits


def as_numbers(values: Any, name: str, axes: int | None = None) -> Array:
    """Turn numbers of any accepted kind into float64 or ``Fraction``, of any shape."""
    # The array is read-only and shares no memory that anybody can write to. Its shape is looked at
    # before it is copied, since an array of any size may be a view of one number.
    if isinstance(values, (str, bytes, dict, set, frozenset)) or values is None:
        raise ValueError(
            f"{name} must be a list or array of probabilities, got {shown(values)}: "
            "pass for instance [0.5, 0.3, 0.2]"
        )
    if isinstance(values, (list, tuple)):
        array = boxed(values, name)
    else:
        array = as_array(values, name)
        refuse_larger_than_memory(array, name)
    if axes == 1 and array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, but has shape {array.shape}: pass one row at a time"
        )
    if array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # refused later, by name
            return read_only(array.astype(np.float64, copy=False))
    if array.dtype.kind in "iuOU":
        return read_only(_from_elements(array.astype(object), name))
    raise ValueError(
        f"{name} has dtype {array.dtype}, which holds no probabilities: convert it with "
        "astype(float), or pass Fractions"
    )


def as_scalar(value: Any, name: str) -> Number:
    """Return one number of any accepted kind as a float or a ``Fraction``."""
    value = unboxed(value)
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}: pass a number, not a truth value")
    return float(value) if isinstance(value, (float, np.floating)) else as_fraction(value, name)


def in_arithmetic(values: Sequence[Any], name: str, exact: bool) -> Array:
    """Read written numbers as floats unless a fraction, or ``exact``, asks for more."""
    if exact or any(isinstance(value, str) and "/" in value for value in values):
        return as_numbers(list(values), name)
    return np.array(
        [as_float(value, f"{name}[{i}]") for i, value in enumerate(values)], dtype=float
    )


def as_fractions(array: Array, name: str) -> Array:
    """Return floats as the fractions that they are."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite: they cannot be read exactly")
    exact = np.empty(array.size, dtype=object)
    exact[:] = [Fraction(value) for value in array.ravel().tolist()]
    return exact.reshape(array.shape)


def is_exact(array: Array) -> bool:
    """Whether an array that has passed the door holds ``Fraction`` rather than float64."""
    return array.dtype == object


def as_number(value: Any, like: Array) -> Number:
    """Return a scalar in the arithmetic of ``like``: ``Fraction`` or ``float``."""
    # Sums over empty object arrays give the integer 0, and NumPy sums give its own scalars; public
    # results are one of the two plain types.
    return Fraction(value) if is_exact(like) else float(value)


def prefix_sums(values: Array) -> Array:
    """Return the sums of values[:j] for j = 0..n: shape (n,) -> (n + 1,)."""
    sums = zeros(len(values) + 1, like=values)
    np.cumsum(values, out=sums[1:])
    return sums


def suffix_sums(values: Array) -> Array:
    """Return the sums of values[j:] for j = 0..n: shape (n,) -> (n + 1,)."""
    return prefix_sums(values[::-1])[::-1]


def sums_by(index: IntArray, values: Array, size: int) -> Array:
    """Return the sum of the values at each index from 0 to size − 1."""
    sums = zeros(size, like=values)
    np.add.at(sums, index, values)
    return sums


def positive_part(values: Array) -> Array:
    """Return max(values, 0), entry by entry and in the same arithmetic."""
    # A plain `np.maximum(values, 0)` would leave the integer 0 among fractions, and 0 / 1 is a
    # float.
    return np.maximum(values, zeros(1, like=values))


def power(values: Any, exponent: int) -> Any:
    """Return numbers from 0 to 1 to a power, of a number or an array, by repeated squaring."""
    refuse_long_power(values, exponent)
    if not is_exact(np.asarray(values)):
        return values ** float(exponent)
    if not isinstance(values, np.ndarray):
        return values**exponent
    # One by one: the loops of an object array take no exponent beyond their integers.
    powers = np.empty(values.size, dtype=object)
    powers[:] = [value**exponent for value in values.ravel().tolist()]
    return powers.reshape(values.shape)


def refuse_long_power(values: Any, exponent: int) -> None:
    """Refuse to raise exact numbers from 0 to 1, and their sums, to a power of too many digits."""
    array = np.asarray(values)
    if not is_exact(array):
        return
    common = math.lcm(*(value.denominator for value in array.ravel().tolist()))
    bits = (common.bit_length() - 1) * exponent
    if bits > _MOST_BITS:
        raise ValueError(
            f"k is {shown(exponent)}: exact powers would have about {shown(bits)} bits, at most "
            f"{_MOST_BITS:,}; use floats or a smaller k"
        )


def counted_power(base: int, exponent: int, most: int = 10**18) -> int:
    """Return base^exponent, or ``most`` where that is more: nobody counts further."""
    if base > 1 and exponent > math.log2(most) / math.log2(base):
        return most
    return min(base**exponent, most) if base > 1 else base


def over_one_denominator(*arrays: Array) -> tuple[Any, ...]:
    """Return arrays times their common denominator, and that; floats as they are, and 1.0."""
    if not is_exact(arrays[0]):
        return *arrays, 1.0
    unit = math.lcm(*(value.denominator for array in arrays for value in array.ravel().tolist()))
    whole = []
    for array in arrays:
        scaled = np.empty(array.size, dtype=object)
        scaled[:] = [
            value.numerator * (unit // value.denominator) for value in array.ravel().tolist()
        ]
        whole.append(scaled.reshape(array.shape))
    return *whole, unit


def as_whole(values: Sequence[Any]) -> tuple[list[Any], int]:
    """Return fractions as whole numbers over their common denominator; floats as they are."""
    if any(isinstance(value, float) for value in values):
        return list(values), 1
    unit = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (unit // value.denominator) for value in values], unit


def exact_sum(values: Sequence[Fraction]) -> Fraction:
    """Return the sum of fractions, all over one denominator."""
    unit = math.lcm(*(value.denominator for value in values))
    whole = sum(value.numerator * (unit // value.denominator) for value in values)
    return Fraction(1) if whole == unit else Fraction(whole, unit)


def quotient(value: Any, unit: Any) -> Number:
    """Return a whole number over another as a fraction; a float divided."""
    return Fraction(value, unit) if isinstance(value, int) else value / unit


def zeros(shape: int | tuple[int, ...], like: Array) -> Array:
    """Return zeros in the arithmetic of ``like``."""
    if is_exact(like):
        return np.full(shape, Fraction(0), dtype=object)
    return np.zeros(shape)


def _from_elements(elements: Array, name: str) -> Array:
    """Decide the arithmetic of an object array element by element."""
    flat = elements.ravel().tolist()
    if set(map(type, flat)) == {Fraction}:
        return elements
    flat = [unboxed(value) for value in flat]
    first_float = first_exact = None
    for index, value in enumerate(flat):
        if isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name}[{index}] is {value!r}: pass numbers, not truth values")
        if isinstance(value, (float, np.floating)):
            first_float = index if first_float is None else first_float
        elif not isinstance(value, (numbers.Rational, Decimal, str)):
            raise ValueError(not_a_number(f"{name}[{index}]", value))
        elif not isinstance(value, numbers.Integral):
            first_exact = index if first_exact is None else first_exact
    if first_float is not None and first_exact is not None:
        raise ValueError(
            f"{name} mixes floats ({name}[{first_float}] = {flat[first_float]!r}) and exact "
            f"numbers ({name}[{first_exact}] = {shown(flat[first_exact])}): write all as floats, "
            "or all as Fractions or strings such as '3/10'"
        )
    if first_float is not None:
        try:
            with np.errstate(over="ignore"):
                return np.array(flat, dtype=np.float64).reshape(elements.shape)
        except OverflowError:
            raise ValueError(f"{name} holds an integer beyond the range of floats") from None
    exact = np.empty(len(flat), dtype=object)
    exact[:] = [as_fraction(value, f"{name}[{index}]") for index, value in enumerate(flat)]
    return exact.reshape(elements.shape)


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
