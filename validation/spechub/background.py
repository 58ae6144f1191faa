"""Claims of section 2: one draft, and recursive rejection sampling (algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from validation.checks import over, over_pairs
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import Exact
from validation.notation import (
    ONE,
    ZERO,
    distinct,
    iid,
    normalised,
    overlap,
    positive,
    same,
    support,
    total,
)
from validation.oracles import least_bound
from validation.spechub.instances import over_cases
from validation.spechub.printed import Run, token_rejection


def one_draft(draft: Exact, target: Exact) -> Run:
    """Accept x with probability min(1, q/p), else draw from the residual (q − p)₊."""
    run = Run(len(draft), 1)
    for x, mass in enumerate(draft):
        if mass:
            left = run.accept(0, x, mass, min(ONE, target[x] / mass))
            run.draw((x,), positive(target, draft), left)
    return run


def one_draft_is_lossless(draft: Exact, target: Exact) -> Fraction:
    """With one draft the output is distributed as the target."""
    return same(one_draft(draft, target).output(), target, "output")


def one_draft_is_optimal(draft: Exact, target: Exact) -> Fraction:
    """With one draft the acceptance is the optimum, and the overlap of p and q."""
    found = one_draft(draft, target).acceptance()
    equal(found, overlap(draft, target), "acceptance")
    return equal(found, least_bound(iid(draft, 1), target), "acceptance")


def rates(seed: int) -> Iterator[dict[str, Any]]:
    """Yield acceptance rates below 1 and depths, the simplest first."""
    for denominator in range(1, 16):
        for numerator in range(denominator):
            for depth in range(1, 7):
                yield {"rate": Fraction(numerator, denominator), "depth": depth}
    rng = np.random.default_rng(seed)
    while True:
        denominator = int(rng.integers(16, 1_000))
        rate = Fraction(int(rng.integers(denominator)), denominator)
        yield {"rate": rate, "depth": int(rng.integers(1, 30))}


def tokens_per_call(rate: Fraction, depth: int) -> Fraction:
    """A draft of this depth gives at most 1/(1 − α) tokens; what is missing tends to 0."""
    stopped = [rate**j * (1 - rate) * (j + 1) for j in range(depth)]
    expected = total(stopped) + rate**depth * (depth + 1)
    missing = Fraction(at_least(1 / (1 - rate), expected, "1/(1 − α)"))
    equal(missing, rate ** (depth + 1) / (1 - rate), "what is missing")
    return missing


def conditional_rates(draft: Exact, target: Exact, k: int) -> list[Fraction]:
    """Return the chance of each draft of RRS to be accepted once all before it are rejected."""
    left, chances = ONE, []
    for mass in token_rejection(draft, target, k, replacement=True).by_draft():
        if left == 0:
            break
        chances.append(mass / left)
        left -= mass
    return chances


def later_rates(draft: Exact, target: Exact, k: int, *, strictly: bool) -> Fraction | None:
    """Compare each draft's conditional chance with the one before it, strictly where positive."""
    chances = conditional_rates(draft, target, k)
    slacks = [
        above(chances[i], later, f"draft {i + 1}, against draft {i + 2}")
        if strictly
        else at_least(chances[i], later, f"draft {i + 1}, against draft {i + 2}")
        for i, later in enumerate(chances[1:])
        if chances[i] or not strictly
    ]
    return Fraction(min(slacks)) if slacks else None


