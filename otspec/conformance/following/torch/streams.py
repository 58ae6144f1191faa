"""The numbers that follow ``torch.manual_seed``: the same seed gives the same ones again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from otspec.chance import Branch
from otspec.conformance.following.order import Pending, chosen, distinct
from otspec.conformance.following.symbols import exponential_number, uniform_number
from otspec.rules import GumbelCoupling

_MAKERS = {"uniform": uniform_number, "exponential": exponential_number}


class Streams:
    """The default generator of PyTorch: new numbers until it is seeded, then those of the seed.

    A stream is what was drawn after a seed, in order: numbers of a kind, and races.
    """

    def __init__(self) -> None:
        self._named: dict[int, list[tuple[str, Any]]] = {}
        self._stream: list[tuple[str, Any]] | None = None
        self._place = 0

    def begin(self, seed: Any) -> Any:
        """Begin a stream: what stands for ``torch.manual_seed``."""
        import torch

        self._stream, self._place = self._named.setdefault(int(seed), []), 0
        return torch.default_generator

    @contextmanager
    def of(self, generator: Any) -> Iterator[None]:
        """Draw from a generator for a while; any but the default one has new numbers."""
        import torch

        stream = self._stream
        if generator is not None and generator is not torch.default_generator:
            self._stream = None
        try:
            yield
        finally:
            self._stream = stream

    @property
    def seeded(self) -> bool:
        """Whether numbers follow a seed."""
        return self._stream is not None

    def number(self, chance: Branch, kind: str) -> Any:
        """Return the next number: uniform, or exponential."""
        return self._next(chance, kind, lambda: _MAKERS[kind](chance))

    def tokens(
        self, chance: Branch, masses: Sequence[Any], count: int, again: bool
    ) -> list[Pending]:
        """Return tokens to be drawn with given masses; distinct ones, or each anew."""
        each = count if again else 1
        drawn = 1 if again else count
        found: list[Pending] = []
        for _ in range(each):
            race: _Race = self._next(chance, f"race for {drawn} of {len(masses)}", _Race)
            found += race.winners(chance, tuple(masses), drawn)
        return found

    def _next(self, chance: Branch, kind: str, make: Any) -> Any:
        if self._stream is None:
            return make()
        if self._place == len(self._stream):
            self._stream.append((kind, make()))
        before, found = self._stream[self._place]
        if before != kind:
            raise chance.refused(
                f"it draws by {kind} after the torch.manual_seed after which it drew by {before}"
            )
        self._place += 1
        return found


class _Race:
    """A race of exponential numbers, of which tokens are drawn: once, or with other masses again.

    Law: where E/p has its minimum at x, that of E/q is as :class:`otspec.rules.GumbelCoupling`
    has it.
    """

    def __init__(self) -> None:
        self._run: dict[tuple[Any, ...], list[Pending]] = {}

    def winners(self, chance: Branch, masses: tuple[Any, ...], count: int) -> list[Pending]:
        """Return the first few tokens."""
        if masses not in self._run:
            self._run[masses] = self._new(chance, masses, count)
        return self._run[masses]

    def _new(self, chance: Branch, masses: tuple[Any, ...], count: int) -> list[Pending]:
        if not self._run:
            return distinct(chance, masses, count) if count > 1 else [chosen(chance, masses)]
        (before, winner), *others = self._run.items()
        if others or count > 1:
            raise chance.refused("it draws with several other chances after the same seed")

        def token() -> int:
            law = GumbelCoupling(np.array(before), np.array(masses), 1, normalize=True)
            return chance.choose(law.kernel([winner[0].value()]).tolist())

        return [Pending(token)]
