"""Fig. 2: three tokens, an even draft, and the optimum against two baselines."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from validation.canonical.baselines import acceptances
from validation.canonical.instances import over
from validation.canonical.two_drafts import two_sided
from validation.claim import Claim, at_least, equal
from validation.notation import iid, subsets
from validation.oracles import flow

THIRD, SIXTH = Fraction(1, 3), Fraction(1, 6)
EVEN = (THIRD, THIRD, THIRD)


def curve(first: Fraction) -> Iterator[dict[str, Any]]:
    """Yield points of Fig. 2: q₁ and q₂, by the denominator of q₂."""
    for d in range(1, 80):
        for i in range(d + 1):
            q2 = Fraction(i, d)
            if q2.denominator == d and q2 <= 1 - first:
                yield {"q1": first, "q2": q2}


def both_panels(_seed: int) -> Iterator[dict[str, Any]]:
    """Yield points of both panels in turn."""
    for left, right in zip(curve(THIRD), curve(SIXTH), strict=False):
        yield from (left, right)


RANGES = {
    THIRD: (Fraction(1, 9), Fraction(5, 9)),
    SIXTH: (Fraction(5, 18), Fraction(5, 9)),
}
"""Where the optimum of each panel is 1, from Theorem 2."""


def wide_range(q1: Fraction, q2: Fraction) -> Fraction:
    """The optimum is 1 exactly in a range of q₂."""
    best = flow(iid(EVEN, 2), (q1, q2, 1 - q1 - q2))
    low, high = RANGES[q1]
    return equal(best == 1, low <= q2 <= high, f"alpha = {best}; alpha = 1")


def baselines_below_one(q1: Fraction, q2: Fraction) -> Fraction:
    """The baselines accept all only at q₁ = q₂ = 1/3."""
    for name, found in acceptances(EVEN, (q1, q2, 1 - q1 - q2), 2).items():
        equal(found == 1, q1 == q2 == THIRD, f"{name} accepts {found}; all accepted")
    return Fraction(0)


def optimum_above(q1: Fraction, q2: Fraction) -> Fraction:
    """The optimum, from Theorem 3, is above both baselines."""
    target = (q1, q2, 1 - q1 - q2)
    best = min(two_sided(EVEN, target, tokens) for tokens in subsets(3))
    equal(best, flow(iid(EVEN, 2), target), "Theorem 3")
    return min(at_least(best, found, "optimum") for found in acceptances(EVEN, target, 2).values())


CLAIMS = (
    Claim(
        "canonical.fig2a",
        "Fig. 2 and the text on it",
        r"For $p = (1/3, 1/3, 1/3)$, $k = 2$ the optimum is 1 in a wide range of $q_2$: for "
        r"$1/9 \le q_2 \le 5/9$ if $q_1 = 1/3$, for $5/18 \le q_2 \le 5/9$ if $q_1 = 1/6$.",
        over(both_panels, wide_range, "both panels"),
        printed="The range is drawn, not given in numbers; the ends are those of Theorem 2.",
    ),
    Claim(
        "canonical.fig2b",
        "Fig. 2 and the text on it",
        r"There SpecTr and SpecInfer accept with probability 1 only at $q_1 = q_2 = 1/3$.",
        over(both_panels, baselines_below_one, "both panels"),
    ),
    Claim(
        "canonical.fig2c",
        "Fig. 2",
        r"There the optimum, as given by Theorem 3, is at least as large as both baselines.",
        over(both_panels, optimum_above, "both panels"),
    ),
)
