"""Section 3.1: token-level against block-level verification."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from otspec.arithmetic import Number
from validation.block.checking import every_pair
from validation.block.couplings import (
    as_coupling,
    common_chances,
    least_chances,
    mean_accepted,
    mean_common,
    outcomes,
)
from validation.block.models import LanguageModel, prefixes
from validation.block.printed import block_verify, token_verify
from validation.claim import Claim, at_least, equal


def _theorem_2(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    pi = as_coupling(outcomes(token_verify, target, draft, length))
    return equal(mean_common(pi), common_chances(target, draft, length), "E[beta]")


def _terms(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = []
    for depth in range(1, length + 1):
        for x in prefixes(target.n, depth):
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
        for depth in range(1, length + 1)
        for x in prefixes(target.n, depth)
    )
    equal(gain > 0, differ, f"with a gain of {gain}, a strict improvement")
    return at_least(gain, Fraction(0), "gain")


def token_mean(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return E[beta] of TokenVerify."""
    return mean_common(as_coupling(outcomes(token_verify, target, draft, length)))


def block_mean(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return E[tau] of BlockVerify."""
    return mean_accepted(outcomes(block_verify, target, draft, length))


CLAIMS = (
    Claim(
        id="block.thm2",
        where="Theorem 2 and (7), section 3.1",
        statement=(
            "For the coupling of TokenVerify, $E[\\beta] = \\sum_{\\ell=1}^L \\sum_{x^\\ell} "
            "\\prod_{i \\le \\ell} \\min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))$."
        ),
        check=every_pair(_theorem_2),
    ),
    Claim(
        id="block.sec3.1a",
        where="Section 3.1, after (7)",
        statement=(
            "The terms of (6) are minima of products, $\\min(\\prod_i M_s(x_i | x^{i-1}), \\prod_i "
            "M_b(x_i | x^{i-1}))$, and at least the products of minima in (7)."
        ),
        printed=(
            "The product sign stands once, before $M_s$, and must be read over both; of the two "
            "sentences after it the second says 'token-level' for 'block-level'."
        ),
        check=every_pair(_terms),
    ),
    Claim(
        id="block.sec3.1b",
        where="Section 3.1, after (7); section 1",
        statement=(
            "Block-level verification has strictly larger $E[\\tau]$ than TokenVerify as long as "
            "there is a sequence $x^\\ell$ where the two terms differ (and only then)."
        ),
        check=every_pair(_strictly_better),
    ),
)
