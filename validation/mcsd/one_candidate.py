"""Section 2 and the beginning of section 3.1: naive and speculative sampling of one candidate."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from validation.checks import over_cases, over_pairs
from validation.claim import Claim, Fails, at_least, equal
from validation.instances import Exact
from validation.mcsd.printed import (
    acceptance,
    algorithm1,
    law,
    law1,
    law_naive,
    output,
    without_update,
)
from validation.notation import iid, overlap, positive, total


def naive_acceptance(draft: Exact, target: Exact) -> Fraction:
    """Sum of p q."""
    found = acceptance(law_naive(draft, target, 1))
    return equal(found, sum(p * q for p, q in zip(draft, target, strict=True)))


def speculative_acceptance(draft: Exact, target: Exact) -> Fraction:
    """Sum of min(p, q)."""
    found = acceptance(law(iid, draft, 1, partial(_run, draft, target)))
    return equal(found, overlap(draft, target))


def speculative_law(draft: Exact, target: Exact) -> Fraction:
    """The output has the target's law."""
    return equal(output(law1(draft, target, 1), len(target)), target)


def better_than_naive(draft: Exact, target: Exact) -> Fraction:
    """Speculative sampling accepts at least as often."""
    return at_least(acceptance(law1(draft, target, 1)), acceptance(law_naive(draft, target, 1)))


def direct_use_fails(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Every candidate tested against the same target: not the target's law."""
    if draft == target or not all(draft) or not all(target):
        return None
    run = law(iid, draft, k, lambda x: without_update(target, draft, x).outcomes())
    found = output(run, len(target))
    if found == target:
        raise Fails("the output has the target's law")
    return total(positive(found, target))


def _run(draft: Exact, target: Exact, x: tuple[int, ...]) -> dict[tuple[bool, int], Fraction]:
    return algorithm1(target, draft, x).outcomes()


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec2b",
        "section 2, naive sampling",
        r"Drawing $y \sim q$ and accepting the draft $x \sim p$ if $x = y$ has acceptance rate "
        r"$\sum_x p(x) q(x)$.",
        over_pairs(naive_acceptance),
        printed=r"The paper writes $q$ for the draft and $p$ for the target, here as everywhere.",
    ),
    Claim(
        "mcsd.sec2c",
        "section 2, speculative sampling",
        r"Accepting $x \sim p$ with probability $\min(1, q(x)/p(x))$ has acceptance rate "
        r"$\sum_x \min(p(x), q(x))$.",
        over_pairs(speculative_acceptance),
    ),
    Claim(
        "mcsd.sec2d",
        "section 2, speculative sampling",
        r"With the residual $q'(x) = (q(x) - p(x))_+ / \sum_x (q(x) - p(x))_+$ drawn after a "
        r"rejection, the token returned has the law $q$.",
        over_pairs(speculative_law),
    ),
    Claim(
        "mcsd.sec2e",
        "section 2, last sentence",
        r"Speculative sampling accepts at least as often as naive sampling: "
        r"$\sum_x \min(p(x), q(x)) \ge \sum_x p(x) q(x)$.",
        over_pairs(better_than_naive),
        printed="possessing an upper bound on the acceptance rate of naive sampling",
    ),
    Claim(
        "mcsd.sec3.1a",
        "section 3.1, first sentence",
        r"Speculative sampling cannot verify several candidates as it is: if each of $k \ge 2$ "
        r"independent drafts is tested against the same $q$, and the residual of $q$ is drawn "
        r"after k rejections, then the output does not have the law $q$, for any full-support "
        r"$p \ne q$.",
        over_cases(direct_use_fails, (2, 3), 3, 2, scope="2 <= n <= 3, 2 <= k <= 3"),
        printed="the original speculative sampling algorithm described in Section 2 cannot be "
        "directly used for verification of multiple candidates. What direct use means, and for "
        "which distributions, is not said: tested for the plainest direct use.",
    ),
)
