"""The optimum by ways that share no code with the package: all sets, and maximum flow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import lcm

import networkx as nx

import otspec
from otspec.drafts import DraftLaw
from validation.instances import Exact

ONE = Fraction(1)


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """Yield all sets of tokens, the smallest first."""
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def bound(law: DraftLaw, target: Exact, tokens: Sequence[int]) -> Fraction:
    """Return q(A) + 1 − P(all drafts inside A), by enumerating the drafts."""
    tuples, masses = law.tuples()
    inside = sum(
        (mass for x, mass in zip(tuples.tolist(), masses, strict=True) if set(x) <= set(tokens)),
        Fraction(0),
    )
    return sum((target[y] for y in tokens), ONE) - inside


def least_bound(law: DraftLaw, target: Exact) -> Fraction:
    """Return the least bound over all token sets."""
    return min(bound(law, target, tokens) for tokens in subsets(law.n))


def flow(law: DraftLaw, target: Exact) -> Fraction:
    """Return the optimal acceptance as a maximum flow from drafts to outputs, in whole numbers."""
    tuples, masses = law.tuples()
    scale = lcm(*(each.denominator for each in (*masses.tolist(), *target)))
    network = nx.DiGraph()
    for number, (x, mass) in enumerate(zip(tuples.tolist(), masses, strict=True)):
        network.add_edge("source", ("drafts", number), capacity=int(mass * scale))
        for token in set(x):
            network.add_edge(("drafts", number), ("token", token))
    for token, mass in enumerate(target):
        network.add_edge(("token", token), "sink", capacity=int(mass * scale))
    return Fraction(nx.maximum_flow_value(network, "source", "sink"), scale)


def laws(draft: Exact, target: Exact, k: int) -> Iterator[DraftLaw]:
    """Yield a law of every kind that exists for this pair."""
    yield otspec.IID(draft, k)
    yield otspec.Independent([draft, target][:k] if k <= 2 else [draft] * (k - 1) + [target])
    support = sum(mass > 0 for mass in draft)
    if support >= k:
        yield otspec.WithoutReplacement(draft, k)
        yield otspec.TopPlusOne(draft, k)
    if support >= 2 and k == 2:
        yield otspec.Hub(draft)
