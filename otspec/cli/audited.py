"""What ``otspec audit`` is given: code that makes a rule for an instance, or a kernel itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from otspec.auditing.foreign import attempt

MAKES = "(draft, target, k) and return a rule or a kernel"
ANSWERS = "x, a tuple of drafts, and return the distribution of the output"


def is_kernel(name: str, function: Callable[..., Any]) -> bool:
    """Return whether code is a kernel, which is called with a tuple of drafts alone.

    What can be called with three arguments makes a rule, even if it could be called with one.

    Parameters
    ----------
    name : str
        What messages call it.
    function : callable

    Raises
    ------
    ValueError
        It can be called neither with one argument nor with three; naming its own.
    """
    signature, crash = attempt(inspect.signature, function)
    if crash is not None or _takes(signature, 3):
        return False  # what does not tell is called as a rule is made
    if _takes(signature, 1):
        return True
    raise ValueError(f"{name} takes {_listed(signature)}: it must take {MAKES}; or {ANSWERS}")


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _listed(signature: inspect.Signature) -> str:
    return f"({', '.join(map(str, signature.parameters))})"
