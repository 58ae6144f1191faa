"""Which arrays the batch functions take; what would be computed as something else is refused."""

import math
import sys
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_jax_array,
    is_numpy_array,
    is_pydata_sparse_array,
)

from otspec._base import shown
from otspec.batch._array_api.library import Array, Library, is_torch, library_of
from otspec.distributions import as_k

FLOATS = ("float32", "float64", "float16", "bfloat16")  # dtypes of probabilities and logits
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
"""Dtypes of token ids."""


def one_library(**arguments: Any) -> Library:
    """Check that all arguments are arrays of one library on one device, and return it."""
    check_library(**arguments)
    return library_of(next(iter(arguments.values())))


def check_library(**arguments: Any) -> None:
    """Refuse arguments that are not arrays of one library on one device."""
    values = tuple(arguments.values())
    if not (_all_numpy(values) or _all_torch(values)):
        _check_one_by_one(arguments)


def _all_numpy(values: tuple[Any, ...]) -> bool:
    """Return whether all are plain arrays of NumPy, which need no further look."""
    for one in values:  # noqa: SIM110 # a generator takes longer than these few comparisons
        if type(one) is not np.ndarray:
            return False
    return True


def _all_torch(values: tuple[Any, ...]) -> bool:
    """Return whether all are tensors on one device, none of them sparse, nested or quantized."""
    if not is_torch(values[0]):
        return False
    kind, place = sys.modules["torch"].Tensor, values[0].device
    for one in values:
        if not isinstance(one, kind) or not _is_dense(one) or one.device != place:
            return False
    return True


def _is_dense(tensor: Any) -> bool:
    """Return whether a tensor is not sparse, nested or quantized."""
    strided = tensor.layout is sys.modules["torch"].strided
    return strided and not tensor.is_quantized and not tensor.is_nested


def _check_one_by_one(arguments: dict[str, Any]) -> None:
    for name, values in arguments.items():
        _check_array(name, values)
    (first, like), *others = arguments.items()
    own = array_namespace(like)
    for name, values in others:
        if array_namespace(values) is not own:
            raise ValueError(
                f"{name} is {kind_of(values)} and {first} {kind_of(like)}: pass arrays of one "
                "library"
            )
        # JAX takes care of devices itself; there is none while a function is traced.
        if not is_jax_array(like) and device(values) != device(like):
            raise ValueError(
                f"{name} is on {device(values)} and {first} on {device(like)}: move one of them"
            )


def _check_array(name: str, values: Any) -> None:
    if is_numpy_array(values):
        _check_numpy(name, values)
    elif is_torch(values):
        if not _is_dense(values):
            raise ValueError(f"{name} is sparse, nested or quantized: pass {name}.to_dense()")
    elif is_pydata_sparse_array(values):
        raise ValueError(f"{name} is sparse: pass {name}.todense()")
    elif not (
        is_jax_array(values) or is_cupy_array(values) or hasattr(values, "__array_namespace__")
    ):
        raise ValueError(
            f"{name} is {kind_of(values)}: pass an array of NumPy, PyTorch, CuPy or JAX"
        )


def _check_numpy(name: str, values: Any) -> None:
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, whose mask would be dropped: fill it, or leave out drafts "
            "with the argument mask"
        )
    if type(values) not in (np.ndarray, np.memmap):
        raise ValueError(
            f"{name} is {kind_of(values)}: pass a plain array, such as numpy.asarray({name})"
        )


def kind_of(values: Any) -> str:
    kind = type(values)
    place = kind.__module__.partition(".")[0]
    return (
        "None"
        if values is None
        else f"a {'' if place == 'builtins' else place + '.'}{kind.__name__}"
    )


_NAMES = {np.dtype(name): name for name in (*FLOATS, *INTEGERS, "bool") if name != "bfloat16"}
"""Names of NumPy's dtypes, which it spells out anew each time that it is asked."""


def dtype_name(values: Array) -> str:
    """Return the dtype's name, which has the byte order in it if that is not the machine's."""
    if type(values) is np.ndarray and values.dtype in _NAMES:
        return _NAMES[values.dtype]
    return str(values.dtype).rpartition(".")[2]


_HALVES = {"float16": "uint16", "bfloat16": "int16"}


def bits_of(logits: Array) -> Array:
    """Return float32 as it is, bits of half precision in a dtype for each; None of others."""
    name = dtype_name(logits)
    if name not in _HALVES:
        return logits if name == "float32" else None
    if not is_torch(logits):
        return logits.view(_HALVES[name])
    return logits.detach().view(getattr(sys.modules["torch"], _HALVES[name]))


MOST_DRAFTS = 2**53  # up to here every number of drafts is a float64
MOST_PASSES = 10_000  # where every draft costs a pass
MOST_DISTINCT = 64  # where the masses of pools of distinct drafts are needed
MOST_GRADES = 256  # pools are looked at in pairs, once for each of them
_NO_NUMBERS = (bool, np.bool_, str, bytes, complex, np.complexfloating)
"""What Python or NumPy would turn into a float, though it is none."""


def as_count(
    name: str, value: Any, least: int, most: int | None = None, why: str = "no less"
) -> int:
    """Return an integer between two bounds."""
    number = value
    if type(value) is not int:  # compiled PyTorch knows no more of an integer
        if getattr(value, "ndim", 0):
            raise ValueError(f"{name} is {kind_of(value)}: it must be one integer")
        number = as_k(value, name)
    if number < least:
        raise ValueError(f"{name} is {number}: it must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{name} is {shown(number)}: it must be at most {most:,}, {why}")
    return number


def as_number_of_drafts(k: Any) -> int:
    """Return a number of drafts that costs nothing, up to the largest that float64 holds."""
    return as_count("k", k, 1, MOST_DRAFTS, "a number that float64 holds")


def as_grades(grades: Any) -> int:
    """Return a number of grades."""
    return as_count("grades", grades, 2, MOST_GRADES, "and 6 do well")


def as_number(name: str, value: Any) -> float:
    """Return a real number as a float."""
    if isinstance(value, _NO_NUMBERS) or not hasattr(type(value), "__float__"):
        raise ValueError(f"{name} is {shown(value)}: it must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {shown(value)}: it must be one number") from None
