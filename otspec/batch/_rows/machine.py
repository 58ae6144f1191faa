"""How a loop becomes machine code: exact arithmetic but for sums, and no interpreter lock.

Importing this module imports Numba, if it is there.
"""

from __future__ import annotations

from typing import Any

from otspec.compiling import HAS_NUMBA, Loop


def machine_code(loop: Loop) -> Loop:
    """Return a loop as machine code, kept on disk where there is a folder for it."""
    if not HAS_NUMBA:
        return loop
    from numba import njit

    options = {"nogil": True, "error_model": "numpy"}
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


def _adding(context: Any, one: Any, other: Any) -> Any:  # noqa: ARG001 # of every intrinsic
    def add(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        return builder.fadd(*values, flags=("reassoc", "nsz"))

    return one(one, other), add


if HAS_NUMBA:
    from numba.extending import intrinsic

    plus = intrinsic(_adding)
