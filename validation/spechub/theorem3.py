"""Claims of appendix B.3: theorem 3, its proof and the remarks after it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from validation.checks import over, over_pairs
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import ENUMERATED, Exact
from validation.notation import ZERO, overlap
from validation.spechub.instances import over_hubs, smallest_hub_pairs
from validation.spechub.printed import hub_of, spechub, token_rejection


def odds(draft: Exact) -> Fraction:
    """Return p(a)/(1 − p(a))."""
    return max(draft) / (1 - max(draft))


def second_draft(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """Compare the acceptance of the second draft under theorem 3's condition."""
    rejected = 1 - overlap(draft, target)
    if odds(draft) <= rejected:
        return None
    run, other = spechub(draft, target), token_rejection(draft, target, 2, replacement=True)
    found, bound = run.by_draft()[1], other.by_draft()[1]
    if strictly:
        return Fraction(above(found, bound, "SpecHub's second draft"))
    at_least(run.acceptance(), other.acceptance(), "SpecHub, in all")
    a = hub_of(draft)
    if any(
        x != a and q - min(p, q) > rejected * p > 0
        for x, (p, q) in enumerate(zip(draft, target, strict=True))
    ):
        above(found, bound, "SpecHub's second draft, with a token that RRS does not serve in full")
    return Fraction(at_least(found, bound, "SpecHub's second draft"))


def rejection_by_token(draft: Exact, target: Exact) -> Fraction | None:
    """RRS's second draft is x with the two displayed probabilities."""
    rejected, row = 1 - overlap(draft, target), token_rejection(draft, target, 2, replacement=True)
    if rejected == 0:
        return None
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        first = rejected * min((q - min(p, q)) / rejected, p)
        equal(row.accepted[1][x], first, f"second draft {x}")
        equal(min(q - min(p, q), rejected * p), first, f"second draft {x}, simplified")
    return ZERO


def hub_by_token(draft: Exact, target: Exact) -> Fraction:
    """SpecHub's second draft is x ≠ a with the displayed probability."""
    a, row = hub_of(draft), spechub(draft, target).accepted[1]
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            equal(row[x], min(q - min(p, q), odds(draft) * p), f"second draft {x}")
    return ZERO


def a_third(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """With α = 1/2 (or more) and p(a) > 1/3, SpecHub accepts more than RRS, or as much."""
    rate = overlap(draft, target)
    if max(draft) <= Fraction(1, 3) or (rate != Fraction(1, 2) if strictly else 2 * rate < 1):
        return None
    above(odds(draft), 1 - rate, "p(a)/(1 − p(a))")
    found = spechub(draft, target).acceptance()
    bound = token_rejection(draft, target, 2, replacement=True).acceptance()
    compare = above if strictly else at_least
    return Fraction(compare(found, bound, "SpecHub, against RRS"))


def needless(draft: Exact, target: Exact) -> Fraction | None:
    """Where q(a) > 0, SpecHub accepts at least as much as RRS without the condition."""
    if target[hub_of(draft)] == 0 or odds(draft) > 1 - overlap(draft, target):
        return None
    found = spechub(draft, target).acceptance()
    bound = token_rejection(draft, target, 2, replacement=True).acceptance()
    return Fraction(at_least(found, bound, "SpecHub, against RRS"))


def needed(draft: Exact, target: Exact) -> Fraction | None:
    """Where q(a) ≤ (2 − α) p(a) and the condition fails, SpecHub accepts no more than RRS."""
    rejected = 1 - overlap(draft, target)
    if odds(draft) > rejected or target[hub_of(draft)] > (1 + rejected) * max(draft):
        return None
    found, a = spechub(draft, target).acceptance(), hub_of(draft)
    other = token_rejection(draft, target, 2, replacement=True)
    equal(other.accepted[0][a] + other.accepted[1][a], target[a], "hub accepted by RRS")
    return Fraction(at_least(other.acceptance(), found, "RRS, against SpecHub"))


def flat_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield the smallest pairs, then random ones: near-uniform drafts, few tokens to output."""
    yield from islice(smallest_hub_pairs(4, 3), ENUMERATED)
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(3, 6))
        weights = rng.integers(4, 7, n)
        wanted = rng.integers(1, 9, n) * (rng.random(n) < 0.4)
        wanted[rng.integers(n)] += 1
        yield {
            "draft": tuple(Fraction(int(w), int(weights.sum())) for w in weights),
            "target": tuple(Fraction(int(w), int(wanted.sum())) for w in wanted),
        }


def uncertain_flat_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield those whose draft is not certain."""
    return (pair for pair in flat_pairs(seed) if max(pair["draft"]) < 1)


CLAIMS = (
    Claim(
        "spechub.thm3",
        "Theorem 3, appendix B.3",
        r"Let $\alpha = \sum_x \min(p(x), q(x))$. SpecHub has a higher acceptance rate in the "
        r"second draft than RRS if $p(a)/(1 - p(a)) > 1 - \alpha$.",
        over_hubs(partial(second_draft, strictly=True)),
        corrected=Corrected(
            r"Under that condition SpecHub accepts the second draft at least as often as RRS, and "
            r"in all at least as much; the second draft strictly more often if some token "
            r"$x \ne a$ has $q(x) - \min(p(x), q(x)) > (1 - \alpha) p(x) > 0$.",
            over_hubs(partial(second_draft, strictly=False)),
        ),
    ),
    Claim(
        "spechub.secB.3a",
        "Proof of theorem 3, RRS",
        r"RRS accepts x as second draft with probability $(1 - \alpha) \min\bigl(\frac{q(x) - "
        r"\min(p(x), q(x))}{1 - \alpha}, p(x)\bigr) = \min(q(x) - \min(p(x), q(x)), "
        r"(1 - \alpha) p(x))$.",
        over_pairs(rejection_by_token),
        printed="For α = 1 the first form is 0/0.",
    ),
    Claim(
        "spechub.secB.3b",
        "Proof of theorem 3, SpecHub",
        r"SpecHub accepts $x \ne a$ as second draft with probability "
        r"$\min\bigl(q(x) - \min(p(x), q(x)), \frac{p(a)}{1 - p(a)} p(x)\bigr)$.",
        over_hubs(hub_by_token),
    ),
    Claim(
        "spechub.secB.3c",
        "After theorem 3, the example",
        r"If $\alpha = 1/2$ and $p(a) > 1/3$, SpecHub is faster than RRS: it accepts more.",
        over_hubs(partial(a_third, strictly=True)),
        printed="“as long as the top token has probability q(a) > 1/3 = 0.333, we guarantee "
        "acceleration”",
        corrected=Corrected(
            r"If $\alpha \ge 1/2$ and $p(a) > 1/3$, SpecHub accepts at least as much as RRS.",
            over_hubs(partial(a_third, strictly=False)),
        ),
    ),
    Claim(
        "spechub.secB.3d",
        "After theorem 3, the condition's necessity",
        "The condition of theorem 3 is needed only where $q(a) = 0$: if $q(a) > 0$, SpecHub "
        "accepts at least as much as RRS also where the condition fails.",
        over_hubs(needless),
        printed="“since SpecHub accepts top tokens up to p(a), the above sufficient conditions "
        "become necessary only in unusual cases when p(a) = 0” (the paper's p is the target).",
        corrected=Corrected(
            r"Wherever $q(a) \le (2 - \alpha) p(a)$, RRS also accepts all of $q(a)$, and the "
            "condition is necessary for SpecHub to accept more than RRS in all.",
            over(uncertain_flat_pairs, needed, "n <= 5, k = 2, p(a) < 1"),
        ),
    ),
)