def later_rates_are_lower(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Each later draft of RRS is less likely to be accepted than the one before."""
    return later_rates(draft, target, k, strictly=True)


def later_rates_are_not_higher(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """No later draft of RRS is more likely to be accepted than the one before."""
    return later_rates(draft, target, k, strictly=False)


def rejected_again(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """A token that RRS has rejected has probability 0 in all later residuals."""
    residual, met = target, False
    rejected: set[int] = set()
    for _ in range(k):
        rejected |= {x for x, mass in enumerate(draft) if residual[x] < mass}
        if not rejected:
            return None
        residual, met = tuple(normalised(positive(residual, draft))), True
        for x in rejected:
            equal(residual[x], 0, f"residual of the rejected token {x}")
    return ZERO if met else None


def lossless_with(draft: Exact, target: Exact, k: int) -> Fraction:
    """Algorithm 1 with independent drafts is lossless."""
    return same(token_rejection(draft, target, k, replacement=True).output(), target, "output")


def lossless_without(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Algorithm 1 with distinct drafts is lossless."""
    if support(draft) < k:
        return None
    return same(token_rejection(draft, target, k, replacement=False).output(), target, "output")


def distinct_drafts_help(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """RRSw accepts at least as much as RRS and at most the optimum for distinct drafts."""
    if support(draft) < k:
        return None
    found = token_rejection(draft, target, k, replacement=False).acceptance()
    at_least(least_bound(distinct(draft, k), target), found, "optimum, against RRSw")
    independent = token_rejection(draft, target, k, replacement=True).acceptance()
    return Fraction(at_least(found, independent, "RRSw, against RRS"))


CLAIMS = (
    Claim(
        "spechub.sec2a",
        "Section 2, Speculative Sampling",
        r"One draft $x \sim p$, accepted with probability $\min(1, q(x)/p(x))$, else a token from "
        r"$(q - p)_+$ normalised: the output is distributed as the target.",
        over_pairs(one_draft_is_lossless, most_tokens=5),
    ),
    Claim(
        "spechub.sec2b",
        "Section 2, Speculative Sampling",
        r"With a single draft of any length and acceptance rate $\alpha$ for each token, the "
        r"expected number of tokens per iteration is at most $1/(1 - \alpha)$, its supremum.",
        over(rates, tokens_per_call, "depth <= 29"),
    ),
    Claim(
        "spechub.sec2c",
        "Section 2, Rejection Sampling in Speculative Decoding",
        r"Rejection sampling of one draft has the highest acceptance rate of all lossless rules, "
        r"$\sum \min(p, q)$: it is a maximal coupling.",
        over_pairs(one_draft_is_optimal, most_tokens=4),
    ),
    Claim(
        "spechub.sec2d",
        "Sections 1 and 2, Recursive Rejection Sampling",
        "In RRS every later draft has a lower acceptance rate than the one before: the chance of "
        "draft i + 1, once the first i are rejected, is below that of draft i after i − 1 "
        "(where that is positive).",
        over_cases(later_rates_are_lower, ks=(2, 3), most_tokens=3),
        printed="“later iterations use a residual distribution modified by previous acceptances, "
        "leading to misalignment with the original draft distribution and lower acceptance rates”",
        corrected=Corrected(
            "No later draft has a higher conditional acceptance rate; the rates can be equal.",
            over_cases(later_rates_are_not_higher, ks=(2, 3), most_tokens=3),
        ),
    ),
    Claim(
        "spechub.alg1a",
        "Algorithm 1, with replacement",
        "Token-level RRS with independent drafts is lossless.",
        over_cases(lossless_with, most_tokens=3),
    ),
    Claim(
        "spechub.alg1b",
        "Algorithm 1, without replacement",
        "Token-level RRS with drafts without replacement is lossless: the changes of the draft "
        "after each rejection keep the marginal distribution.",
        over_cases(lossless_without, most_tokens=4),
        printed="In the last round line 12 may normalise a draft whose mass is 0; the result is "
        "never used.",
    ),
    Claim(
        "spechub.sec2e",
        "Section 2, Recursive Rejection Sampling without Replacement",
        "A token that RRS has rejected has probability 0 in the residual from then on, so that it "
        "is rejected whenever it is drafted again.",
        over_cases(rejected_again),
    ),
    Claim(
        "spechub.sec2f",
        "Section 2, Recursive Rejection Sampling without Replacement",
        "RRSw speeds up RRS by avoiding repetition but falls short of the optimum: RRSw accepts at "
        "least as much as RRS and at most the optimum for drafts without replacement.",
        over_cases(distinct_drafts_help, ks=(2, 3), most_tokens=4),
    ),
)
