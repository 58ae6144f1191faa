"""Numba where it is installed: machine code that does what Python would (no fast-math)."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy.typing as npt

try:
    import numba
except ImportError:
    numba = None

HAS_NUMBA = numba is not None
Loop = TypeVar("Loop", bound=Callable[..., Any])


def jitable(function: Loop) -> Loop:
    """Mark a function that compiled code may call; it stays callable from Python."""
    if numba is None:
        return function
    from numba.extending import register_jitable

    return register_jitable(function)


def unwriteable(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that is only read."""
    # Numba compiles a loop for each kind of array that it is given; any array can be had as this
    # one.
    view = values.view()
    view.flags.writeable = False
    return view


def compiled(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk where there is a folder for it."""
    if numba is None:
        return loop
    try:
        fast: Loop = numba.njit(cache=True)(loop)
    except RuntimeError:  # nowhere to keep it: compile in every process
        fast = numba.njit(loop)
    return fast
