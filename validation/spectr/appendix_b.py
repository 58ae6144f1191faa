"""Appendix B: Bernoulli and uniform pairs, and what is said about the curves of Figs. 4 to 6."""

from fractions import Fraction
from itertools import pairwise, product
from math import ceil, log, log1p

import otspec
from otspec.rules import RecursiveRejection
from validation.algorithms import beta
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, given
from validation.notation import ONE, ZERO, accepted, iid, marginals, mass_of, total
from validation.oracles import optimum
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import ber, f, hit, p_acc, uniform

BERNOULLI = cases(n=2, least=2, random_k=range(1, 6)).of(
    lambda draft, target, k: {"p": draft[1], "q": target[1], "k": k})  # fmt: skip
BITS = given(*({"x": x} for k in range(1, 10) for x in product((0, 1), repeat=k)), note="k <= 9")


def uniforms(most, **choices):
    """Return the domain of d, its divisors r, and some choices."""
    divisors = [(d, r) for d in range(1, most + 1) for r in range(1, d + 1) if d % r == 0]
    return given(*({"d": d, "r": r} for d, r in divisors)).each(**choices)


def closed_form(p, q, k):
    """Return the right-hand side of (10)."""
    return min(q, 1 - (1 - p) ** k) + min(1 - q, 1 - p**k)


def bernoulli(p, q, k):
    """Check all forms of α_k, and the printed plan; what it leaves of q is shared in proportion."""
    law, best, ones, zeros = iid(ber(p), k), optimum(ber(p), ber(q), k), p**k, (1 - p) ** k
    one, zero = min(ones, q), min(zeros, 1 - q)
    mixed = total(mass for x, mass in law.items() if len(set(x)) == 2)
    equal(mixed, 1 - ones - zeros, "mass of mixed drafts")
    if ones > q and zeros > 1 - q:
        raise Fails("p^k > q and (1 - p)^k > 1 - q")
    value = 1 + q - ones if ones > q else 1 + (1 - q) - zeros if zeros > 1 - q else ONE
    equal((closed_form(p, q, k), mixed + one + zero, value), (best,) * 3, "forms of alpha_k")
    equal(alg.bound_of_set(ber(p), ber(q), k, (0, 1)), closed_form(p, q, k), "bound")
    rest = (1 - q - zero - (ones - one), q - one - (zeros - zero))
    at_least(min(rest), ZERO, "what is left for mixed drafts")
    plan = {(1,) * k: (ones - one, one), (0,) * k: (zero, zeros - zero)}
    for x in law.keys() - plan.keys():
        plan[x] = [law[x] * left / sum(rest) for left in rest]
    coupling = {(x, y): plan[x][y] for x in law for y in (0, 1)}
    equal(marginals(coupling, 2), (law, ber(q)), "marginals")
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    return equal(accepted(coupling), best, "acceptance")


claim("spectr.eq10", "Equation (10), appendix B.1", BERNOULLI,
      r"$\alpha_k(Ber(p), Ber(q)) = \min(q, 1 - (1-p)^k) + \min(1 - q, 1 - p^k)$.",
)(bernoulli)  # fmt: skip
claim("spectr.secB.1a", "Appendix B.1, below (10)", BERNOULLI,
      r"$\Omega_0 = \{0, 1\}$ in Lemma 3 gives (10) as upper bound.")(bernoulli)  # fmt: skip
claim("spectr.secB.1b", "Appendix B.1, below (10)", BITS,
      r"For two tokens, $1\{y \notin S(x^k)\} < 1$ if and only if $x^k$ is $0^k$ or $1^k$.")(
    lambda x: equal(
        [y in x for y in (0, 1)], [len(set(x)) == 1] * 2, "whether 1{y not in S(x)} < 1, y = 0, 1")
)  # fmt: skip
corrected("spectr.secB.1b", Severity.MISPRINT, BITS,
          r"$1\{y \notin S(x^k)\} = 1$ for some y if and only if $x^k$ is $0^k$ or $1^k$.")(
    lambda x: equal(any(y not in x for y in (0, 1)), len(set(x)) == 1))  # fmt: skip
