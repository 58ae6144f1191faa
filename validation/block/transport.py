"""Section 3: draft verification as a coupling of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from otspec.arithmetic import Number
from validation.block.checks import over_models, over_tables, scope_of
from validation.verified_blocks import (
    best_transport,
    common_prefix,
    outcomes,
    same_law,
    some_coupling,
    verifier_of,
)
from validation.models import SIZES, LanguageModel, models, table
from validation.checks import over_all
from validation.claim import Check, Claim, above, equal
from validation.notation import ZERO

HALF = Fraction(1, 2)


def _acceptances() -> Iterator[dict[str, Any]]:
    """Yield the probabilities a / d in (0, 1], by d."""
    seen: set[Fraction] = set()
    for d in range(1, 80):
        for a in range(1, d + 1):
            if Fraction(a, d) not in seen:
                seen.add(Fraction(a, d))
                yield {"acceptance": Fraction(a, d)}


def _remark_1(acceptance: Fraction) -> Number:
    """Accept X = 1 with some probability, then return 0 where it is rejected."""
    wanted = (HALF, HALF)
    kept = (ZERO, acceptance)  # mass of accepted samples 0 and 1
    law = tuple(mass / sum(kept) for mass in kept)
    distance = sum(abs(one - other) for one, other in zip(law, wanted, strict=True)) / 2
    corrected = (1 - acceptance, acceptance)
    equal(corrected == wanted, acceptance == HALF, "the returned token is a valid sample")
    return above(distance, ZERO, "distance of accepted samples from the target")


def _transport(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    first, second = draft.blocks(length), target.blocks(length)
    most = best_transport(first, second, common_prefix)
    cost = -best_transport(first, second, lambda x, y: common_prefix(x, y) - length)
    return equal(cost, length - most, "the least expected L - beta")


def with_couplings(seed: int) -> Iterator[dict[str, Any]]:
    """Yield models with the number of a coupling, for :func:`some_coupling`."""
    for number, pair in enumerate(models(seed)):
        yield {**pair, "coupling": number % 8}


def over_some_couplings(slack: Callable[..., Number | None]) -> Check:
    """Return a check over models with a coupling."""
    scope = scope_of(SIZES) + "; vertices and their mixtures with independence"
    return over_tables(with_couplings, slack, scope)


def _verifier_of_coupling(draft: Any, target: Any, length: int, coupling: int) -> Number:
    large, small = table(target), table(draft)
    pi = some_coupling(small.blocks(length), large.blocks(length), coupling)
    same_law(pi.marginal(0), small.blocks(length), "the coupling's draft marginal")
    same_law(pi.marginal(1), large.blocks(length), "the coupling's target marginal")
    found = outcomes(verifier_of(pi, large.n), large, small, length)
    same_law(found.output_law(), large.blocks(length), "the law of (X^tau, Z^{L-tau})")
    return equal(found.mean_accepted(), pi.mean_common(), "E[tau] of Verify_pi, E[beta] of pi")


CLAIMS = (
    Claim(
        "block.rem1",
        "Remark 1, section 3",
        "For $L = 1$, $M_s = Ber(1)$ and $M_b = Ber(1/2)$, accepted samples of $M_s$ alone never "
        "have the law $M_b$, whatever the acceptance probability; accepting 1 with probability "
        "1/2 and returning 0 otherwise has it (and no other probability does).",
        over_all(_acceptances, _remark_1, "acceptance a/d, d < 80"),
    ),
    Claim(
        "block.sec3a",
        "Section 3, after (5)",
        "Problem (3)-(5) is the optimal transport problem between $M_s^L$ and $M_b^L$ with cost "
        r"$L - \beta$: its least cost is $L$ minus the optimum.",
        over_models(_transport),
    ),
    Claim(
        "block.sec3b",
        "Section 3, 'From coupling to draft verification'",
        r"For every coupling $\pi$, $Verify_\pi$, which accepts $\ell$ tokens with probability "
        r"$\Pr_\pi(\beta = \ell | X^L)$ and continues with the law of $Y^{\tau+1:L}$ given $X^L$ "
        r"and $\tau$, is lossless, with $E[\tau] = E_\pi[\beta]$.",
        over_some_couplings(_verifier_of_coupling),
        printed=r"The numerator is printed $\sum_{\ell: \beta(X^L, Y^L) = \ell} \pi(X^L, Y^L)$; "
        "the sum is over $Y^L$.",
    ),
)
