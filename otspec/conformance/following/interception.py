"""The random calls of PyTorch, NumPy and ``random`` are branches while a context is open."""

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from otspec.chance import Branch, CannotFollowError
from otspec.conformance.following.numpy_draws import numpy_functions
from otspec.conformance.following.order import distinct
from otspec.conformance.following.streams import check_nothing_runs, current, refusing, running
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
        return uniform_number(current())

    def uniform(self, a: Any, b: Any) -> Any:
        return uniform_number(current()) * (b - a) + a

    def expovariate(self, lambd: Any = 1.0) -> Any:
        return exponential_number(current()) / lambd

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        if cum_weights is not None:
            weights = [high - low for low, high in pairwise([0, *cum_weights])]
        if weights is None:
            weights = [1] * len(population)
        masses = [w.item() if hasattr(w, "item") else w for w in weights]
        return [population[current().choose(masses)] for _ in range(k)]

    def choice(self, seq: Any) -> Any:
        return seq[current().choose([1] * len(seq))]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        if counts is not None:
            raise current().refused("it uses random.sample with counts=")
        places = distinct(current(), [1] * len(population), k)
        return [population[place.value()] for place in places]

    def shuffle(self, x: Any) -> None:
        x[:] = self.sample(x, len(x))

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return int(self.choice(range(start) if stop is None else range(start, stop, step)))

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of some bits: what all other functions are made of."""
        return self.randrange(1 << k) if k <= _MOST_BITS else refusing("random.getrandbits")()


_MOST_BITS = 16
_FOLLOWED = [name for name in vars(FollowedRandom) if not name.startswith("_")]
_CLASSES = ("Random", "SystemRandom")


@cache  # a generator without a seed has no state
def random_functions() -> dict[str, Callable[..., Any]]:
    """Return what stands for the functions and classes of ``random``."""
    followed = FollowedRandom()
    return {
        **{name: refusing(f"random.{name}") for name in random.__all__},
        **{name: getattr(followed, name) for name in _FOLLOWED},
        **dict.fromkeys(_CLASSES, FollowedRandom),
    }


@contextmanager
def intercepted(chance: Branch) -> Iterator[Callable[[Any], Any]]:
    """Let random calls be branches, inside :func:`nothing_escapes`; give what reads answers."""
    # PyTorch is asked to tell of its calls, in this thread, and `torch.manual_seed` is replaced.
    with ExitStack() as stack:
        stack.enter_context(running(chance))
        if "torch" not in sys.modules:
            yield lambda answer: answer
            return
        from otspec.conformance.following.torch.ledger import Ledger
        from otspec.conformance.following.torch.streams import TorchStreams
        from otspec.conformance.following.torch.table import torch_mode

        streams, torch = TorchStreams(chance), sys.modules["torch"]
        ledger = Ledger(streams)
        stack.callback(streams.put_back)
        for module in (torch, torch.random):
            stack.enter_context(_replaced(module, {"manual_seed": streams.begin}))
        stack.enter_context(torch_mode()(ledger))
        yield ledger.read


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
    """Refuse code that draws, or seeds, random numbers which are not intercepted."""
    # The functions of `numpy.random` and `random` are replaced, for all threads, and put back
    # whatever happens. The states of the generators that a process shares are compared.
    check_nothing_runs()
    generators = _generators()
    before = {name: read() for name, (read, _) in generators.items()}
    changed = []
    try:
        with _replaced(np.random, numpy_functions()), _replaced(random, random_functions()):
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
