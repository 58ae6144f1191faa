"""Section 4: the algorithm for block-level verification."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checks import OnModels, over_models
from validation.verified_blocks import common_mass, outcomes, same_law
from validation.models import LanguageModel, Prefix, prefixes, prefixes_up_to
from validation.block_algorithms import (
    Verifier,
    at_most_one,
    block_acceptance,
    block_verify,
    block_verify_as_printed,
    block_verify_in_context,
    rejected,
    remaining,
    residual,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.notation import ZERO, collect, normalised, positive, total

DEEP = ((2, 3), (3, 2))
"""Sizes where more than one token can follow a rejected one."""


def lossless(verify: Verifier) -> OnModels:
    """Return the check that Y^L has the law M_b^L."""

    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        law = outcomes(verify, target, draft, length).output_law()
        return same_law(law, target.blocks(length), "the law of (X^tau, Z^{L-tau})")

    return slack


def _ends(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for block in draft.blocks(length):
        mass = total(part for part, _ in block_acceptance(target, draft, block))
        equal(mass, 1, f"Pr(the loop sets tau | X^L = {block})")
    return equal(remaining(target, draft, ()), rejected(target, draft, ()), "p_remain of no token")


def _first_step(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    accepted = _accepted(target, draft, length)
    for x in prefixes(target.n, length):
        large, small, kept = target.mass(x), draft.mass(x), accepted.get(x, ZERO)
        equal(kept, min(large, small), f"accepted mass of {x}")
        equal(large - kept, max(large - small, 0), f"remaining mass of {x}")
        equal(small - kept, max(small - large, 0), f"rejected mass of {x}")
    return ZERO


def _accepted(
    target: LanguageModel, draft: LanguageModel, length: int, depth: int | None = None
) -> dict[Prefix, Fraction]:
    """Return Pr(X^l = x, tau >= l) for all x of one depth l, L by default, from the algorithm."""
    depth = length if depth is None else depth
    return collect(
        (block[:depth], mass * chance)
        for block, mass in draft.blocks(length).items()
        for chance, tau in block_acceptance(target, draft, block)
        if tau >= depth
    )


def _resample_block(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    """Accept the whole block or draw it anew from the residual of blocks."""
    blocks = list(prefixes(target.n, length))
    large, small = (tuple(map(model.mass, blocks)) for model in (target, draft))
    rest = normalised(positive(large, small))
    law = dict.fromkeys(blocks, ZERO)
    for block, mass in draft.blocks(length).items():
        chance = at_most_one(target.mass(block), mass)
        law[block] += mass * chance
        for other, part in zip(blocks, rest, strict=True):
            law[other] += mass * (1 - chance) * part
    return same_law(law, target.blocks(length), "the law of the output")


def _never_oversamples(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = []
    for depth in range(length + 1):
        accepted = _accepted(target, draft, length, depth)
        for x in prefixes(target.n, depth):
            large, small, kept = target.mass(x), draft.mass(x), accepted.get(x, ZERO)
            slack.append(at_least(large, kept, f"accepted mass of {x} within M_b"))
            equal(large - kept, max(large - small, 0), f"remaining mass of {x}")
            equal(small - kept, max(small - large, 0), f"rejected mass of {x}")
    return min(slack)


def _all_residuals(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for x in prefixes_up_to(target.n, length, 0):
        equal(sum(residual(target, draft, x)), 1, f"the residual after {x} has sum")
    return ZERO


def _residuals_in_use(target: LanguageModel, draft: LanguageModel, length: int) -> Number | None:
    """Check (10) wherever a token is drawn from it; return the least p_remain there."""
    found = outcomes(block_verify, target, draft, length)
    least = None
    for x in prefixes_up_to(target.n, length - 1, 0):
        drawn = total(
            each.mass for each in found if each.accepted <= len(x) and each.output[: len(x)] == x
        )
        if drawn:
            equal(sum(residual(target, draft, x)), 1, f"the residual after {x} has sum")
            equal(remaining(target, draft, x), drawn, f"p_remain after {x}")
            least = drawn if least is None else min(least, drawn)
    return least


def _mean(*, drafted_by_target: bool) -> OnModels:
    def slack(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
        source = target if drafted_by_target else draft
        mean = total(
            mass * chance * tau
            for block, mass in source.blocks(length).items()
            for chance, tau in block_acceptance(target, draft, block)
        )
        return equal(mean, common_mass(target, draft, length), "E[tau]")

    return slack


def _common_prefix_is_tau(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(block_verify, target, draft, length)
    return equal(found.coupling().mean_common(), found.mean_accepted(), "E[beta]")


_WHOLE = (
    "With $p_{res}^{(X^\\tau, x^j)}$ for $0 \\le j < L - \\tau$ and $M_b(\\cdot | X^\\tau, x^j)$ "
    "for $j \\ge L - \\tau$ (for $\\tau = L$: $M_b(\\cdot | X^L, x^j)$), all probabilities being "
    "of whole prefixes, algorithm 3 is lossless."
)
_READ = "Algorithm 3 is taken as corrected in block.alg3, which is how appendix B uses it."


CLAIMS = (
    Claim(
        "block.alg3",
        "Algorithm 3, lines 14 and 16, section 4",
        r"BlockVerify to the letter is lossless: after $X^\tau$ the next tokens come from "
        r"$M_{b,next}(\cdot | x^j) = p_{res}^{x^j}$ for $0 \le j < L - \tau$ and from $M_b(\cdot "
        r"| x^j)$ beyond, where $x^j$ are the $j$ tokens after $X^\tau$.",
        over_models(lossless(block_verify_as_printed)),
        printed=r"$X^\tau$ stands nowhere in lines 14 and 16. If $x^j$ is what follows $X^\tau$ "
        r"(algorithm 1, line 3), it is missing from $p_{res}^{x^j}$ and $M_b(\cdot | x^j)$; if "
        r"$x^j$ is to contain it, $j$ must run from $\tau$ to $L - 1$. See block.alg3b for a "
        "third reading.",
        corrected=Corrected(_WHOLE, over_models(lossless(block_verify))),
    ),
    Claim(
        "block.alg3b",
        "Algorithm 3, line 16, with the convention of section 2",
        r"BlockVerify is lossless if $X^\tau$ is a context left out of the notation: with the "
        r"residuals (10) of the models $M_b(\cdot | X^\tau)$ and $M_s(\cdot | X^\tau)$.",
        over_models(lossless(block_verify_in_context), DEEP),
        printed="Section 2: 'we ignore prefix from the notations'. But (8)-(10) compare "
        r"probabilities of whole prefixes, $M_b(x^i, x)$, in which $M_b(X^\tau)$ and "
        r"$M_s(X^\tau)$ do not cancel.",
        corrected=Corrected(_WHOLE, over_models(lossless(block_verify), DEEP)),
    ),
    Claim(
        "block.alg3c",
        "Algorithm 3, comment in line 9",
        r"The loop always sets $\tau$, since $p_{remain}(\emptyset) = p_{rej}(\emptyset)$.",
        over_models(_ends),
        printed=r"'$p_{remain}(\emptyset) = p_{res}(\emptyset)$'; $p_{res}$ is a distribution.",
    ),
    Claim(
        "block.sec4a",
        "Section 4, first step of algorithm 3",
        r"After lines 2-3 the accepted mass of each $x^L$ is $\min(M_b, M_s)$, the remaining mass "
        "of the large model $(M_b - M_s)_+$, the rejected mass of the small one $(M_s - M_b)_+$.",
        over_models(_first_step),
    ),
    Claim(
        "block.sec4b",
        "Section 4, resampling the block",
        "If the block is rejected, drawing $L$ tokens from $(M_b(x^L) - M_s(x^L))_+$, normalised, "
        "gives $M_b^L$.",
        over_models(_resample_block),
    ),
    Claim(
        "block.sec4c",
        "Section 4, before and after (10)",
        r"No prefix is oversampled: $\Pr(X^\ell = x^\ell, \tau \ge \ell) \le M_b(x^\ell)$; and at "
        "every depth the remaining and the rejected mass are $(M_b - M_s)_+$, $(M_s - M_b)_+$.",
        over_models(_never_oversamples),
    ),
    Claim(
        "block.eq10",
        "(10), section 4",
        r"$p_{res}^{x^i}$ is a distribution for all $i \le L$ and all $x^i$.",
        over_models(_all_residuals),
        corrected=Corrected(
            "It is one if $p_{remain}(x^i) > 0$, else 0/0. Algorithm 3 (corrected) draws from it "
            "for $i < L$ only, after $x^i$ with probability $p_{remain}(x^i)$, so never where it "
            "is 0/0.",
            over_models(_residuals_in_use),
        ),
    ),
    Claim(
        "block.lem2",
        "Lemma 2, section 4",
        r"BlockVerify is lossless: $(X^\tau, Z^{L-\tau}) \sim M_b^L$.",
        over_models(lossless(block_verify)),
        printed=_READ,
    ),
    Claim(
        "block.lem3",
        "Lemma 3, section 4; its proof, appendix B.2",
        r"$E_{X^L \sim M_b^L}[\tau] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), "
        r"M_b(x^\ell))$, the drafts being drawn from the large model.",
        over_models(_mean(drafted_by_target=True)),
        corrected=Corrected(
            r"$E_{X^L \sim M_s^L}[\tau] = \sum_{\ell=1}^L \sum_{x^\ell} \min(M_s(x^\ell), "
            r"M_b(x^\ell))$: the drafts come from the small model.",
            over_models(_mean(drafted_by_target=False)),
        ),
    ),
    Claim(
        "block.sec4d",
        "Section 4, after (10); implicit in theorem 1",
        r"For the coupling of BlockVerify $\beta(X^L, Y^L) = \tau$: the residual never draws the "
        "token that was rejected.",
        over_models(_common_prefix_is_tau),
        printed=_READ + " The paper says this of TokenVerify only (block.appAa).",
    ),
)
