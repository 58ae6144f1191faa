"""Instances for SpecHub: pairs in which any of the likeliest tokens is the hub, and joint laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice, product
from typing import Any

import numpy as np

from otspec.arithmetic import Number
from validation.claim import Check
from validation.instances import (
    ENUMERATED,
    Exact,
    cases,
    distributions,
    pairs,
    random_distribution,
    random_pairs,
)

Slack = Callable[..., Number | None]


def smallest_hub_pairs(most_tokens: int, fewest_tokens: int = 2) -> Iterator[dict[str, Any]]:
    """Yield pairs by n + both denominators; token 0 is the hub, the others are interchangeable."""
    for size in range(4, 40):
        for n in range(fewest_tokens, most_tokens + 1):
            for first in range(1, size - n):
                for draft, target in product(
                    distributions(n, first), distributions(n, size - n - first)
                ):
                    others = list(zip(draft[1:], target[1:], strict=True))
                    if draft[0] == max(draft) and others == sorted(others, reverse=True):
                        yield {"draft": draft, "target": target}


def hub_pairs(seed: int, most_tokens: int = 4, fewest_tokens: int = 2) -> Iterator[dict[str, Any]]:
    """Yield the smallest pairs in which the hub is not certain, then random ones without end."""
    every = chain(
        islice(smallest_hub_pairs(most_tokens, fewest_tokens), ENUMERATED),
        random_pairs(seed, most_tokens, fewest_tokens),
    )
    return (pair for pair in every if max(pair["draft"]) < 1)


def joints(seed: int, enumerated: int = ENUMERATED) -> Iterator[dict[str, Any]]:
    """Yield any joint law of k drafts, its masses in the order of the tuples, and a target.

    The smallest first, then random ones without end.
    """
    return chain(islice(_smallest_joints(), enumerated), _random_joints(seed))


def _smallest_joints() -> Iterator[dict[str, Any]]:
    for size in range(2, 40):
        for n, k in ((1, 1), (1, 2), (2, 1), (3, 1), (2, 2)):
            for first in range(1, size - n - k):
                for joint, target in product(
                    distributions(n**k, first), distributions(n, size - n - k - first)
                ):
                    yield {"joint": joint, "target": target, "k": k}


def _random_joints(seed: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    shapes = ((2, 2), (3, 1), (2, 2), (3, 2), (2, 3))
    while True:
        n, k = shapes[int(rng.integers(len(shapes)))]
        yield {
            "joint": random_distribution(rng, n**k, 6),
            "target": random_distribution(rng, n, 6),
            "k": k,
        }


def drafts(seed: int, most_tokens: int) -> Iterator[Exact]:
    """Yield the smallest drafts, then random ones without end."""
    for size in range(2, 9):
        for n in range(1, min(size - 1, most_tokens) + 1):
            yield from distributions(n, size - n)
    rng = np.random.default_rng(seed)
    while True:
        yield random_distribution(rng, int(rng.integers(1, most_tokens + 1)), 9)


def over_hubs(slack: Slack, most_tokens: int = 4, fewest_tokens: int = 2) -> Check:
    """Return a check over pairs with a hub that is not certain."""
    scope = f"n <= {most_tokens}, k = 2, p(a) < 1"
    return lambda search: search.every(
        hub_pairs(search.seed, most_tokens, fewest_tokens), slack, scope=scope
    )


def over_pairs(slack: Slack, most_tokens: int = 4, scope: str = "") -> Check:
    """Return a check over drafts and targets."""
    told = scope or f"n <= {most_tokens}"
    return lambda search: search.every(pairs(search.seed, most_tokens), slack, scope=told)


def over_cases(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 4) -> Check:
    """Return a check over drafts, targets and numbers of drafts."""
    scope = f"n <= {most_tokens}, k <= {max(ks)}"
    enumerated = ENUMERATED // len(ks)
    return lambda search: search.every(
        cases(search.seed, ks, most_tokens, enumerated=enumerated), slack, scope=scope
    )


def over_joints(slack: Slack) -> Check:
    """Return a check over joint laws of few tuples."""
    scope = "any draft law; n <= 3, k <= 2 or n = 2, k = 3"
    return lambda search: search.every(joints(search.seed), slack, scope=scope)


def over_drafts(slack: Slack, most_tokens: int = 5) -> Check:
    """Return a check over drafts alone."""
    scope = f"n <= {most_tokens}, k = 2"
    return lambda search: search.every(
        ({"draft": draft} for draft in drafts(search.seed, most_tokens)), slack, scope=scope
    )


def over_drafts_and_k(slack: Slack, ks: tuple[int, ...], most_tokens: int = 4) -> Check:
    """Return a check over drafts and their number."""
    scope = f"n <= {most_tokens}, k <= {max(ks)}"
    return lambda search: search.every(
        ({"draft": draft, "k": k} for draft in drafts(search.seed, most_tokens) for k in ks),
        slack,
        scope=scope,
    )


def on(instance: dict[str, Any], slack: Slack, scope: str = "the worked example") -> Check:
    """Return a check of one worked example, which says nothing about others."""

    def slack_of_it(**given: Any) -> Number | None:
        return slack(**given) if given == instance else None

    return lambda search: search.every([instance], slack_of_it, scope=scope)


def exact(*values: str) -> Exact:
    """Return a distribution written by hand."""
    return tuple(Fraction(value) for value in values)
