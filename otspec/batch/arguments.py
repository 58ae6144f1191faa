"""Which arrays the batch functions take: what is checked of each, and of two together.

What would be computed as something else than what was meant is refused: a masked array without its
mask, rows of more than double precision in float32, booleans as token ids.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_jax_array,
    is_numpy_array,
    is_pydata_sparse_array,
    is_torch_array,
)

from otspec.batch.arrays import Array, Library, library_of
from otspec.distributions import as_k
from otspec.raw import shown

FLOATS = ("float32", "float64", "float16", "bfloat16")
"""Dtypes of probabilities and logits."""
_NO_NUMBERS = (bool, np.bool_, str, bytes, complex, np.complexfloating)
"""What Python or NumPy would turn into a float, though it is none."""
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
"""Dtypes of token ids."""


def as_arrays(**arguments: Any) -> Library:
    """Check that all arguments are arrays of one library on one device, and return it.

    Raises
    ------
    ValueError
        Naming the argument that is not such an array, or not where the first one is.
    """
    for name, values in arguments.items():
        _check_array(name, values)
    (first, like), *others = arguments.items()
    library = library_of(like)
    for name, values in others:
        if array_namespace(values) is not array_namespace(like):
            raise ValueError(
                f"{name} is {_kind(values)} and {first} {_kind(like)}: pass arrays of one library"
            )
        # JAX takes care of devices itself; there is none while a function is traced.
        if not is_jax_array(like) and device(values) != device(like):
            raise ValueError(
                f"{name} is on {device(values)} and {first} on {device(like)}: move one of them"
            )
    return library


def _check_array(name: str, values: Any) -> None:
    if is_numpy_array(values):
        _check_numpy(name, values)
    elif is_torch_array(values):
        if not str(values.layout) == "torch.strided" or values.is_quantized:
            raise ValueError(f"{name} is sparse, nested or quantized: pass {name}.to_dense()")
    elif is_pydata_sparse_array(values):
        raise ValueError(f"{name} is sparse: pass {name}.todense()")
    elif not (
        is_jax_array(values) or is_cupy_array(values) or hasattr(values, "__array_namespace__")
    ):
        raise ValueError(f"{name} is {_kind(values)}: pass an array of NumPy, PyTorch, CuPy or JAX")


def _check_numpy(name: str, values: Any) -> None:
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, whose mask would be dropped: fill it, or leave out drafts "
            "with the argument mask"
        )
    if type(values) not in (np.ndarray, np.memmap):
        raise ValueError(
            f"{name} is {_kind(values)}: pass a plain array, such as numpy.asarray({name})"
        )


def _kind(values: Any) -> str:
    kind = type(values)
    place = kind.__module__.partition(".")[0]
    return (
        "None"
        if values is None
        else f"a {'' if place == 'builtins' else place + '.'}{kind.__name__}"
    )


def dtype_name(values: Array) -> str:
    """Return the dtype's name, which has the byte order in it if that is not the machine's."""
    return str(values.dtype).rpartition(".")[2]


def as_pair(draft: Array, target: Array) -> Library:
    """Check a draft and a target of one shape (..., V).

    Raises
    ------
    ValueError
        Different shapes, dtypes or devices, or no vocabulary.
    """
    library = as_arrays(draft=draft, target=target)
    check_probabilities("draft", draft)
    check_probabilities("target", target)
    if draft.shape != target.shape:
        raise ValueError(
            f"draft has shape {draft.shape} and target {target.shape}: give both one shape "
            "(..., V), with broadcast_to if rows are shared"
        )
    check_alike(draft, target)
    return library


def check_probabilities(name: str, values: Array) -> None:
    """Refuse what is not an array (..., V) of floats.

    Raises
    ------
    ValueError
        Naming the shape or dtype.
    """
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"{name} has shape {values.shape}: it must be (..., V) with V at least 1")
    if dtype_name(values) not in FLOATS:
        raise ValueError(
            f"{name} has dtype {values.dtype}: cast it to float32, float64, float16 or bfloat16 "
            "in the byte order of the machine"
        )


def check_alike(draft: Array, target: Array) -> None:
    """Refuse a draft and a target of different dtypes.

    Raises
    ------
    ValueError
        Naming both.
    """
    if draft.dtype != target.dtype:
        raise ValueError(
            f"draft is {draft.dtype} and target {target.dtype}: cast one of them, so that it is "
            "your choice which is rounded"
        )


def check_lead(name: str, values: Array, draft: Array, *, like: str) -> None:
    """Refuse leading axes that are not the draft's.

    Raises
    ------
    ValueError
        Naming both shapes.
    """
    if values.ndim != draft.ndim or values.shape[:-1] != draft.shape[:-1]:
        raise ValueError(
            f"{name} has shape {values.shape} and {like} {draft.shape}: all axes but the last "
            "must agree"
        )


def check_tokens(name: str, tokens: Array) -> None:
    """Refuse token ids that are not integers.

    Raises
    ------
    ValueError
        Naming the dtype.
    """
    if dtype_name(tokens) not in INTEGERS:
        raise ValueError(
            f"{name} has dtype {tokens.dtype}: token ids are integers, in the byte order of the "
            "machine"
        )


def check_uniforms(uniforms: Array, shape: tuple[int, ...]) -> None:
    """Refuse uniform numbers that are too few or too coarse.

    Raises
    ------
    ValueError
        Naming the shape or dtype.
    """
    if uniforms.shape != shape:
        raise ValueError(f"uniforms has shape {uniforms.shape}: it must be {shape}")
    if dtype_name(uniforms) not in ("float32", "float64"):
        raise ValueError(
            f"uniforms has dtype {uniforms.dtype}: draw them in float32 or float64, since fewer "
            "digits would bias every draw"
        )


def as_count(
    name: str, value: Any, least: int, most: int | None = None, why: str = "no less"
) -> int:
    """Return an integer between two bounds.

    Raises
    ------
    ValueError
        Naming the argument, its value and the bounds; ``why`` says what the upper one is for.
    """
    if getattr(value, "ndim", 0):
        raise ValueError(f"{name} is {_kind(value)}: it must be one integer")
    number = as_k(value, name)
    if number < least:
        raise ValueError(f"{name} is {number}: it must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{name} is {shown(number)}: it must be at most {most:,}, {why}")
    return number


def as_number(name: str, value: Any) -> float:
    """Return a real number as a float.

    Raises
    ------
    ValueError
        Naming the argument and its value.
    """
    if isinstance(value, _NO_NUMBERS) or not hasattr(type(value), "__float__"):
        raise ValueError(f"{name} is {shown(value)}: it must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {shown(value)}: it must be one number") from None
