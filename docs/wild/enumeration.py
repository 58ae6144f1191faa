"""The exact law of a function that draws: it is run once for each way that its draws can go.

This shares no code with otspec. Uniform numbers are the middles of ``cells`` equal parts of
(0, 1): exact where all that they are compared with are multiples of 1/cells.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

NEAR = 5e-6
"""How far a probability in float32 may be from the fraction of small denominator that it is."""


def fraction(value: float) -> Fraction:
    """Return the fraction that a float is but for rounding: with 1 to 128, or 1024, below."""
    exact = Fraction(float(value))
    for near in (exact.limit_denominator(128), Fraction(round(exact * 1024), 1024)):
        if abs(near - exact) <= NEAR:
            return near
    raise ValueError(f"{value} is near no fraction of a small denominator")


class Draws:
    """What a function draws, in all ways one after the other."""

    def __init__(self, cells: int, unused: frozenset[int] = frozenset()) -> None:
        self.cells, self.unused = cells, unused
        self.numbers = 0
        self.path: list[tuple[int, int]] = []  # the way: which choice of how many
        self.taken = 0
        self.mass = Fraction(1)

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Draw an index by its weight."""
        total = sum(weights)
        if total <= 0:
            raise ValueError("nothing to draw from: all weights are 0")
        likely = [index for index, weight in enumerate(weights) if weight > 0]
        if self.taken == len(self.path):
            self.path.append((0, len(likely)))
        chosen = likely[self.path[self.taken][0]]
        self.taken += 1
        self.mass *= weights[chosen] / total
        return chosen

    def uniform(self) -> float:
        """Draw a number from (0, 1)."""
        self.numbers += 1
        if self.numbers - 1 in self.unused:
            return 0.5
        return (self.choose([Fraction(1)] * self.cells) + 0.5) / self.cells

    def race(self, size: int) -> list[float]:
        """Draw exponential numbers of which only the order of their ratios counts."""
        if size == 1:
            return [1.0]
        if size != 2:
            raise ValueError(f"a race of {size} tokens is no comparison with one number: take 2")
        number = self.uniform()
        return [number, 1 - number]

    def several(self, weights: Sequence[Fraction], size: int, replacement: bool) -> list[int]:
        """Draw some indices."""
        left, drawn = list(weights), []
        for _ in range(size):
            drawn.append(self.choose(left))
            left[drawn[-1]] *= replacement
        return drawn

    def next_way(self) -> bool:
        """Go on to the next way; False if there is none."""
        while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
            self.path.pop()
        if self.path:
            self.path[-1] = (self.path[-1][0] + 1, self.path[-1][1])
        self.taken, self.numbers, self.mass = 0, 0, Fraction(1)
        return bool(self.path)


def law(
    function: Callable[[], Hashable], cells: int, unused: frozenset[int] = frozenset()
) -> dict[Any, Fraction]:
    """Return the probability of each outcome of a function.

    Uniform numbers are 1/2 where their order is among the unused ones.
    """
    draws, found = Draws(cells, unused), defaultdict(Fraction)
    with drawing(draws):
        while True:
            outcome = function()
            found[outcome] += draws.mass
            if not draws.next_way():
                return dict(found)


def total_variation(one: dict[Any, Fraction], other: dict[Any, Fraction]) -> Fraction:
    """Return the total variation between two laws."""
    return sum((abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}), Fraction()) / 2


@contextmanager
def drawing(draws: Draws) -> Iterator[None]:
    """Let PyTorch, NumPy and ``random`` draw from there."""

    def fill(tensor: Any) -> Any:
        """Fill a tensor with uniform numbers."""
        numbers = [draws.uniform() for _ in range(tensor.numel())]
        return tensor.copy_(torch.tensor(numbers, dtype=torch.float64).view(tensor.shape))

    def rand(*size: Any, dtype: Any = None, **_: Any) -> Any:
        shape = size[0] if size and not isinstance(size[0], int) else size
        return fill(torch.empty(tuple(shape), dtype=dtype or torch.float32))

    def exponential(tensor: Any, *_: Any, **__: Any) -> Any:
        rows = tensor.view(-1, tensor.shape[-1])
        numbers = [draws.race(rows.shape[1]) for _ in rows]
        return tensor.copy_(torch.tensor(numbers, dtype=torch.float64).view(tensor.shape))

    def multinomial(weights: Any, num_samples: int = 1, replacement: bool = False, **_: Any) -> Any:
        rows = weights.reshape(-1, weights.shape[-1]).tolist()
        drawn = [
            draws.several([fraction(weight) for weight in row], num_samples, replacement)
            for row in rows
        ]
        return torch.tensor(drawn).view(*weights.shape[:-1], num_samples)

    def choices(population: Any, weights: Any = None, *, k: int = 1) -> list[Any]:
        each = [fraction(weight) for weight in weights or [1] * len(population)]
        return [population[index] for index in draws.several(each, k, replacement=True)]

    def choice(a: Any, size: None = None, replace: bool = True, p: Any = None) -> Any:
        if size is not None or not replace:
            raise ValueError("only one token at a time")
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        return values[
            draws.choose([fraction(w) for w in (p if p is not None else [1] * len(values))])
        ]

    def some(size: int | None = None, *_: Any) -> Any:
        return draws.uniform() if size is None else np.array([draws.uniform() for _ in range(size)])

    replaced = (
        (torch, "rand", rand),
        (
            torch,
            "rand_like",
            lambda tensor, dtype=None, **_: rand(tensor.shape, dtype=dtype or tensor.dtype),
        ),
        (torch.Tensor, "uniform_", lambda tensor, *_: fill(tensor)),
        (torch.Tensor, "exponential_", exponential),
        (torch, "multinomial", multinomial),
        (torch.Tensor, "multinomial", multinomial),
        (random, "random", draws.uniform),
        (random, "choices", choices),
        (np.random, "random", some),
        (np.random, "rand", some),
        (np.random, "uniform", lambda *_: draws.uniform()),
        (np.random, "choice", choice),
    )
    with ExitStack() as stack:
        for owner, name, function in replaced:
            stack.enter_context(patch.object(owner, name, function))
        yield
