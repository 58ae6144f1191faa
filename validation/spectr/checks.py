"""Checks over the instances of this paper: values of rho, couplings, language models."""

from __future__ import annotations

from functools import partial

from validation import checks
from validation.checks import FEW, RANGE, Slack, over
from validation.claim import Check
from validation.spectr.couplings import coupling_cases
from validation.spectr.printed import rho_cases
from validation.spectr.sequences import model_cases

over_pairs = partial(checks.over_pairs, enumerated=FEW)
over_cases = partial(checks.over_cases, enumerated=FEW, scope=RANGE)


def over_rhos(slack: Slack, ks: tuple[int, ...] = (1, 2, 3), most_tokens: int = 3) -> Check:
    """Return a check over pairs, numbers of drafts and values of ρ."""
    scope = f"{RANGE.format(n=most_tokens, least=min(ks), most=max(ks))}, rho in [1, k + 1]"
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
