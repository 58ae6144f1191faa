"""The random calls of NumPy, as branches: its generators, and the functions of its module."""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from otspec.conformance.following.order import distinct
from otspec.conformance.following.streams import Stream, current, refusing, streams
from otspec.conformance.following.symbols import exponential_number, gumbel_number, uniform_number
from otspec.conformance.following.torch.ledger import objects

_SUM = 1e-8  # NumPy allows sums of probabilities this far from 1


class Draws:
    """Random calls under the names that NumPy has for them; sizes as there."""

    _stream: Stream | None = None  # numbers of its seed; None if all its numbers are new

    def _next(self, kind: str, make: Callable[[], Any]) -> Any:
        return make() if self._stream is None else self._stream.next(current(), kind, make)

    def _uniform(self) -> Any:
        return self._next("uniform numbers", lambda: uniform_number(current()))

    def _exponential(self) -> Any:
        return self._next("exponential numbers", lambda: exponential_number(current()))

    def _gumbel(self) -> Any:
        return self._next("Gumbel numbers", lambda: gumbel_number(current()))

    def _below(self, count: int) -> Any:
        return self._next(f"integers below {count:,}", lambda: current().choose([1] * count))

    def _chosen(self, masses: list[Any]) -> int:
        """Return a place by its mass: after a seed by inversion, as NumPy has it."""
        if self._stream is None:
            return current().choose(masses)
        number, total, reached = self._uniform(), sum(masses), 0
        for place, mass in enumerate(masses[:-1]):
            reached = reached + mass
            if number < reached / total:
                return place
        return len(masses) - 1

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        del dtype
        return _stored(_filled(size if out is None else out.shape, self._uniform), out)

    def random_sample(self, size: Any = None) -> Any:
        return _filled(size, self._uniform)

    sample = ranf = random_sample

    def rand(self, *shape: int) -> Any:
        return _filled(shape or None, self._uniform)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        low, high = _numbers(low), _numbers(high)
        size = size if size is not None else _shape(low, high)
        return _filled(size, self._uniform) * (high - low) + low

    def standard_exponential(self, size: Any = None, *_: Any, out: Any = None, **__: Any) -> Any:
        return _stored(_filled(size if out is None else out.shape, self._exponential), out)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        scale = _numbers(scale)
        return _filled(_shape(scale) if size is None else size, self._exponential) * scale

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        loc, scale = _numbers(loc), _numbers(scale)
        size = size if size is not None else _shape(loc, scale)
        return _filled(size, self._gumbel) * scale + loc

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *_: Any, **__: Any
    ) -> Any:
        items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        masses = [1] * len(items) if p is None else _masses(p, len(items))
        if replace:
            draw = partial(self._below, len(items)) if p is None else partial(self._chosen, masses)
            places = _filled(size, draw)
        else:
            count = 1 if size is None else int(np.prod(size))
            if count > sum(mass > 0 for mass in masses):
                raise ValueError("Fewer non-zero entries in p than size")
            drawn = objects(
                self._next(
                    f"{count} of {masses} without replacement",
                    lambda: [each.value() for each in distinct(current(), masses, count)],
                ),
                () if size is None else tuple(np.atleast_1d(size)),
            )
            places = drawn.item() if size is None else drawn
        chosen = items[np.asarray(places, dtype=int)]
        return chosen.item() if size is None and np.ndim(chosen) == 0 else chosen

    def permutation(self, x: Any) -> Any:
        return self.choice(x, len(np.arange(x) if np.ndim(x) == 0 else x), replace=False)

    def shuffle(self, x: Any) -> None:
        x[:] = self.permutation(x)

    def multinomial(self, n: int, pvals: Any, size: Any = None) -> Any:
        *first, _ = _masses(pvals, len(pvals), least_sum=0)
        masses = [*first, max(1 - sum(first), 0)]
        shape = () if size is None else tuple(np.atleast_1d(size))
        counts = np.zeros((*shape, len(masses)), dtype=int)
        for row in counts.reshape(-1, len(masses)):
            for _draw in range(n):
                row[self._next(f"outcomes {masses}", lambda: current().choose(masses))] += 1
        return counts

    def binomial(self, n: int, p: float, size: Any = None) -> Any:
        """Return how many of n trials succeed."""

        def successes() -> int:
            return sum(current().accept(p) for _ in range(n))

        count = _filled(size, lambda: self._next(f"{n} trials of {p}", successes))
        return count if size is None else count.astype(int)

    def randint(self, low: int, high: int | None = None, size: Any = None, dtype: Any = int) -> Any:
        low, high = (0, low) if high is None else (low, high)
        drawn = _filled(size, lambda: low + self._below(high - low))
        return drawn if size is None else drawn.astype(dtype)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: Any = int,
        endpoint: bool = False,
    ) -> Any:
        low, high = (0, low) if high is None else (low, high)
        return self.randint(low, high + endpoint, size, dtype)


