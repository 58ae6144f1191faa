"""Numbers that follow a seed: the same seed gives the same ones again."""

from collections.abc import Callable, Hashable
from typing import Any

from otspec.chance import Branch


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

    def begin(self, seed: Hashable, words: str) -> Stream:
        """Return the stream of a seed, from its beginning."""
        return Stream(self._drawn.setdefault(seed, []), words)
