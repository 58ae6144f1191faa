"""Instances of this paper: digits for kernels and couplings, different drafts, variables held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from validation import checks
from validation.checks import FEW, RANGE, Slack, over
from validation.claim import Check
from validation.instances import cases, pairs, random_distribution

FREE = 5
"""The digit of a pair whose variables are eliminated; others are fourths of 2 p_i p_j."""

Digits = tuple[int, ...]
Instances = Iterator[dict[str, Any]]

over_pairs = partial(checks.over_pairs, enumerated=FEW)
over_cases = partial(checks.over_cases, most_tokens=3, enumerated=FEW, scope=RANGE)


def with_digits(base: Iterable[dict[str, Any]], seed: int, largest: int, length: int) -> Instances:
    """Add a list of digits to each instance, ``digits``: all ones to the first few."""
    rng = np.random.default_rng([seed, largest])
    for number, instance in enumerate(base):
        digits = (
            (1,) * length if number < 20 else tuple(rng.integers(0, largest + 1, length).tolist())
        )
        yield {**instance, "digits": digits}


def over_digits(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 3) -> Check:
    """Return a check over pairs, numbers of drafts and the digits of a kernel or a coupling."""
    return over(
        lambda seed: with_digits(cases(seed, ks, most_tokens, enumerated=FEW), seed, 4, 7),
        slack,
        RANGE.format(n=most_tokens, least=min(ks), most=max(ks)),
    )


def over_held(slack: Slack, most_tokens: int = 4, fewest_tokens: int = 2) -> Check:
    """Return a check over pairs with some variables eliminated and others held at fourths."""
    exactly = fewest_tokens == most_tokens
    return over(
        lambda seed: with_digits(
            pairs(seed, most_tokens, fewest_tokens, enumerated=FEW), seed, FREE, 6
        ),
        slack,
        f"n {'=' if exactly else '<='} {most_tokens}, variables held at fourths of their range",
    )


def with_free(slack: Slack, most_tokens: int = 4) -> Check:
    """Return a check over pairs with 0 to n tokens in the linear program, ``free``."""

    def instances(seed: int) -> Instances:
        for pair in pairs(seed, most_tokens, enumerated=FEW):
            for free in range(len(pair["draft"]) + 1):
                yield {**pair, "free": free}

    return over(instances, slack, f"n <= {most_tokens}, 0 <= s <= n")


def three_laws(seed: int, most_tokens: int = 3) -> Instances:
    """Yield ``first``, ``second`` and ``target``: small ones at first."""
    rng = np.random.default_rng([seed, 3])
    largest = 1.0
    while True:
        largest = min(largest * 1.01, 20)
        n = int(rng.integers(1 if largest > 2 else 2, most_tokens + 1))
        laws = [random_distribution(rng, n, int(largest)) for _ in range(3)]
        yield dict(zip(("first", "second", "target"), laws, strict=True))


def over_three(slack: Slack, most_tokens: int = 3) -> Check:
    """Return a check over two drafts and a target."""
    return over(lambda seed: three_laws(seed, most_tokens), slack, f"k = 2, n <= {most_tokens}")


def three_with_free(slack: Slack, most_tokens: int = 3) -> Check:
    """Return a check over two drafts, a target and the number of tokens in the program."""

    def instances(seed: int) -> Instances:
        for laws in three_laws(seed, most_tokens):
            for free in range(len(laws["target"]) + 1):
                yield {**laws, "free": free}

    return over(instances, slack, f"k = 2, n <= {most_tokens}, 0 <= s <= n")


def equal_pairs(seed: int) -> Instances:
    """Yield pairs with p = q."""
    for pair in islice(pairs(seed), 10_000):
        yield {"draft": pair["target"], "target": pair["target"]}
