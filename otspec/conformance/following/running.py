"""What makes the random choices of the code that is followed at the moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from otspec.chance import Branch, CannotFollowError
from otspec.conformance.following.streams import Streams

_RUNNING: list[tuple[Branch, Streams]] = []


@contextmanager
def running(chance: Branch) -> Iterator[None]:
    """Let something make the random choices for a while."""
    check_nothing_runs()
    _RUNNING.append((chance, Streams()))
    try:
        yield
    finally:
        _RUNNING.clear()


def check_nothing_runs() -> None:
    """Refuse to follow code inside code that is followed itself."""
    if _RUNNING:
        raise current().refused("it follows random choices inside code that is followed itself")


def refusing(name: str) -> Callable[..., Any]:
    """Return what stands for a function that cannot be followed."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise current().refused(f"it uses {name}")

    return refuse


def current() -> Branch:
    """Return what makes the random choices."""
    if not _RUNNING:
        raise CannotFollowError("it uses a generator of followed numbers where nothing is followed")
    return _RUNNING[0][0]


def streams() -> Streams:
    """Return the numbers that follow seeds in the code that is followed."""
    current()
    return _RUNNING[0][1]
