"""Section 3.1: token-level against block-level verification."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from otspec.arithmetic import Number
from validation.block.checks import over_models
from validation.verified_blocks import common_chances, least_chances, outcomes
from validation.models import LanguageModel, prefixes_up_to
from validation.block_algorithms import block_verify, token_verify
from validation.claim import Claim, at_least, equal
from validation.notation import ZERO


def _theorem_2(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    pi = outcomes(token_verify, target, draft, length).coupling()
    return equal(pi.mean_common(), common_chances(target, draft, length), "E[beta]")


def _terms(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = []
    for x in prefixes_up_to(target.n, length):
        rows = [(draft(x[:i])[token], target(x[:i])[token]) for i, token in enumerate(x)]
        of_products = min(prod(one for one, _ in rows), prod(other for _, other in rows))
        equal(min(draft.mass(x), target.mass(x)), of_products, f"the term of (6) at {x}")
        product_of_least = prod(min(row) for row in rows)
        slack.append(at_least(of_products, product_of_least, f"min of products at {x}"))
    return min(slack)


def _strictly_better(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    gain = block_mean(target, draft, length) - token_mean(target, draft, length)
    differ = any(
        min(draft.mass(x), target.mass(x)) != least_chances(target, draft, x)
        for x in prefixes_up_to(target.n, length)
    )
    equal(gain > 0, differ, f"with a gain of {gain}, a strict improvement")
    return at_least(gain, ZERO, "gain")


def token_mean(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return E[beta] of TokenVerify."""
    return outcomes(token_verify, target, draft, length).coupling().mean_common()


def block_mean(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return E[tau] of BlockVerify."""
    return outcomes(block_verify, target, draft, length).mean_accepted()


CLAIMS = (
    Claim(
        "block.thm2",
        "Theorem 2 and (7), section 3.1",
        r"For the coupling of TokenVerify, $E[\beta] = \sum_{\ell=1}^L \sum_{x^\ell} \prod_{i \le "
        r"\ell} \min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))$.",
        over_models(_theorem_2),
    ),
    Claim(
        "block.sec3.1a",
        "Section 3.1, after (7)",
        r"The terms of (6) are minima of products, $\min(\prod_i M_s(x_i | x^{i-1}), \prod_i "
        "M_b(x_i | x^{i-1}))$, and at least the products of minima in (7).",
        over_models(_terms),
        printed="The product sign stands once, before $M_s$, and must be read over both; of the "
        "two sentences after it the second says 'token-level' for 'block-level'.",
    ),
    Claim(
        "block.sec3.1b",
        "Section 3.1, after (7); section 1",
        r"Block-level verification has strictly larger $E[\tau]$ than TokenVerify as long as "
        r"there is a sequence $x^\ell$ where the two terms differ (and only then).",
        over_models(_strictly_better),
    ),
)
