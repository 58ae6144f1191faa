"""How a loop becomes machine code by Numba, and what every rule does row by row.

Arithmetic is exact but for sums, and there is no lock. The function ``verify`` of a rule's module
takes ``draft`` and ``target``, (rows, V), ``drafts``, (rows, k) of int64, ``uniforms``,
(rows, k + 1) of float64, and ``valid``, (rows, k) of bool, all of them C-contiguous, then
``token``, ``accepted`` and ``index``, (rows), which it fills, and the options of the rule. Draft
and target may be logits as well, which :func:`~otspec.batch._numba.models.row_of` turns into
probabilities. Drafts that do not count may be any numbers, those that count are token ids. In
machine code an argument without annotation is an array.
"""

import math
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from otspec._base.compiling import HAS_NUMBA, Loop

Real: TypeAlias = Any  # a float of the dtype that is computed in


def machine_code(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk where there is a folder for it."""
    return _compiled(loop)


def inner_code(loop: Loop, **more: Any) -> Loop:
    """Return a part of machine code: without a way in from Python, which takes time to compile."""
    return _compiled(loop, no_cpython_wrapper=True, **more)


@cache
def edition_of(*folders: Path) -> str:
    """Return what tells the sources of folders from others."""
    sources = b"".join(path.read_bytes() for each in folders for path in sorted(each.rglob("*.py")))
    return f"{crc32(sources):08x}"


def _compiled(loop: Loop, **more: Any) -> Loop:
    if not HAS_NUMBA:
        return loop
    from numba import njit

    # Kept by this name, and with all that it calls and the numbers of the array kernels that it
    # knows, of which Numba sees no later change.
    here = Path(__file__).parent
    loop.__qualname__ += f"_{edition_of(here, here.parent / '_array_api')}"
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **more}
    try:
        fast: Loop = njit(cache=True, **options)(loop)
    except RuntimeError:  # nowhere to keep it: compile in every process
        fast = njit(**options)(loop)
    return fast


def plus(one: Any, other: Any) -> Any:
    """Add two floats of one dtype; a sum of many may be added in any order, and nothing else."""
    # Products are meant as they stand: in another order they would leave the range of the dtype.
    return one + other


def greater(one: Any, other: Any) -> Any:
    """Return the greater of two floats of one dtype; of many, in any order."""
    return max(one, other)


def fused(one: Any, other: Any, third: Any) -> Any:
    """Return one · other + third, rounded once where the machine does that at once."""
    return one * other + third


def power(factor: Any, value: Any) -> Any:
    """Return 2^(factor · value) of float32, below 2^128 to 1.7e-7 of it; 0 if below 2^LOWEST."""
    exponent = factor * value
    return np.float32(0) if exponent < LOWEST else np.exp2(exponent)


def fetch(values: Any, place: int) -> None:
    """Ask for what is at a place of an array, or after its end, before it is read."""


def real_of(value: Any) -> Any:
    """Return a logit as a float: of float16 and bfloat16 its bits are given, uint16 and int16."""
    bits = np.asarray(value)
    if bits.dtype == np.int16:
        return (bits.astype(np.int32) << 16).view(np.float32)[()]
    return bits.view(np.float16).astype(np.float32)[()] if bits.dtype == np.uint16 else value


def stored(value: Any, like: Any) -> Any:
    """Return a float32 as an array of a dtype holds it: half precision as its bits."""
    kind = np.asarray(like).dtype
    if kind == np.int16:
        bits = np.asarray(value, np.float32).view(np.int32)[()]
        rounded = (int(bits) + 0x7FFF + (int(bits) >> 16 & 1)) >> 16
        return np.int16(rounded) if value == value else np.int16(0x7FC0)
    with np.errstate(over="ignore"):
        return np.float16(value).view(np.uint16) if kind == np.uint16 else value


def _adding(context: Any, one: Any, other: Any) -> Any:  # noqa: ARG001 # of every intrinsic
    def add(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        return builder.fadd(*values, flags=("reassoc", "nsz"))

    return one(one, other), add


def _choosing(context: Any, one: Any, other: Any) -> Any:  # noqa: ARG001 # of every intrinsic
    def choose(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        flags = "nnan", "nsz"
        above = builder.fcmp_ordered(">", *values, flags=flags)
        return builder.select(above, *values, flags=flags)

    return one(one, other), choose


LOWEST = np.float32(-125.5)  # 2 to a lower power is 0

_POLYNOMIAL = (
    1.0,
    0.6931469775578205,
    0.2402224207698363,
    0.05550733777650721,
    0.009671513022335586,
    0.001326472036630037,
)
"""2^r from −1/2 to 1/2 is this polynomial, to 9.2e-8 of it."""


def _casting(context: Any, value: Any) -> Any:  # noqa: ARG001 # of every intrinsic
    to_float = value == types.int32
    kind = ir.FloatType() if to_float else ir.IntType(32)

    def cast(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(values[0], kind)

    return (types.float32 if to_float else types.int32)(value), cast


def _fusing(context: Any, one: Any, other: Any, third: Any) -> Any:  # noqa: ARG001
    def fuse(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        machine, _, features = context.codegen().magic_tuple()
        if not machine.startswith("x86") or "+fma" in features.split(","):
            return builder.fma(*values)
        return builder.fadd(builder.fmul(*values[:2]), values[2])  # else it would be a call

    return one(one, other, third), fuse


def _fetching(context: Any, values: Any, place: Any) -> Any:  # noqa: ARG001
    def ask(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        start = make_array(signature.args[0])(context, builder, given[0]).data
        address = builder.bitcast(builder.gep(start, [given[1]]), byte)
        builder.call(call, [address, *map(number, (0, 3, 1))])  # to read data, soon
        return context.get_dummy_value()

    return types.void(values, types.int64), ask


def _power(factor: Any, value: Any) -> Any:  # noqa: ARG001 # their types, which are float32
    up, cast, plus_product, nothing = np.float32(3 << 22), bits, fused, np.int32(0)
    least = np.float32(np.ceil(LOWEST)) + up
    c0, c1, c2, c3, c4, c5 = np.array(_POLYNOMIAL, np.float32)

    def powered(factor: Any, value: Any) -> Any:
        # The sum is rounded to an integer, which its last bits are: the exponent of the result.
        shifted = plus_product(factor, value, up)
        r = plus_product(factor, value, up - shifted)
        most = plus_product(plus_product(c5, r, c4), r, c3)
        rest = plus_product(plus_product(plus_product(most, r, c2), r, c1), r, c0)
        whole = np.int32(cast(rest) + np.int32(cast(shifted) << np.int32(23)))
        return cast(nothing if shifted < least else whole)

    return powered


def _real_of(value: Any) -> Any:
    # Five bits of an exponent that is 112 less than that of a float32, but for infinity.
    sign, rest, infinite = np.int32(0x8000), np.int32(0x7FFF), np.int32(0x7C00)
    up, top, cast = np.float32(2.0**112), np.int32(0x7F800000), bits

    def first_half(value: Any) -> Any:
        return cast(np.int32(np.int32(value) << np.int32(16)))

    def half(value: Any) -> Any:
        whole = np.int32(value)
        size = np.int32(np.int32(whole & rest) << np.int32(13))
        finite = cast(cast(size) * up)
        size = np.int32(size | top) if np.int32(whole & rest) >= infinite else finite
        return cast(np.int32(size | np.int32(np.int32(whole & sign) << np.int32(16))))

    def itself(value: Any) -> Any:
        return value

    return {types.int16: first_half, types.uint16: half}.get(value, itself)


def _stored(value: Any, like: Any) -> Any:  # noqa: ARG001 # the value is a float32
    one, sign, rest = np.int32(1), np.int32(0x8000), np.int32(0x7FFFFFFF)
    infinite, least, step = np.float32(65520), np.float32(2.0**-14), np.float32(0.5)
    less, cast = np.int32(112 << 23), bits

    def first_half(value: Any, like: Any) -> Any:  # noqa: ARG001
        whole = cast(value)
        odd = np.int32(np.int32(whole >> np.int32(16)) & one)
        rounded = np.int32(np.int32(whole + np.int32(0x7FFF)) + odd)
        return np.int16(rounded >> np.int32(16)) if value == value else np.int16(0x7FC0)

    def half(value: Any, like: Any) -> Any:  # noqa: ARG001
        whole = cast(value)
        size = np.int32(whole & rest)
        odd = np.int32(np.int32(size >> np.int32(13)) & one)
        normal = np.int32(np.int32(np.int32(size - less) + np.int32(0xFFF)) + odd)
        normal = np.int32(normal >> np.int32(13))
        # Subnormal numbers are multiples of 2^-24, which are the steps of float32 above a half.
        small = np.int32(cast(cast(size) + step) - cast(step))
        found = small if cast(size) < least else normal
        found = np.int32(0x7C00) if cast(size) >= infinite else found
        found = found if value == value else np.int32(0x7E00)
        return np.uint16(found | np.int32(np.int32(whole >> np.int32(16)) & sign))

    def itself(value: Any, like: Any) -> Any:  # noqa: ARG001
        return value

    return {types.int16: first_half, types.uint16: half}.get(like, itself)


if HAS_NUMBA:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload
    from numba.np.arrayobj import make_array

    plus, greater = intrinsic(_adding), intrinsic(_choosing)
    bits, fused, fetch = intrinsic(_casting), intrinsic(_fusing), intrinsic(_fetching)
    overload(power)(_power)
    overload(real_of)(_real_of)
    overload(stored)(_stored)


DRAWN = -1  # the index if no draft is accepted
ZERO: int = np.int64(0)  # type: ignore[assignment]
"""Where an index begins: what is called with a number as it is written is compiled once more."""


@machine_code
def are_ids(drafts, valid, size: int) -> bool:
    """Return whether all drafts that count are token ids, from 0 to ``size`` − 1."""
    for row in range(drafts.shape[0]):
        for i in range(drafts.shape[1]):
            if valid[row, i] and not 0 <= drafts[row, i] < size:
                return False
    return True


@inner_code
def accepts(uniform: float, wanted: float, offered: float) -> bool:
    """Return whether a uniform number is below min(1, wanted/offered)."""
    return uniform * offered < wanted or (wanted >= offered and wanted > 0)


@inner_code
def quotient(dividend: float, divisor: float, otherwise: float) -> float:
    """Return dividend/divisor where the divisor is positive."""
    return dividend / divisor if divisor > 0 else otherwise


@inner_code
def holds(drafts, valid, token: int) -> bool:
    """Return whether a token is one of the drafts of a row that count."""
    found = False
    for i in range(drafts.size):
        found = found or (valid[i] and drafts[i] == token)
    return found


@inner_code
def rounded(value: float, single: bool) -> float:
    """Return a number rounded to float32, if rows are ``single``."""
    return np.float64(np.float32(value)) if single else value


@inner_code
def clipped(value: float) -> float:
    """Return a number kept between 0 and 1."""
    return min(max(value, 0.0), 1.0)


@inner_code
def geometric(chance: float, count: float) -> float:
    """Return 1 + r + … + r^(count−1) for r = 1 − chance, without cancellation."""
    if not chance > 0:
        return max(count, 1.0)
    return max(-math.expm1(count * math.log1p(-chance)) / chance, 1.0)


@inner_code
def split(uniform: float, chance: float) -> tuple[bool, float]:
    """Return whether a uniform number is below a chance, and a number that is uniform again."""
    if uniform < chance:
        return True, uniform / chance
    return False, quotient(uniform - chance, 1 - chance, 0.0)
