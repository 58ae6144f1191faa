"""SpecTr-GBV: K i.i.d. drafts verified one after the other, block by block.

Of its acceptance probability only the case K = 1 is public, from a review; so the rule is not here,
and its claims are tested as far as they can be without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from otspec.arithmetic import Number
from validation.block.checks import over_models
from validation.verified_blocks import (
    best_transport,
    common_mass,
    common_prefix,
    outcomes,
    same_law,
)
from validation.models import LanguageModel, Prefix, prefixes_up_to
from validation.block_algorithms import (
    Branch,
    at_most_one,
    rejected,
    remaining,
    residuals_of_whole_prefix,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.drafted import branching
from validation.drafted_instances import over_paths
from validation.notation import ONE, ZERO, total
from validation.univer import most

NUMBERS = {(2, 1): (1, 2, 3), (2, 2): (1, 2), (3, 1): (1, 2)}
SCOPE = "n = 2: L = 1, K <= 3 and L = 2, K <= 2; n = 3: L = 1, K <= 2"


def chance(target: LanguageModel, draft: LanguageModel, head: Prefix) -> tuple[Fraction, Fraction]:
    """Return A + D₊ and A − D of a text, whose quotient is h; D = M_b − M_s of it."""
    left = remaining(target, draft, head)
    gain = target.mass(head) - draft.mass(head)
    return left + max(gain, ZERO), left - gain


def heads(target: LanguageModel, draft: LanguageModel, length: int) -> Iterator[Prefix]:
    """Yield the beginnings that may be drafted and whose h is no 0/0."""
    for head in prefixes_up_to(target.n, length - 1):
        if draft.mass(head) and any(chance(target, draft, head)):
            yield head


def _is_a_probability(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    slack = ONE
    for head in heads(target, draft, length):
        above, below = chance(target, draft, head)
        slack = min(slack, at_least(below, above, f"A - D of {head}, against A + (D)_+"))
    return slack


def _capped(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    for head in heads(target, draft, length):
        left, less = remaining(target, draft, head), rejected(target, draft, head)
        wanted = at_most_one(left, less) if left or less else ONE
        above, below = chance(target, draft, head)
        equal(at_most_one(above, below), wanted, f"min(1, h) of {head}")
        equal(above > below, target.mass(head) > draft.mass(head), f"h of {head} above 1")
    return ZERO


def verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
    """Keep the whole of one draft, or from its end on each length with probability min(1, h)."""
    length, mass = len(block), ONE
    for tau in range(length, -1, -1):
        head = block[:tau]
        if tau == length:
            kept = at_most_one(target.mass(head), draft.mass(head))
        else:
            h = chance(target, draft, head)
            kept = at_most_one(*h) if tau and any(h) else ONE
        if mass * kept:
            left = length - tau
            following = (
                residuals_of_whole_prefix(target, draft, head, left) if left else target.after(head)
            )
            yield Branch(mass * kept, tau, following)
        mass *= 1 - kept
        if not mass:
            return


def _one_draft(target: LanguageModel, draft: LanguageModel, length: int) -> Number:
    found = outcomes(verify, target, draft, length)
    same_law(found.output_law(), target.blocks(length), "the law of Y^L")
    best = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
    equal(found.mean_accepted(), best, "E[tau], against the optimum")
    return equal(best, common_mass(target, draft, length), "the optimum")


def bound(target: LanguageModel, draft: LanguageModel, length: int, paths: int) -> Fraction:
    """Return the sum of min(M_b(s), P(one of the drafts begins with s))."""
    return total(
        min(target.mass(s), 1 - (1 - draft.mass(s)) ** paths)
        for s in prefixes_up_to(target.n, length)
    )


def _best(target: LanguageModel, draft: LanguageModel, length: int, paths: int) -> Fraction:
    return most(target, draft, branching(paths, *(1,) * (length - 1)), "iid")


def _attained(target: LanguageModel, draft: LanguageModel, length: int, paths: int) -> Number:
    best = _best(target, draft, length, paths)
    return equal(best, bound(target, draft, length, paths), "the best coupling, against the bound")


def _not_above(target: LanguageModel, draft: LanguageModel, length: int, paths: int) -> Number:
    best, most_at_all = _best(target, draft, length, paths), bound(target, draft, length, paths)
    if paths == 1:
        equal(best, most_at_all, "the best coupling of one draft")
    return at_least(most_at_all, best, "the bound")


def _grows(target: LanguageModel, draft: LanguageModel, length: int, paths: int) -> Number:
    more = _best(target, draft, length, paths + 1)
    return at_least(more, _best(target, draft, length, paths), f"{paths + 1} drafts, not {paths}")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "spectr_gbv.chance",
        "Acceptance probability of one draft, as a review quotes it",
        r"With $A = \sum_x (M_b(x_i x) - M_s(x_i x))_+$ and $\Delta = M_b(x_i) - M_s(x_i)$, of "
        r"whole beginnings $x_i$, $h = (A + \Delta_+)/(A - \Delta)$ is a probability.",
        over_models(_is_a_probability, ((2, 2), (2, 3), (3, 2))),
        corrected=Corrected(
            r"$\min(1, h)$ is the probability with which block verification of the preprint keeps"
            r" that beginning: $h > 1$ exactly where $\Delta > 0$, and there that one is 1.",
            over_models(_capped, ((2, 2), (2, 3), (3, 2))),
        ),
    ),
    Claim(
        "spectr_gbv.one",
        "Losslessness and optimality, for one draft",
        r"With $\min(1, h)$ and with residuals up to the end of the block it returns the law of "
        "the target's text, and keeps the most of all couplings of one draft.",
        over_models(_one_draft),
    ),
    Claim(
        "spectr_gbv.bound",
        "Optimal expected acceptance length of i.i.d. drafts",
        r"The best coupling of $K$ i.i.d. drafts of $L$ tokens keeps $\sum_s \min(M_b(s), 1 - (1 "
        "- M_s(s))^K)$ tokens.",
        over_paths(_attained, NUMBERS, SCOPE),
        corrected=Corrected(
            "It keeps at most that, and exactly that of one draft.",
            over_paths(_not_above, NUMBERS, SCOPE),
        ),
    ),
    Claim(
        "spectr_gbv.grows",
        "The optimal length grows with the number of drafts",
        "The best coupling of $K + 1$ i.i.d. drafts keeps at least as many tokens as that of $K$.",
        over_paths(
            _grows,
            {(2, 1): (1, 2), (2, 2): (1, 2), (3, 1): (1, 2)},
            "n = 2, L <= 2; n = 3, L = 1; K <= 3",
        ),
    ),
)
