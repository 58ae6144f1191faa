"""PyTorch's generators: new numbers until they are seeded, then those of the seed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from otspec.chance import Branch
from otspec.conformance.following.order import Chosen, Pending, distinct
from otspec.conformance.following.streams import Stream, streams
from otspec.conformance.following.symbols import exponential_number, uniform_number
from otspec.rules import GumbelCoupling

_MAKERS = {"uniform": uniform_number, "exponential": exponential_number}
NEW = 1 << 62  # generators with this seed or more are of a check: new numbers in each call


class _Known(NamedTuple):
    """A generator other than the default one."""

    generator: Any
    before: Any  # its state when it was met, which is put back
    now: Any  # its state since it was last looked at; another one if it was seeded meanwhile
    stream: Stream | None


class TorchStreams:
    """The generators of PyTorch in one run.

    A stream is what was drawn after a seed, in order: numbers of a kind, and races. The default
    generator has new numbers until it is seeded. Any other one has a seed from the beginning.
    """

    def __init__(self, chance: Branch) -> None:
        self.chance = chance
        self._streams = streams()
        self._default: Stream | None = None
        self._now: Stream | None = None
        self._others: dict[int, _Known] = {}

    def begin(self, seed: Any) -> Any:
        """Begin a stream: what stands for ``torch.manual_seed``."""
        import torch

        self._default = self._now = self._of_seed(int(seed))
        return torch.default_generator

    def _of_seed(self, seed: int) -> Stream | None:
        return None if seed >= NEW else self._streams.begin(seed, "torch.manual_seed")

    @contextmanager
    def of(self, generator: Any) -> Iterator[None]:
        """Draw from a generator for a while."""
        import torch

        own = generator is not None and generator is not torch.default_generator
        self._now = self._stream_of(generator) if own else self._default
        try:
            yield
        finally:
            self._now = self._default

    def _stream_of(self, generator: Any) -> Stream | None:
        """Return the stream of a generator, a new one if it was seeded since it drew last."""
        import torch

        state, known = generator.get_state(), self._others.get(id(generator))
        if known is not None and torch.equal(state, known.now):
            return known.stream
        stream = self._of_seed(generator.initial_seed() % (1 << 64))
        # What is drawn here leaves its state alone: it is moved, so that a seed shows.
        torch.rand(1, generator=generator, device=generator.device)
        before = state if known is None else known.before
        self._others[id(generator)] = _Known(generator, before, generator.get_state(), stream)
        return stream

    def put_back(self) -> None:
        """Put the states of all generators back."""
        for known in self._others.values():
            known.generator.set_state(known.before)

    @property
    def seeded(self) -> bool:
        """Whether numbers follow a seed."""
        return self._now is not None

    def number(self, kind: str) -> Any:
        """Return the next number: uniform, or exponential."""
        return self._next(kind, lambda: _MAKERS[kind](self.chance))

    def tokens(self, masses: Sequence[Any], count: int, again: bool) -> list[Pending]:
        """Return tokens to be drawn with given masses; distinct ones, or each anew."""
        each = count if again else 1
        drawn = 1 if again else count
        found: list[Pending] = []
        for _ in range(each):
            race = self._next(f"race for {drawn} of {len(masses)}", _Race)
            found += race.winners(self.chance, tuple(masses), drawn)
        return found

    def _next(self, kind: str, make: Any) -> Any:
        return make() if self._now is None else self._now.next(self.chance, kind, make)


class _Race:
    """A race of exponential numbers, of which tokens are drawn: once, or with other masses again.

    Law: that of :class:`otspec.rules.GumbelCoupling`, given where E/p has its minimum.
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
            return distinct(chance, masses, count) if count > 1 else [Chosen(chance, masses)]
        (before, winner), *others = self._run.items()
        if others or count > 1:
            raise chance.refused("it draws with several other chances after the same seed")

        def token() -> int:
            law = GumbelCoupling(np.array(before), np.array(masses), 1, normalize=True)
            return chance.choose(law.kernel([winner[0].value()]).tolist())

        return [Pending(token)]
