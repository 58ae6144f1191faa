"""Appendix B, Figs. 4 to 6: what is said about the curves."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, log, log1p

import otspec
from otspec.rules import RecursiveRejection
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import given
from validation.notation import ONE, ZERO
from validation.spectr.algorithms import accepted_at_root, ber, f, hit, p_acc, uniform
from validation.spectr.appendix_b import closed_form

QUARTER = Fraction(1, 4)
TENTH_AND_MORE = (Fraction(1, 10), Fraction(3, 4))


def points(bs, ks):
    """Return the domain of points of figs. 4 and 6: b and k."""
    return given(*({"b": b, "k": k} for k in ks for b in bs))


def curves(b, k):
    """Return the optimum for Ber(1/4) and Ber(b), and bounds of what k-Seq accepts."""
    return closed_form(QUARTER, b, k), *accepted_at_root(ber(QUARTER), ber(b), k, 90)


claim("spectr.fig4a", "Fig. 4, appendix B", points((QUARTER,), range(1, 101)),
      "For $p = q = Ber(1/4)$ the acceptance of both the optimum and k-Seq is always 1.")(
    lambda b, k: equal(curves(b, k), (ONE, ONE, ONE), "optimum and k-Seq"))  # fmt: skip


@claim("spectr.fig4b", "Fig. 4, appendix B",
       points([Fraction(i, 20) for i in range(21) if i != 5], range(1, 9)))  # fmt: skip
def both_increase(b, k):
    r"""For $p = Ber(1/4)$ and $q = Ber(b)$, $b \ne 1/4$, both increase with k before they reach
    1."""
    (best, _, high), (more, low, _) = curves(b, k), curves(b, k + 1)
    return min(ONE if best == 1 else above(more, best, "alpha_{k+1}"), above(low, high, "k-Seq"))


claim("spectr.fig4c", "Fig. 4, appendix B", points(TENTH_AND_MORE, range(1, 17)),
      "For $p = Ber(1/4)$ and $q = Ber(b)$ with $b = 0.1$ or $0.75$, k-Seq accepts less than the "
      "optimum.", printed="For no particular k; the single draft is included here.")(
    worse := lambda b, k: above(curves(b, k)[0], curves(b, k)[2], "alpha_k"))  # fmt: skip
corrected("spectr.fig4c", Severity.DEGENERATE, points(TENTH_AND_MORE, range(2, 17)),
          r"It accepts less for $k \ge 2$; one draft is accepted equally often."
)(worse)  # fmt: skip
claim("spectr.fig4d", "Fig. 4, appendix B", points((ONE,), range(1, 101)),
      "For $p = Ber(1/4)$ and $q = Ber(1)$ k-Seq accepts as much as the optimum.")(
    lambda b, k: equal(
        [value(ber(QUARTER), ber(b), k, 4 * hit(4, k)) for value in (f, p_acc)],
        [ZERO, closed_form(QUARTER, b, k)], "f at rho* and k-Seq"))  # fmt: skip


@claim("spectr.fig5", "Fig. 5, appendix B",
       given(*({"size": size} for size in range(1, 121) if 120 % size == 0)))  # fmt: skip
def uniform_curve(size):
    """For $p = U(120)$ and $q = U(d_q)$ the optimum increases with k and tends to 1, and k-Seq
    attains it.

    Printed: The values of $d_q$ are in the picture only; all divisors of 120 are checked."""
    draft, target, r = uniform(120, 120), uniform(120, size), 120 // size
    ks = [*range(1, 17), 1 if r == 1 else ceil(log(1 / 20) / log1p(-1 / r))]
    found = otspec.optimal_acceptances(draft, target, ks).tolist()
    for k, best in zip(ks, found, strict=True):
        equal(f(draft, target, k, r * hit(r, k)), ZERO, f"f at rho*, k = {k}")
        equal(p_acc(draft, target, k, r * hit(r, k)), best, f"k-Seq, k = {k}")
    steps = [more - best for best, more in pairwise(found[:16])]
    (at_least if r == 1 else above)(min(steps), ZERO, "least increase")
    return at_least(found[-1], Fraction(19, 20), f"optimum of {ks[-1]} drafts")


def multi_round(b, k):
    """Return the acceptance of multi-round rejection sampling for Ber(1/4) and Ber(b)."""
    return RecursiveRejection(ber(QUARTER), ber(b), k).acceptance()


FIGURE_6 = points((*TENTH_AND_MORE, ONE), range(1, 17))


@claim("spectr.fig6", "Fig. 6, appendix B.3; section 6", FIGURE_6)
def both_beat_multi_round(b, k):
    r"""For $p = Ber(1/4)$ and $q = Ber(b)$, $b \in \{0.1, 0.75, 1\}$, the optimum and k-Seq both
    accept more than multi-round rejection sampling.

    Printed: Both have a higher acceptance probability (section 6); both outperform it (appendix
    B.3). For no particular k; the single draft is included here."""
    best, low, _ = curves(b, k)
    above(best, multi_round(b, k), "optimum")
    return above(low, multi_round(b, k), "k-Seq")


@corrected("spectr.fig6", Severity.CONDITION, FIGURE_6)
def beat_or_tie(b, k):
    r"""They accept more for $k \ge 2$ and $b \ne 1$; for $k = 1$ and for $b = 1$ all three accept
    the same."""
    if k > 1 and b < 1:
        return both_beat_multi_round(b, k)
    best, low, high = curves(b, k)
    equal(low <= best <= high < low + Fraction(1, 2**80), True, "whether k-Seq accepts the same")
    return equal(multi_round(b, k), best, "multi-round")
