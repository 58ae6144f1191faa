"""Checks over the usual instances of this paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from otspec.arithmetic import Number
from validation.claim import Check
from validation.instances import cases, pairs
from validation.spectr.couplings import coupling_cases
from validation.spectr.rules import rho_cases
from validation.spectr.sequences import model_cases

Slack = Callable[..., Number | None]

ENUMERATED = 150
"""Pairs from the enumeration, so that random ones are reached as well."""


def over(
    instances: Callable[[int], Iterable[Mapping[str, Any]]], slack: Slack, scope: str
) -> Check:
    """Return a check over instances that are made from the seed of the search."""
    return lambda search: search.every(instances(search.seed), slack, scope=scope)


def over_all(
    instances: Callable[[], Iterable[Mapping[str, Any]]], slack: Slack, scope: str
) -> Check:
    """Return a check over instances without chance."""
    return lambda search: search.every(instances(), slack, scope=scope)


def over_pairs(slack: Slack, most_tokens: int = 4) -> Check:
    """Return a check over drafts and targets."""
    return over(
        lambda seed: pairs(seed, most_tokens, enumerated=ENUMERATED), slack, f"n <= {most_tokens}"
    )


def over_cases(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 4) -> Check:
    """Return a check over drafts, targets and numbers of drafts."""
    scope = f"n <= {most_tokens}, {min(ks)} <= k <= {max(ks)}"
    return over(lambda seed: cases(seed, ks, most_tokens, enumerated=ENUMERATED), slack, scope)


def over_rhos(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 3) -> Check:
    """Return a check over pairs, numbers of drafts and values of ρ."""
    scope = f"n <= {most_tokens}, {min(ks)} <= k <= {max(ks)}, rho in [1, k + 1]"
    return over(lambda seed: rho_cases(seed, ks, most_tokens), slack, scope)


def over_couplings(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 3) -> Check:
    """Return a check over couplings of i.i.d. drafts and a target."""
    scope = f"n <= {most_tokens}, k <= {max(ks)}, three couplings of each pair"
    return over(lambda seed: coupling_cases(seed, ks, most_tokens), slack, scope)


def over_models(
    slack: Slack, lengths: tuple[int, ...] = (1, 2), counts: tuple[int, ...] = (1, 2)
) -> Check:
    """Return a check over pairs of language models, L, K and the plan of step 1."""
    sizes = f"{min(lengths)} <= L <= {max(lengths)}, {min(counts)} <= K <= {max(counts)}"
    scope = f"n = 2, {sizes}, Markov chains"
    return over(lambda seed: model_cases(seed, lengths, counts), slack, scope)
