"""Exact distributions and pairs of them, in order of size or at random."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np

Exact = tuple[Fraction, ...]


def distributions(n: int, denominator: int) -> Iterator[Exact]:
    """Yield all distributions over n tokens with this common denominator, not a smaller one."""
    for weights in product(range(denominator + 1), repeat=n - 1):
        last = denominator - sum(weights)
        if last >= 0 and np.gcd.reduce([*weights, last, denominator]) == 1:
            yield tuple(Fraction(weight, denominator) for weight in (*weights, last))


def smallest_pairs(most_tokens: int = 4, fewest_tokens: int = 1) -> Iterator[dict[str, Any]]:
    """Yield drafts and targets by n + both denominators; one pair per relabelling of tokens."""
    for size in count(2):
        for n in range(fewest_tokens, most_tokens + 1):
            for first in range(1, size - n):
                second = size - n - first
                for draft in distributions(n, first):
                    if any(draft[i] < draft[i + 1] for i in range(n - 1)):
                        continue  # descending drafts stand for all orders
                    for target in distributions(n, second):
                        if _first_of_ties(draft, target):
                            yield {"draft": draft, "target": target}


def _first_of_ties(draft: Exact, target: Exact) -> bool:
    """Whether, among tokens of equal draft mass, the targets descend."""
    return all(
        target[i] >= target[i + 1] for i in range(len(draft) - 1) if draft[i] == draft[i + 1]
    )


def random_pair(rng: np.random.Generator, n: int, largest: int) -> dict[str, Any]:
    """Return a random draft and target: dense, sparse, tied or nearly certain, some equal."""
    draft = random_distribution(rng, n, largest)
    equal = rng.integers(5) == 0
    return {"draft": draft, "target": draft if equal else random_distribution(rng, n, largest)}


def random_distribution(rng: np.random.Generator, n: int, largest: int) -> Exact:
    """Return a random exact distribution; about a third of them have zeros, some a heavy token."""
    weights = rng.integers(0 if rng.integers(3) == 0 else 1, largest + 1, n)
    if rng.integers(5) == 0:
        weights[rng.integers(n)] += 20 * largest
    if not weights.any():
        weights[rng.integers(n)] = 1
    total = int(weights.sum())
    return tuple(Fraction(int(weight), total) for weight in weights)
