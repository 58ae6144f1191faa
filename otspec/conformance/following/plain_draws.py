"""The random calls of Python's own module ``random``, as branches."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

from otspec.conformance.following.order import distinct
from otspec.conformance.following.running import current
from otspec.conformance.following.symbols import exponential_number, uniform_number


class FollowedRandom(random.Random):
    """A generator whose numbers are branches, of whatever code is followed."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(0)
        if seed is not None:
            raise current().refused(
                "it makes a random.Random of a seed, whose numbers come again: let it take rng"
            )

    def random(self) -> Any:
        """Return a uniform number."""
        return uniform_number(current())

    def uniform(self, a: Any, b: Any) -> Any:
        """Return a uniform number between two bounds."""
        return uniform_number(current()) * (b - a) + a

    def expovariate(self, lambd: Any = 1.0) -> Any:
        """Return an exponential number of a rate."""
        return exponential_number(current()) / lambd

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        """Return elements, each drawn alone."""
        if cum_weights is not None:
            weights = [high - low for low, high in pairwise(accumulate([0, *cum_weights], _last))]
        masses = [1] * len(population) if weights is None else [_plain(w) for w in weights]
        return [population[current().choose(masses)] for _ in range(k)]

    def choice(self, seq: Any) -> Any:
        """Return one of some elements."""
        return seq[current().choose([1] * len(seq))]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        """Return distinct elements."""
        if counts is not None:
            raise current().refused("it uses random.sample with counts=")
        places = distinct(current(), [1] * len(population), k)
        return [population[place.value()] for place in places]

    def shuffle(self, x: Any) -> None:
        """Put a list into a random order."""
        x[:] = self.sample(x, len(x))

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Return an element of a range."""
        return int(self.choice(range(start) if stop is None else range(start, stop, step)))

    def randint(self, a: int, b: int) -> int:
        """Return an integer between two, both included."""
        return self.randrange(a, b + 1)

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of some bits: what all other functions are made of."""
        return self.randrange(1 << k) if k <= _MOST_BITS else self._refuse("getrandbits")

    def _refuse(self, name: str) -> Any:
        raise current().refused(f"it uses random.{name}")


_MOST_BITS = 16
_FOLLOWED = (
    "random", "uniform", "expovariate", "choices", "choice", "sample", "shuffle", "randrange",
    "randint", "getrandbits",
)  # fmt: skip
_CLASSES = ("Random", "SystemRandom")


def random_functions() -> dict[str, Callable[..., Any]]:
    """Return what stands for the functions and classes of ``random``."""
    followed = FollowedRandom()

    def refusing(name: str) -> Callable[..., Any]:
        def refuse(*_: Any, **__: Any) -> Any:
            raise current().refused(f"it uses random.{name}")

        return refuse

    return {
        **{name: refusing(name) for name in random.__all__},
        **{name: getattr(followed, name) for name in _FOLLOWED},
        **dict.fromkeys(_CLASSES, FollowedRandom),
    }


def _last(_: Any, weight: Any) -> Any:
    return weight


def _plain(weight: Any) -> Any:
    return weight.item() if hasattr(weight, "item") else weight
