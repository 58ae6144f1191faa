"""Numba where it is installed: machine code that does what Python would (no fast-math)."""

from collections.abc import Callable, Iterable
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
    if not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view


def looped(loop: Loop, fast: Loop, arrays: Iterable[npt.NDArray[Any]], *numbers: Any) -> Any:
    """Run a loop over arrays: as machine code where they are floats and Numba is there."""
    arrays = tuple(arrays)
    if HAS_NUMBA and arrays[0].dtype != object:
        return fast(*map(unwriteable, arrays), *numbers)
    # Plain numbers in object arrays: scalars of typed arrays are slow.
    return loop(*(values.astype(object) for values in arrays), *numbers)


def compiled(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk where there is a folder for it."""
    if numba is None:
        return loop
    try:
        fast: Loop = numba.njit(cache=True)(loop)
    except RuntimeError:  # nowhere to keep it: compile in every process
        fast = numba.njit(loop)
    return fast