claim("spectr.secB.1c", "Appendix B.1, displays below (10)", BERNOULLI,
      r"$\alpha_k(Ber(p), Ber(q)) = 1 - p^k - (1-p)^k + \min(p^k, q) + \min((1-p)^k, 1-q)$, the "
      "first three terms being the mass of drafts that are not constant.")(bernoulli)  # fmt: skip
claim("spectr.secB.1d", "Appendix B.1, the transport plan", BERNOULLI,
      r"$\pi(1^k, 1) = \min(p^k, q)$, $\pi(0^k, 0) = \min((1-p)^k, 1-q)$ and $\pi(1^k, 0)$, "
      r"$\pi(0^k, 1)$ the rest of $p^k$ and $(1-p)^k$ is a valid transport plan, and attains (10).",
      printed="Only these four masses are printed; for other drafts what is left of q is shared in "
      "proportion.")(bernoulli)  # fmt: skip
claim("spectr.secB.1e", "Appendix B.1, end of the Bernoulli case", BERNOULLI,
      r"Both the display of spectr.secB.1c and (10) are 1 if $p^k \le q$ and $(1-p)^k \le 1-q$, "
      r"$1 + q - p^k$ if $p^k > q$, and $1 + (1-q) - (1-p)^k$ if $(1-p)^k > 1-q$; there is no "
      "other case.")(bernoulli)  # fmt: skip


