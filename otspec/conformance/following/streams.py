"""What makes the random choices of code that is followed, and numbers that follow a seed."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from otspec.chance import Branch, CannotFollowError


class Stream:
    """What is drawn after a seed, in order: kinds and values, which the same seed gives again."""

    def __init__(self, drawn: list[tuple[str, Any]], seed: str) -> None:
        self._drawn, self._seed, self._place = drawn, seed, 0

    def next(self, chance: Branch, kind: str, make: Callable[[], Any]) -> Any:
        """Return the next of what is drawn; refuse another kind than was drawn there before."""
        if self._place == len(self._drawn):
            self._drawn.append((kind, make()))
        before, found = self._drawn[self._place]
        if before != kind:
            raise chance.refused(
                f"it draws by {kind} after the {self._seed} after which it drew by {before}"
            )
        self._place += 1
        return found


class Streams:
    """The streams of a run, by what seeds them."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, list[tuple[str, Any]]] = {}
        self.begun: list[Hashable] = []
        """The seeds that were set, in order."""

    def begin(self, seed: Hashable, words: str) -> Stream:
        """Return the stream of a seed, from its beginning."""
        self.begun.append(seed)
        return Stream(self._drawn.setdefault(seed, []), words)


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
