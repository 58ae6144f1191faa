"""What ``otspec audit`` is given: code that makes a rule for an instance, or a kernel itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from otspec.auditing.declared import TEST_SAMPLERS, named_parameters, takes
from otspec.auditing.sandbox import attempt

MAKES = "(draft, target, k) and return a rule or a kernel"
ANSWERS = "x, a tuple of drafts, and return the distribution of the output"
AUDITED = f"{ANSWERS} ({TEST_SAMPLERS} in Python)"


def is_kernel(name: str, function: Callable[..., Any], *, given: bool) -> bool:
    """Return whether code is a kernel, which is called with a tuple of drafts alone.

    What can be called with one argument and with three is one if drafts or a target are given.

    Parameters
    ----------
    name : str
        What messages call it.
    function : callable
    given : bool
        Whether the command line has what only kernels need.

    Raises
    ------
    ValueError
        It can be called neither with one argument nor with three; naming its own.
    """
    signature, crash = attempt(inspect.signature, function)
    if crash is not None:
        return given  # what does not tell
    if takes(signature, 3):
        return given and takes(signature, 1)
    if takes(signature, 1):
        return True
    raise ValueError(
        f"{name} takes {named_parameters(signature)}: it must take {MAKES}; or {AUDITED}"
    )
