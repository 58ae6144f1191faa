"""What the formulas of all papers are made of, on fractions: sums, laws of drafts, couplings.

Nothing here calls the package.
"""

import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, permutations, product
from math import prod
from typing import Any, TypeVar

from validation.claim import equal
from validation.domains import Exact

ZERO, ONE = Fraction(0), Fraction(1)

Tokens = tuple[int, ...]
Table = dict[Tokens, Fraction]
"""A draft law: the tuples of positive probability with their probabilities."""
Coupling = dict[tuple[Tokens, int], Fraction]
"""The joint law of drafts and output."""

Key = TypeVar("Key", bound=Hashable)
Law = Mapping[Any, Fraction]
Joint = dict[tuple[Any, Any], Fraction]


def total(masses: Iterable[Fraction]) -> Fraction:
    """Return the sum as a fraction, also of nothing."""
    return sum(masses, ZERO)


def mass_of(law: Sequence[Fraction], tokens: Iterable[int]) -> Fraction:
    """Return the probability of a set of tokens."""
    return total(law[token] for token in tokens)


def collect(parts: Iterable[tuple[Key, Fraction]]) -> dict[Key, Fraction]:
    """Return a law from its parts: masses of equal keys add up, the impossible is left out."""
    law: dict[Key, Fraction] = {}
    for key, mass in parts:
        if mass:
            law[key] = law.get(key, ZERO) + mass
    return law


def subsets(n: int) -> Iterator[Tokens]:
    """Yield all sets of tokens, the smallest first."""
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def support(draft: Sequence[Fraction]) -> int:
    """Return how many tokens can be drafted."""
    return sum(mass > 0 for mass in draft)


def positive(first: Sequence[Fraction], second: Sequence[Fraction]) -> Exact:
    """Return (first − second)₊ for each token."""
    return tuple(max(one - other, ZERO) for one, other in zip(first, second, strict=True))


def normalized(weights: Sequence[Fraction]) -> Exact:
    """Return weights scaled to sum 1; nothing stays nothing."""
    scale = total(weights)
    return tuple(weight / scale for weight in weights) if scale else tuple(weights)


def overlap(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return Σ min of two laws: 1 less their total variation."""
    return total(map(min, first, second))


def total_variation(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return half the sum of the absolute differences."""
    return total(abs(one - other) for one, other in zip(first, second, strict=True)) / 2


def independent(drafts: Sequence[Sequence[Fraction]]) -> Table:
    """Return the law of drafts that are drawn from a distribution each: P(x) = Π p_i(x_i)."""
    possible = [[token for token, mass in enumerate(draft) if mass] for draft in drafts]
    return {
        x: prod((draft[token] for draft, token in zip(drafts, x, strict=True)), start=ONE)
        for x in product(*possible)
    }


@lru_cache(maxsize=4096)
def iid(draft: Exact, k: int) -> Mapping[Tokens, Fraction]:
    """Return the law of k independent drafts of one distribution."""
    return independent([draft] * k)


def distinct(draft: Sequence[Fraction], k: int) -> Table:
    """Return the law of k drafts, each drawn from what the earlier ones left."""
    table: Table = {}
    for x in permutations([token for token, mass in enumerate(draft) if mass], k):
        table[x], left = ONE, ONE
        for token in x:
            table[x] *= draft[token] / left
            left -= draft[token]
    return table


def corner(rows: Iterable[tuple[Any, Fraction]], columns: Iterable[tuple[Any, Fraction]]) -> Joint:
    """Return the coupling that fills the table from its first corner: row by row, in order."""
    needed, found = dict(columns), {}
    for row, mass in rows:
        left = mass
        for column, open_mass in needed.items():
            moved = min(left, open_mass)
            if moved:
                found[row, column] = moved
                left, needed[column] = left - moved, open_mass - moved
    return found


def blurred(coupling: Law, rows: Law, columns: Law, share: Fraction) -> Joint:
    """Return a coupling mixed with the product of its marginals, which has this share."""
    return {
        (row, column): share * mass * other + (1 - share) * coupling.get((row, column), ZERO)
        for row, mass in rows.items()
        for column, other in columns.items()
    }


def accepted(coupling: Mapping[tuple[Tokens, int], Fraction]) -> Fraction:
    """Return the probability that the output is one of the drafts."""
    return total(mass for (x, y), mass in coupling.items() if y in x)


def as_row(law: Mapping[int, Fraction], n: int) -> Exact:
    """Return the probabilities of n tokens in order."""
    return tuple(law.get(token, ZERO) for token in range(n))


def marginals(coupling: Mapping[tuple[Tokens, int], Fraction], n: int) -> tuple[Table, Exact]:
    """Return the law of the drafts and the law of the output."""
    drafts = collect((x, mass) for (x, _), mass in coupling.items())
    return drafts, as_row(collect((y, mass) for (_, y), mass in coupling.items()), n)


def same(found: Sequence[Fraction], claimed: Sequence[Fraction], what: str) -> Fraction:
    """Return slack 0, or fail at the first token where two lists differ."""
    for token, (one, other) in enumerate(zip(found, claimed, strict=True)):
        equal(one, other, f"{what} of token {token}")
    return ZERO


def some_coupling(first: Law, second: Law, order: int) -> Joint:
    """Return one coupling of many: a vertex for even orders, halfway to independence for odd ones.

    The vertex fills the table from its first corner, with its lines as they come for 0 and 1, and
    else in an order drawn with this seed."""
    rows, columns = list(first), list(second)
    if order > 1:
        shuffled = random.Random(order // 2)  # noqa: S311
        shuffled.shuffle(rows)
        shuffled.shuffle(columns)
    vertex = corner(((x, first[x]) for x in rows), ((y, second[y]) for y in columns))
    return vertex if order % 2 == 0 else blurred(vertex, first, second, Fraction(1, 2))
