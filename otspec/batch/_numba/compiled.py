"""How a loop becomes machine code: exact arithmetic but for sums, and no interpreter lock.

Importing this module imports Numba, if it is there.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from otspec._base.compiling import HAS_NUMBA, Loop


def machine_code(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk where there is a folder for it."""
    return _compiled(loop)


def inner_code(loop: Loop, **more: Any) -> Loop:
    """Return a part of machine code: without a way in from Python, which takes time to compile."""
    return _compiled(loop, no_cpython_wrapper=True, **more)


@cache
def edition_of(*folders: Path) -> str:
    """Return what tells the sources of folders from others."""
    sources = b"".join(path.read_bytes() for each in folders for path in sorted(each.glob("*.py")))
    return f"{crc32(sources):08x}"


def _compiled(loop: Loop, **more: Any) -> Loop:
    if not HAS_NUMBA:
        return loop
    from numba import njit

    # Kept by this name, and with all that it calls and the numbers of the array kernels that it
    # knows, of which Numba sees no later change.
    here = Path(__file__).parent
    loop.__qualname__ += f"_{edition_of(here, here.parent / '_kernels')}"
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **more}
    try:
        fast: Loop = njit(cache=True, **options)(loop)
    except RuntimeError:  # nowhere to keep it: compile in every process
        fast = njit(**options)(loop)
    return fast


def plus(one: Any, other: Any) -> Any:
    """Add two floats of one dtype; a sum of many may be added up in any order.

    Nothing else may be put in another order: products are meant as they stand, since others would
    leave the range of the dtype.
    """
    return one + other


def greater(one: Any, other: Any) -> Any:
    """Return the greater of two floats of one dtype; of many, in any order."""
    return max(one, other)


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


if HAS_NUMBA:
    from numba.extending import intrinsic

    plus, greater = intrinsic(_adding), intrinsic(_choosing)