def uniform_pair(d, r, k):
    """Check what the plan that draws from hits, and k-Seq, accept of U(d) and U(d/r)."""
    draft, target, others = uniform(d, d), uniform(d, d // r), range(d // r, d)
    wanted, law, coupling = set(range(d // r)), iid(draft, k), {}
    for x, mass in law.items():
        drawn = wanted & set(x) or wanted
        coupling |= {(x, y): mass / len(drawn) for y in drawn}
    run = alg.alg_2(draft, target, k, r * hit(r, k))
    equal((marginals(coupling, d), marginals(run.coupling(), d)), ((law, target),) * 2, "marginals")
    accepts = accepted(coupling), run.accepted(), run.among_drafts()
    equal(accepts, (hit(r, k),) * 3, "acceptance of the plan, p_acc and acceptance of k-Seq")
    equal(1 - mass_of(draft, others) ** k, hit(r, k), "Pr(S(X) meets [d/r])")
    return equal(alg.bound_of_set(draft, target, k, others), hit(r, k), "bound")


claim("spectr.secB.1f", "Appendix B.1, uniform pairs", uniforms(30, k=range(1, 9)),
      r"$\alpha_k(U(d), U(d/r)) = 1 - (1 - 1/r)^k$.")(
    lambda d, r, k: equal(
        otspec.optimal_acceptance(otspec.IID(uniform(d, d), k), uniform(d, d // r)).acceptance,
        hit(r, k), "alpha_k"))  # fmt: skip
claim("spectr.secB.1g", "Appendix B.1, uniform pairs", uniforms(6, k=(1, 2, 3)),
      r"Drawing Y uniformly from $S(X) \cap [d/r]$, or from $[d/r]$ if that is empty, is a valid "
      "transport plan that accepts $1 - (1 - 1/r)^k$.")(uniform_pair)  # fmt: skip
claim("spectr.secB.1h", "Appendix B.1, uniform pairs", uniforms(6, k=(1, 2, 3, 4)),
      r"$\Omega_0 = [d] \setminus [d/r]$ in Lemma 3 gives "
      r"$\Pr(S(X) \cap [d/r] \ne \emptyset) = 1 - (1 - 1/r)^k$ as upper bound.",
)(uniform_pair)  # fmt: skip
claim("spectr.secB.2a", "Appendix B.2", uniforms(16, rho=[Fraction(i, 4) for i in range(1, 30)]),
      r"For $U(d)$ and $U(d/r)$, $\beta(\rho) = 1/\max(r, \rho)$.")(
    lambda d, r, rho: equal(
        beta(uniform(d, d), uniform(d, d // r), rho), 1 / max(Fraction(r), rho)))  # fmt: skip
claim("spectr.secB.2b", "Appendix B.2", uniforms(12, k=range(1, 9)),
      r"For $U(d)$ and $U(d/r)$, solving (6) gives $\rho^* = r (1 - (1 - 1/r)^k)$.")(
    lambda d, r, k: equal(
        [rho for rho in {*(Fraction(i, 4) for i in range(1, 4 * k + 4)), r * hit(r, k)}
         if not f(uniform(d, d), uniform(d, d // r), k, rho)], [r * hit(r, k)]))  # fmt: skip
claim("spectr.secB.2c", "Appendix B.2", uniforms(6, k=(1, 2, 3)),
      r"For $U(d)$ and $U(d/r)$, k-Seq at $\rho^*$ accepts $1 - (1 - 1/r)^k$, the optimum.",
)(uniform_pair)  # fmt: skip

QUARTER, TENTH_AND_MORE = Fraction(1, 4), (Fraction(1, 10), Fraction(3, 4))


def points(bs, ks):
    """Return the domain of points of figs. 4 and 6: b and k."""
    return given(*({"b": b, "k": k} for k in ks for b in bs))


def curves(b, k):
    """Return the optimum for Ber(1/4) and Ber(b), and bounds of what k-Seq accepts."""
    return closed_form(QUARTER, b, k), *alg.accepted_at_root(ber(QUARTER), ber(b), k, 90)


claim("spectr.fig4a", "Fig. 4, appendix B", points((QUARTER,), range(1, 101)),
      "For $p = q = Ber(1/4)$ the acceptance of both the optimum and k-Seq is always 1.")(
    lambda b, k: equal(curves(b, k), (ONE, ONE, ONE), "optimum and k-Seq"))  # fmt: skip
claim("spectr.fig4b", "Fig. 4, appendix B",
      points([Fraction(i, 20) for i in range(21) if i != 5], range(1, 9)),
      r"For $p = Ber(1/4)$ and $q = Ber(b)$, $b \ne 1/4$, both increase with k before they reach "
      "1.")(
    lambda b, k: min(
        ONE if curves(b, k)[0] == 1 else above(curves(b, k + 1)[0], curves(b, k)[0], "alpha_{k+1}"),
        above(curves(b, k + 1)[1], curves(b, k)[2], "k-Seq")))  # fmt: skip
claim("spectr.fig4c", "Fig. 4, appendix B", points(TENTH_AND_MORE, range(1, 17)),
      "For $p = Ber(1/4)$ and $q = Ber(b)$ with $b = 0.1$ or $0.75$, k-Seq accepts less than the "
      "optimum.", printed="For no particular k; the single draft is included here.")(
    worse := lambda b, k: above(curves(b, k)[0], curves(b, k)[2], "alpha_k"))  # fmt: skip
corrected("spectr.fig4c", Severity.DEGENERATE, points(TENTH_AND_MORE, range(2, 17)),
          r"k-Seq accepts less for $k \ge 2$; one draft is accepted equally often."
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


FIGURE_6 = points((*TENTH_AND_MORE, ONE), range(1, 17))


@corrected("spectr.fig6", Severity.CONDITION, FIGURE_6, tied=True)
@claim("spectr.fig6", "Fig. 6, appendix B.3; section 6", FIGURE_6)
def both_beat_multi_round(b, k, tied=False):
    r"""For $p = Ber(1/4)$ and $q = Ber(b)$, $b \in \{0.1, 0.75, 1\}$, the optimum and k-Seq both
    accept more than multi-round rejection sampling.

    Printed: Both have a higher acceptance probability (section 6); both outperform it (appendix
    B.3). For no particular k; the single draft is included here.
    Corrected: They do for $k \ge 2$ and $b \ne 1$; otherwise all three accept the same."""
    (best, low, high), other = (
        curves(b, k),
        RecursiveRejection(ber(QUARTER), ber(b), k).acceptance(),
    )
    if tied and (k == 1 or b == 1):
        equal(low <= best <= high < low + Fraction(1, 2**80), True, "whether k-Seq accepts as much")
        return equal(other, best, "multi-round")
    return min(above(best, other, "optimum"), above(low, other, "k-Seq"))
