"""Appendix B, Figs. 4 to 6: what is said about the curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, log, log1p
from typing import Any

import otspec
from otspec.arithmetic import Number
from otspec.distributions import as_distribution
from otspec.rules import RecursiveRejection
from validation.checks import over_all
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.notation import ONE, ZERO
from validation.spectr.examples import ber, closed_form
from validation.spectr.printed import acceptance_at_root, f, p_acc
from validation.spectr.sequential import uniform

HALVINGS = 90
"""Enough to tell acceptances near 1 apart."""
QUARTER = Fraction(1, 4)
NEAR = Fraction(1, 20)
D = 120


def bernoulli_curves(bs: Sequence[Fraction], ks: range) -> Iterator[dict[str, Any]]:
    """Yield points of Figs. 4 and 6: b and k."""
    for k in ks:
        yield from ({"b": b, "k": k} for b in bs)


def k_seq(b: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """Return bounds of the acceptance of k-Seq for Ber(1/4) and Ber(b)."""
    return acceptance_at_root(ber(QUARTER), ber(b), k, HALVINGS)


def equal_pair_accepts_all(b: Fraction, k: int) -> Fraction:
    """With p = q both accept with certainty."""
    equal(closed_form(QUARTER, b, k), ONE, "alpha_k")
    return equal(k_seq(b, k), (ONE, ONE), "k-Seq")


def both_increase(b: Fraction, k: int) -> Number:
    """Both are larger with one draft more, unless they are 1 already."""
    here, there = closed_form(QUARTER, b, k), closed_form(QUARTER, b, k + 1)
    slack = ONE if here == 1 else above(there, here, "alpha_{k+1}")
    low, high = k_seq(b, k + 1)[0], k_seq(b, k)[1]
    return min(slack, above(low, high, "k-Seq at k + 1"))


def k_seq_is_worse(b: Fraction, k: int) -> Number:
    """k-Seq accepts less than the optimum."""
    return above(closed_form(QUARTER, b, k), k_seq(b, k)[1], "alpha_k")


def certain_target_alike(k: int) -> Fraction:
    """For b = 1 both accept the same: (6) is solved by 4 (1 − (3/4)^k)."""
    best, rho = closed_form(QUARTER, ONE, k), 4 * (1 - Fraction(3, 4) ** k)
    equal(f(ber(QUARTER), ber(ONE), k, rho), ZERO, "f at rho*")
    return equal(p_acc(ber(QUARTER), ber(ONE), k, rho), best, "k-Seq")


def uniform_curves() -> Iterator[dict[str, Any]]:
    """Yield the sizes of the target's support: the divisors of 120."""
    for size in (size for size in range(1, D + 1) if D % size == 0):
        yield {"size": size}


def uniform_curve(size: int) -> Number:
    """The optimum grows with k towards 1, and k-Seq attains it."""
    draft, target, r = uniform(D, D), uniform(D, size), Fraction(D, size)
    far = 1 if r == 1 else ceil(log(NEAR) / log1p(-1 / r))
    ks = [*range(1, 17), far]
    found = otspec.optimal_acceptances(draft, target, ks).tolist()
    for k, best in zip(ks, found, strict=True):
        rho = r * (1 - (1 - 1 / r) ** k)
        equal(f(draft, target, k, rho), ZERO, f"f at rho*, k = {k}")
        equal(p_acc(draft, target, k, rho), best, f"k-Seq, k = {k}")
    steps = [found[i + 1] - found[i] for i in range(15)]
    at_least(min(steps), ZERO, "least increase")
    at_least(ONE, max(found), "1, against the largest")
    return at_least(found[-1], 1 - NEAR, f"optimum of {far} drafts")


def multi_round(b: Fraction, k: int) -> Number:
    """Return the acceptance of multi-round rejection sampling for Ber(1/4) and Ber(b)."""
    draft, target = as_distribution(ber(QUARTER)), as_distribution(ber(b))
    return RecursiveRejection(draft, target, k).acceptance()


