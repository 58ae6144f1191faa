"""The random calls of PyTorch, NumPy and ``random`` are branches while a context is open."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from otspec.chance import Branch, CannotFollowError
from otspec.conformance.following.numpy_draws import numpy_functions
from otspec.conformance.following.plain_draws import random_functions
from otspec.conformance.following.running import check_nothing_runs, running


@contextmanager
def intercepted(chance: Branch) -> Iterator[None]:
    """Let the random calls of PyTorch, NumPy and ``random`` be branches.

    The functions of ``numpy.random`` and ``random``, and ``torch.manual_seed``, are replaced, for
    all threads, and put back whatever happens; PyTorch is asked to tell of its calls, in this
    thread.

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
            from otspec.conformance.following.torch.streams import TorchStreams
            from otspec.conformance.following.torch.table import torch_mode

            streams, torch = TorchStreams(), sys.modules["torch"]
            stack.callback(streams.put_back)
            for module in (torch, torch.random):
                stack.enter_context(_replaced(module, {"manual_seed": streams.begin}))
            stack.enter_context(torch_mode(chance, streams))
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

    The states of the generators that a process shares are compared, and put back.

    Raises
    ------
    CannotFollowError
        At the end if numbers were drawn, or PyTorch was imported meanwhile; at the beginning if
        random calls are intercepted already.
    """
    check_nothing_runs()
    generators = _generators()
    before = {name: read() for name, (read, _) in generators.items()}
    changed = []
    try:
        yield
    finally:
        for name, (read, write) in generators.items():
            if _differ(read(), before[name]):
                changed.append(name)
                write(before[name])
    if "torch" in sys.modules and "torch" not in generators:
        raise CannotFollowError("it imports torch: import it before")
    if changed:
        raise CannotFollowError(
            f"it draws or seeds random numbers of {changed[0]} in a way that is not seen, such as "
            "by a function that was imported alone, or in compiled code"
        )


def _generators() -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """Return how the states of the shared generators are read and written."""
    table: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
        "random": (random.getstate, random.setstate),
        "numpy": (partial(np.random.mtrand.get_state, legacy=False), np.random.mtrand.set_state),
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        table["torch"] = (torch.get_rng_state, torch.set_rng_state)
    return table


def _differ(one: Any, two: Any) -> bool:
    """Whether two states are different: dicts, arrays, tensors and what Python compares."""
    if isinstance(one, dict):
        return any(_differ(one[key], two[key]) for key in one)
    return bool((one != two).any()) if hasattr(one, "any") else one != two
