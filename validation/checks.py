"""Checks of a claim over the usual instances: all that are small, then random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from otspec.arithmetic import Number
from validation.claim import Check
from validation.instances import ENUMERATED, cases, pairs

Slack = Callable[..., Number | None]
"""The keywords of an instance → by how much the claim holds; None where it says nothing."""
Instances = Iterable[Mapping[str, Any]]

FEW = 150
"""Pairs from the enumeration, so that random ones are reached as well."""
RANGE = "n <= {n}, {least} <= k <= {most}"
"""The scope of some numbers of drafts."""


def over(instances: Callable[[int], Instances], slack: Slack, scope: str) -> Check:
    """Return a check over instances that are made from the seed of the search."""
    return lambda search: search.every(instances(search.seed), slack, scope=scope)


def over_all(instances: Callable[[], Instances], slack: Slack, scope: str) -> Check:
    """Return a check over instances without chance."""
    return over(lambda _: instances(), slack, scope)


def over_pairs(
    slack: Slack,
    most_tokens: int = 4,
    fewest_tokens: int = 1,
    *,
    enumerated: int = ENUMERATED,
    scope: str = "",
) -> Check:
    """Return a check over drafts and targets."""
    told = scope or f"n {'=' if fewest_tokens == most_tokens else '<='} {most_tokens}"
    return over(lambda seed: pairs(seed, most_tokens, fewest_tokens, enumerated), slack, told)


def over_cases(
    slack: Slack,
    ks: tuple[int, ...] = (1, 2, 3),
    most_tokens: int = 4,
    fewest_tokens: int = 1,
    *,
    enumerated: int = ENUMERATED,
    scope: str = "n <= {n}, k <= {most}",
) -> Check:
    """Return a check over drafts, targets and numbers of drafts."""
    told = scope.format(n=most_tokens, least=min(ks), most=max(ks))
    return over(lambda seed: cases(seed, ks, most_tokens, fewest_tokens, enumerated), slack, told)
