"""The random calls of PyTorch, NumPy and ``random`` are branches while a context is open."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from otspec.auditing.seeding import seeded
from otspec.conformance.branches import CannotFollowError, Chance
from otspec.conformance.numpy_draws import numpy_functions
from otspec.conformance.plain_draws import random_functions
from otspec.conformance.running import check_nothing_runs, running


@contextmanager
def intercepted(chance: Chance[Any]) -> Iterator[None]:
    """Let the random calls of PyTorch, NumPy and ``random`` be branches.

    The functions of ``numpy.random`` and ``random`` are replaced, for all threads, and put back
    whatever happens; PyTorch is asked to tell of its calls, in this thread.

    Parameters
    ----------
    chance : Chance
        What makes the choices.

    Raises
    ------
    CannotFollowError
        It is open already.
    """
    with ExitStack() as stack:
        stack.enter_context(running(chance))
        stack.enter_context(_replaced(np.random, numpy_functions()))
        stack.enter_context(_replaced(random, random_functions()))
        if "torch" in sys.modules:
            from otspec.conformance.torch_mode import torch_mode

            stack.enter_context(torch_mode(chance))
        yield


@contextmanager
def _replaced(module: ModuleType, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    before = {name: getattr(module, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(module, name, function)
        yield
    finally:
        for name, function in before.items():
            setattr(module, name, function)


@contextmanager
def nothing_escapes() -> Iterator[None]:
    """Refuse code that draws, or seeds, random numbers which are not intercepted.

    The state of all generators that a process shares is compared, and put back.

    Raises
    ------
    CannotFollowError
        At the end if numbers were drawn, or PyTorch was imported meanwhile; at the beginning if
        random calls are intercepted already.
    """
    check_nothing_runs()
    with seeded(0):
        before = _states()
        yield
        after = _states()
        for name in after:
            if name not in before:
                raise CannotFollowError(f"it imports {name}: import it before")
            if before[name] != after[name]:
                raise CannotFollowError(
                    f"it draws or seeds random numbers of {name} in a way that is not seen, such "
                    "as by a function that was imported alone, or in compiled code"
                )


def _states() -> dict[str, Any]:
    states: dict[str, Any] = {
        "random": random.getstate(),
        "numpy": repr(np.random.mtrand.get_state(legacy=False)),
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.get_rng_state().tolist()
    return states