class _Refusing(Draws):
    """Refuses what cannot be followed, by name."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or hasattr(Draws, name):
            return super().__getattribute__(name)
        if name == "spawn":
            return lambda count: [self] * count
        raise current().refused(f"it uses {name} of NumPy's generators")


class FollowedGenerator(_Refusing, np.random.Generator):  # type: ignore[misc] # fewer arguments
    """A generator of followed numbers: new ones, or those that a seed names."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(np.random.PCG64(0))
        self._stream = _stream_of_bits(seed)


class FollowedState(_Refusing, np.random.RandomState):  # type: ignore[misc] # fewer arguments
    """The same of the older kind."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(0)
        if seed is not None:
            self._stream = streams().begin(("state", repr(seed)), f"RandomState of seed {seed}")


@cache  # a generator without a seed has no state
def numpy_functions() -> dict[str, Callable[..., Any]]:
    """Return what stands for the functions and classes of ``numpy.random``."""
    followed = FollowedState()

    table: dict[str, Callable[..., Any]] = {}
    for name in np.random.__all__:
        function = getattr(np.random, name)
        if hasattr(Draws, name):
            table[name] = getattr(followed, name)
        elif not isinstance(function, type) and callable(function):
            table[name] = refusing(f"numpy.random.{name}")
    return {
        **table,
        "default_rng": lambda seed=None: (
            seed if isinstance(seed, FollowedGenerator) else FollowedGenerator(seed)
        ),
        "Generator": FollowedGenerator,
        "RandomState": FollowedState,
    }


def _stream_of_bits(seed: Any) -> Stream | None:
    """Return the numbers of a seed, or of a generator of bits; None without any."""
    if seed is None:
        return None
    bits = seed if isinstance(seed, np.random.BitGenerator) else np.random.PCG64(seed)
    sequence: Any = bits.seed_seq
    key = (type(bits).__name__, repr(sequence.entropy), repr(sequence.spawn_key))
    return streams().begin(key, f"NumPy generator of seed {sequence.entropy}")


def _numbers(argument: Any) -> Any:
    """Return a number as it is, and a list of numbers as an array."""
    return np.asarray(argument) if np.ndim(argument) else argument


def _shape(*arguments: Any) -> tuple[int, ...] | None:
    return np.broadcast_shapes(*map(np.shape, arguments)) or None


def _filled(size: Any, make: Callable[[], Any]) -> Any:
    if size is None:
        return make()
    shape = tuple(int(length) for length in np.atleast_1d(size))
    return objects([make() for _ in range(math.prod(shape))], shape)


def _stored(values: Any, out: Any) -> Any:
    if out is None:
        return values
    out[...] = values  # refused by the numbers if the array holds floats
    return out


def _masses(p: Any, count: int, least_sum: float = 1 - _SUM) -> list[Any]:
    masses = list(np.asarray(p).tolist())
    if len(masses) != count:
        raise ValueError("a and p must have same size")
    # Written so that NaN is refused.
    if not all(mass >= 0 for mass in masses):
        raise ValueError("probabilities are not non-negative")
    if not least_sum <= sum(masses) <= 1 + _SUM:
        raise ValueError("probabilities do not sum to 1")
    return masses
