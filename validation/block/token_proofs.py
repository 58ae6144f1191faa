"""Appendix A: the distribution of the accepted length of token-level verification."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checking import OnModels, every_pair
from validation.block.couplings import (
    common_chances,
    common_prefix,
    least_chances,
    mean_accepted,
    outcomes,
    total,
)
from validation.block.models import LanguageModel, Prefix, prefixes
from validation.block.printed import residual_token, token_verify
from validation.claim import Claim, Corrected, equal


def _rejected_is_not_drawn(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for depth in range(length):
        for x in prefixes(target.n, depth):
            for token, chance in enumerate(residual_token(target, draft, x)):
                if chance:
                    equal(target(x)[token] > draft(x)[token], True, f"(1) draws {token} after {x}")
    for each in outcomes(token_verify, target, draft, length):
        beta = common_prefix(each.draft, each.output)
        equal(beta, each.accepted, f"beta of {each.draft} and {each.output}")
    return Fraction(0)


def _chance(target: LanguageModel, draft: LanguageModel, block: Prefix, i: int) -> Fraction:
    """Return min(1, M_b(x_i | x^{i-1}) / M_s(x_i | x^{i-1})), i from 1."""
    before, token = block[: i - 1], block[i - 1]
    return min(Fraction(1), target(before)[token] / draft(before)[token])


def _chances(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Fraction:
    product = Fraction(1)
    for i in range(1, len(block) + 1):
        product *= _chance(target, draft, block, i)
    return product


def _lemma_4(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for block in draft.blocks(length):
        law = [Fraction(0)] * (length + 1)
        for branch in token_verify(target, draft, block):
            law[branch.accepted] += branch.mass
        for tau in range(length):
            rejected = 1 - _chance(target, draft, block, tau + 1)
            claimed = _chances(target, draft, block[:tau]) * rejected
            equal(law[tau], claimed, f"Pr(tau = {tau} | X^L = {block})")
        equal(law[length], _chances(target, draft, block), f"Pr(tau = L | X^L = {block})")
    return Fraction(0)


def _product_of_draft(last: int) -> OnModels:
    """Return the check of the fourth line for Pr(tau = l), M_s multiplied up to l + ``last``."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        found = outcomes(token_verify, target, draft, length)
        for tau in range(length):
            # Where M_s(x^{l+1}) is 0 the ratios of the line are not defined: no draft is there.
            claimed = sum(
                (
                    draft.mass(x[: tau + last])
                    * _chances(target, draft, x[:tau])
                    * (1 - _chance(target, draft, x, tau + 1))
                    for x in draft.blocks(tau + 1)
                ),
                Fraction(0),
            )
            drawn = total(each for each in found if each.accepted == tau)
            equal(drawn, claimed, f"Pr(tau = {tau})")
        return Fraction(0)

    return slack


def _common(target: LanguageModel, draft: LanguageModel, depth: int) -> Fraction:
    terms = (least_chances(target, draft, x) for x in prefixes(target.n, depth))
    return sum(terms, Fraction(0))


def _law_of_tau(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(token_verify, target, draft, length)
    common = [_common(target, draft, depth) for depth in range(length + 1)]
    for tau in range(length + 1):
        drawn = total(each for each in found if each.accepted == tau)
        more = common[tau + 1] if tau < length else Fraction(0)
        equal(drawn, common[tau] - more, f"Pr(tau = {tau})")
    return equal(mean_accepted(found), common_chances(target, draft, length), "E[tau]")


CLAIMS = (
    Claim(
        id="block.appAa",
        where="Appendix A, first paragraph",
        statement=(
            "The residual (1) is supported where $M_b > M_s$, so that $Y_{\\tau+1} \\ne "
            "X_{\\tau+1}$ and $\\beta(X^L, Y^L) = \\tau$ for TokenVerify."
        ),
        check=every_pair(_rejected_is_not_drawn),
    ),
    Claim(
        id="block.lem4",
        where="Lemma 4, appendix A",
        statement=(
            "For TokenVerify and $\\ell < L$, with $r_i = \\min(1, M_b(x_i | x^{i-1}) / M_s(x_i | "
            "x^{i-1}))$: $\\Pr(\\tau = \\ell | X^L = x^L) = (1 - r_{\\ell+1}) \\prod_{i \\le "
            "\\ell} r_i$, and $\\Pr(\\tau = L | X^L = x^L) = \\prod_{i \\le L} r_i$."
        ),
        check=every_pair(_lemma_4),
    ),
    Claim(
        id="block.appAb",
        where="Appendix A, proof of theorem 2, fourth line for Pr(τ = ℓ)",
        statement=(
            "$\\Pr(\\tau = \\ell) = \\sum_{x^{\\ell+1}} \\prod_{i=1}^{\\ell} M_s(x_i | x^{i-1}) "
            "\\prod_{i=1}^{\\ell} r_i \\, (1 - r_{\\ell+1})$ for $\\ell < L$."
        ),
        check=every_pair(_product_of_draft(0)),
        corrected=Corrected(
            "The product of $M_s$ goes to $\\ell + 1$: $\\Pr(X^{\\ell+1} = x^{\\ell+1}) = "
            "\\prod_{i=1}^{\\ell+1} M_s(x_i | x^{i-1})$. The next line is right again.",
            every_pair(_product_of_draft(1)),
        ),
    ),
    Claim(
        id="block.appAc",
        where="Appendix A, proof of theorem 2, last lines",
        statement=(
            "With $c_\\ell = \\sum_{x^\\ell} \\prod_{i \\le \\ell} \\min(M_b, M_s)$: $\\Pr(\\tau = "
            "\\ell) = c_\\ell - c_{\\ell+1}$ for $\\ell < L$, $\\Pr(\\tau = L) = c_L$, and "
            "$E[\\tau] = \\sum_{\\ell=1}^L c_\\ell$."
        ),
        check=every_pair(_law_of_tau),
    ),
)
