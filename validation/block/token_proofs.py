"""Appendix A: the distribution of the accepted length of token-level verification."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from otspec.arithmetic import Number
from validation.block.checks import OnModels, over_models
from validation.verified_blocks import common_chances, common_prefix, least_chances, outcomes
from validation.models import LanguageModel, Prefix, prefixes, prefixes_up_to
from validation.block_algorithms import residual_token, token_verify
from validation.claim import Claim, Corrected, equal
from validation.notation import ONE, ZERO, total


def _rejected_is_not_drawn(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for x in prefixes_up_to(target.n, length - 1, 0):
        for token, chance in enumerate(residual_token(target, draft, x)):
            if chance:
                equal(target(x)[token] > draft(x)[token], True, f"(1) draws {token} after {x}")
    for each in outcomes(token_verify, target, draft, length):
        beta = common_prefix(each.draft, each.output)
        equal(beta, each.accepted, f"beta of {each.draft} and {each.output}")
    return ZERO


def _chance(target: LanguageModel, draft: LanguageModel, block: Prefix, i: int) -> Fraction:
    """Return min(1, M_b(x_i | x^{i-1}) / M_s(x_i | x^{i-1})), i from 1."""
    before, token = block[: i - 1], block[i - 1]
    return min(ONE, target(before)[token] / draft(before)[token])


def _chances(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Fraction:
    places = range(1, len(block) + 1)
    return prod((_chance(target, draft, block, i) for i in places), start=ONE)


def _lemma_4(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for block in draft.blocks(length):
        law = [ZERO] * (length + 1)
        for branch in token_verify(target, draft, block):
            law[branch.accepted] += branch.mass
        for tau in range(length):
            rejected = 1 - _chance(target, draft, block, tau + 1)
            claimed = _chances(target, draft, block[:tau]) * rejected
            equal(law[tau], claimed, f"Pr(tau = {tau} | X^L = {block})")
        equal(law[length], _chances(target, draft, block), f"Pr(tau = L | X^L = {block})")
    return ZERO


def _product_of_draft(last: int) -> OnModels:
    """Return the check of the fourth line for Pr(tau = l), M_s multiplied up to l + ``last``."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        found = outcomes(token_verify, target, draft, length)
        for tau in range(length):
            # Where M_s(x^{l+1}) is 0 the ratios of the line are not defined: no draft is there.
            claimed = total(
                draft.mass(x[: tau + last])
                * _chances(target, draft, x[:tau])
                * (1 - _chance(target, draft, x, tau + 1))
                for x in draft.blocks(tau + 1)
            )
            drawn = found.mass(lambda each, tau=tau: each.accepted == tau)
            equal(drawn, claimed, f"Pr(tau = {tau})")
        return ZERO

    return slack


def _common(target: LanguageModel, draft: LanguageModel, depth: int) -> Fraction:
    return total(least_chances(target, draft, x) for x in prefixes(target.n, depth))


def _law_of_tau(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(token_verify, target, draft, length)
    common = [_common(target, draft, depth) for depth in range(length + 1)]
    for tau in range(length + 1):
        drawn = found.mass(lambda each, tau=tau: each.accepted == tau)
        more = common[tau + 1] if tau < length else ZERO
        equal(drawn, common[tau] - more, f"Pr(tau = {tau})")
    return equal(found.mean_accepted(), common_chances(target, draft, length), "E[tau]")


CLAIMS = (
    Claim(
        "block.appAa",
        "Appendix A, first paragraph",
        r"The residual (1) is supported where $M_b > M_s$, so that $Y_{\tau+1} \ne X_{\tau+1}$ "
        r"and $\beta(X^L, Y^L) = \tau$ for TokenVerify.",
        over_models(_rejected_is_not_drawn),
    ),
    Claim(
        "block.lem4",
        "Lemma 4, appendix A",
        r"For TokenVerify and $\ell < L$, with $r_i = \min(1, M_b(x_i | x^{i-1}) / M_s(x_i | "
        r"x^{i-1}))$: $\Pr(\tau = \ell | X^L = x^L) = (1 - r_{\ell+1}) \prod_{i \le \ell} r_i$, "
        r"and $\Pr(\tau = L | X^L = x^L) = \prod_{i \le L} r_i$.",
        over_models(_lemma_4),
    ),
    Claim(
        "block.appAb",
        "Appendix A, proof of theorem 2, fourth line for Pr(τ = ℓ)",
        r"$\Pr(\tau = \ell) = \sum_{x^{\ell+1}} \prod_{i=1}^{\ell} M_s(x_i | x^{i-1}) "
        r"\prod_{i=1}^{\ell} r_i \, (1 - r_{\ell+1})$ for $\ell < L$.",
        over_models(_product_of_draft(0)),
        corrected=Corrected(
            r"The product of $M_s$ goes to $\ell + 1$: $\Pr(X^{\ell+1} = x^{\ell+1}) = "
            r"\prod_{i=1}^{\ell+1} M_s(x_i | x^{i-1})$. The next line is right again.",
            over_models(_product_of_draft(1)),
        ),
    ),
    Claim(
        "block.appAc",
        "Appendix A, proof of theorem 2, last lines",
        r"With $c_\ell = \sum_{x^\ell} \prod_{i \le \ell} \min(M_b, M_s)$: $\Pr(\tau = \ell) = "
        r"c_\ell - c_{\ell+1}$ for $\ell < L$, $\Pr(\tau = L) = c_L$, and $E[\tau] = "
        r"\sum_{\ell=1}^L c_\ell$.",
        over_models(_law_of_tau),
    ),
)
