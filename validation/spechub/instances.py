"""Instances for SpecHub: pairs in which any of the likeliest tokens is the hub, and joint laws."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice, product
from typing import Any

import numpy as np

from otspec.arithmetic import Number
from validation import checks
from validation.checks import Slack, over, over_all
from validation.claim import Check
from validation.instances import (
    ENUMERATED,
    Exact,
    distributions,
    random_distribution,
    random_pairs,
)

JOINTS = "any draft law; n <= 3, k <= 2 or n = 2, k = 3"
"""The scope of :func:`joints`."""


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
    return over(lambda seed: hub_pairs(seed, most_tokens, fewest_tokens), slack, scope)


def over_cases(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 4) -> Check:
    """Return a check over drafts, targets and numbers of drafts."""
    return checks.over_cases(slack, ks, most_tokens, enumerated=ENUMERATED // len(ks))


def over_joints(slack: Slack) -> Check:
    """Return a check over joint laws of few tuples."""
    return over(joints, slack, JOINTS)


def over_drafts(slack: Slack, most_tokens: int = 5) -> Check:
    """Return a check over drafts alone."""
    return over(
        lambda seed: ({"draft": draft} for draft in drafts(seed, most_tokens)),
        slack,
        f"n <= {most_tokens}, k = 2",
    )


def over_drafts_and_k(slack: Slack, ks: tuple[int, ...], most_tokens: int = 4) -> Check:
    """Return a check over drafts and their number."""
    return over(
        lambda seed: ({"draft": draft, "k": k} for draft in drafts(seed, most_tokens) for k in ks),
        slack,
        f"n <= {most_tokens}, k <= {max(ks)}",
    )


def on(instance: dict[str, Any], slack: Slack, scope: str = "the worked example") -> Check:
    """Return a check of one worked example, which says nothing about others."""

    def slack_of_it(**given: Any) -> Number | None:
        return slack(**given) if given == instance else None

    return over_all(lambda: [instance], slack_of_it, scope)


def exact(*values: str) -> Exact:
    """Return a distribution written by hand."""
    return tuple(Fraction(value) for value in values)