def both_beat_multi_round(b: Fraction, k: int) -> Number:
    """The optimum and k-Seq accept more than multi-round rejection."""
    other = multi_round(b, k)
    above(closed_form(QUARTER, b, k), other, "optimum")
    return above(k_seq(b, k)[0], other, "k-Seq")


def both_beat_or_tie(b: Fraction, k: int) -> Number:
    """They accept more, except that all accept the same for one draft and for b = 1."""
    if k > 1 and b < 1:
        return both_beat_multi_round(b, k)
    other = multi_round(b, k)
    low, high = k_seq(b, k)
    at_least(other, low, "multi-round")
    at_least(high, other, "k-Seq")
    at_least(Fraction(1, 2**80), high - low, "2^-80, against the error of k-Seq")
    return equal(closed_form(QUARTER, b, k), other, "optimum")


SHOWN = (Fraction(1, 10), Fraction(3, 4), ONE)
MANY = tuple(Fraction(i, 20) for i in range(21) if i != 5)

CLAIMS = (
    Claim(
        "spectr.fig4a",
        "Fig. 4, appendix B",
        r"For $p = q = Ber(1/4)$ the acceptance of both the optimum and k-Seq is always 1.",
        over_all(
            lambda: bernoulli_curves((QUARTER,), range(1, 101)), equal_pair_accepts_all, "k <= 100"
        ),
    ),
    Claim(
        "spectr.fig4b",
        "Fig. 4, appendix B",
        r"For $p = Ber(1/4)$ and $q = Ber(b)$, $b \ne 1/4$, both increase with k before they "
        "reach 1.",
        over_all(
            lambda: bernoulli_curves(MANY, range(1, 9)),
            both_increase,
            "k <= 8, b a multiple of 1/20",
        ),
    ),
    Claim(
        "spectr.fig4c",
        "Fig. 4, appendix B",
        r"For $p = Ber(1/4)$ and $q = Ber(b)$ with $b = 0.1$ or $0.75$, k-Seq accepts less than "
        "the optimum.",
        over_all(lambda: bernoulli_curves(SHOWN[:2], range(1, 17)), k_seq_is_worse, "k <= 16"),
        printed="For no particular k; the single draft is included here.",
        corrected=Corrected(
            r"It accepts less for $k \ge 2$; one draft is accepted equally often.",
            over_all(lambda: bernoulli_curves(SHOWN[:2], range(2, 17)), k_seq_is_worse, "k <= 16"),
        ),
    ),
    Claim(
        "spectr.fig4d",
        "Fig. 4, appendix B",
        r"For $p = Ber(1/4)$ and $q = Ber(1)$ k-Seq accepts as much as the optimum.",
        over_all(lambda: ({"k": k} for k in range(1, 101)), certain_target_alike, "k <= 100"),
    ),
    Claim(
        "spectr.fig5",
        "Fig. 5, appendix B",
        r"For $p = U(120)$ and $q = U(d_q)$ the optimum increases with k and tends to 1, and k-Seq "
        "attains it.",
        over_all(uniform_curves, uniform_curve, "all divisors of 120, k <= 16 and one large k"),
        printed="The values of $d_q$ are in the picture only; all divisors of 120 are checked.",
    ),
    Claim(
        "spectr.fig6",
        "Fig. 6, appendix B.3; section 6",
        r"For $p = Ber(1/4)$ and $q = Ber(b)$, $b \in \{0.1, 0.75, 1\}$, the optimum and k-Seq "
        "both accept more than multi-round rejection sampling.",
        over_all(lambda: bernoulli_curves(SHOWN, range(1, 17)), both_beat_multi_round, "k <= 16"),
        printed="Both have a higher acceptance probability (section 6); both outperform it "
        "(appendix B.3). For no particular k; the single draft is included here.",
        corrected=Corrected(
            r"They accept more for $k \ge 2$ and $b \ne 1$; for $k = 1$ and for $b = 1$ all three "
            "accept the same.",
            over_all(lambda: bernoulli_curves(SHOWN, range(1, 17)), both_beat_or_tie, "k <= 16"),
        ),
    ),
)
