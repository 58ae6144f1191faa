"""The random calls of NumPy, as branches: its generators, and the functions of its module."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from otspec.conformance.following.order import distinct
from otspec.conformance.following.running import current
from otspec.conformance.following.symbols import exponential_number, gumbel_number, uniform_number
from otspec.conformance.following.torch.ledger import objects

_SUM = 1e-8
"""How far from 1 NumPy lets probabilities sum."""


class Draws:
    """Random calls under the names that NumPy has for them; sizes as there."""

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Return uniform numbers."""
        del dtype
        return _stored(_filled(size if out is None else out.shape, _uniform), out)

    def random_sample(self, size: Any = None) -> Any:
        """Return uniform numbers."""
        return _filled(size, _uniform)

    sample = ranf = random_sample

    def rand(self, *shape: int) -> Any:
        """Return uniform numbers."""
        return _filled(shape or None, _uniform)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return uniform numbers between two bounds."""
        low, high = _numbers(low), _numbers(high)
        size = size if size is not None else _shape(low, high)
        return _filled(size, _uniform) * (high - low) + low

    def standard_exponential(self, size: Any = None, *_: Any, out: Any = None, **__: Any) -> Any:
        """Return exponential numbers."""
        return _stored(_filled(size if out is None else out.shape, _exponential), out)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Return exponential numbers of a mean."""
        scale = _numbers(scale)
        return _filled(_shape(scale) if size is None else size, _exponential) * scale

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return Gumbel numbers."""
        loc, scale = _numbers(loc), _numbers(scale)
        size = size if size is not None else _shape(loc, scale)
        return _filled(size, lambda: gumbel_number(current())) * scale + loc

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *_: Any, **__: Any
    ) -> Any:
        """Return elements of an array, or integers below a number."""
        items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        masses = [1] * len(items) if p is None else _masses(p, len(items))
        if replace:
            places = _filled(size, lambda: current().choose(masses))
        else:
            count = 1 if size is None else int(np.prod(size))
            if count > sum(mass > 0 for mass in masses):
                raise ValueError("Fewer non-zero entries in p than size")
            drawn = objects(
                [each.value() for each in distinct(current(), masses, count)],
                () if size is None else tuple(np.atleast_1d(size)),
            )
            places = drawn.item() if size is None else drawn
        chosen = items[np.asarray(places, dtype=int)]
        return chosen.item() if size is None and np.ndim(chosen) == 0 else chosen

    def permutation(self, x: Any) -> Any:
        """Return the elements of an array, or the integers below a number, in random order."""
        return self.choice(x, len(np.arange(x) if np.ndim(x) == 0 else x), replace=False)

    def shuffle(self, x: Any) -> None:
        """Put an array into random order."""
        x[:] = self.permutation(x)

    def multinomial(self, n: int, pvals: Any, size: Any = None) -> Any:
        """Return how often each of some outcomes comes in n draws."""
        *first, _ = _masses(pvals, len(pvals), least_sum=0)
        masses = [*first, max(1 - sum(first), 0)]
        shape = () if size is None else tuple(np.atleast_1d(size))
        counts = np.zeros((*shape, len(masses)), dtype=int)
        for row in counts.reshape(-1, len(masses)):
            for _draw in range(n):
                row[current().choose(masses)] += 1
        return counts

    def binomial(self, n: int, p: float, size: Any = None) -> Any:
        """Return how many of n trials succeed."""
        count = _filled(size, lambda: sum(current().accept(p) for _ in range(n)))
        return count if size is None else count.astype(int)

    def randint(self, low: int, high: int | None = None, size: Any = None, dtype: Any = int) -> Any:
        """Return integers from a range without its end."""
        low, high = (0, low) if high is None else (low, high)
        drawn = _filled(size, lambda: low + current().choose([1] * (high - low)))
        return drawn if size is None else drawn.astype(dtype)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: Any = int,
        endpoint: bool = False,
    ) -> Any:
        """Return integers from a range."""
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
    """A generator whose numbers are branches, of whatever code is followed."""

    def __init__(self, *_: Any) -> None:
        super().__init__(np.random.PCG64(0))


class FollowedState(_Refusing, np.random.RandomState):  # type: ignore[misc] # fewer arguments
    """The same of the older kind."""

    def __init__(self, *_: Any) -> None:
        super().__init__(0)


def numpy_functions() -> dict[str, Callable[..., Any]]:
    """Return what stands for the functions and classes of ``numpy.random``."""
    followed = FollowedState()

    def refusing(name: str) -> Callable[..., Any]:
        def refuse(*_: Any, **__: Any) -> Any:
            raise current().refused(f"it uses numpy.random.{name}")

        return refuse

    table: dict[str, Callable[..., Any]] = {}
    for name in np.random.__all__:
        function = getattr(np.random, name)
        if hasattr(Draws, name):
            table[name] = getattr(followed, name)
        elif not isinstance(function, type) and callable(function):
            table[name] = refusing(name)
    return {
        **table,
        "default_rng": lambda seed=None: (
            seed if isinstance(seed, FollowedGenerator) else FollowedGenerator()
        ),
        "Generator": FollowedGenerator,
        "RandomState": FollowedState,
    }


def _uniform() -> Any:
    return uniform_number(current())


def _exponential() -> Any:
    return exponential_number(current())


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
