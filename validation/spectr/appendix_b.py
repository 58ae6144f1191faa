"""Appendix B: Bernoulli and uniform pairs."""

from fractions import Fraction
from itertools import product

import otspec
from validation.algorithms import beta
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, given
from validation.notation import ONE, ZERO, accepted, iid, marginals, mass_of, total
from validation.oracles import optimum
from validation.spectr.algorithms import alg_2, ber, bound_of_set, f, hit, uniform

BERNOULLI = cases(n=2, least=2, random_k=range(1, 6)).of(
    lambda draft, target, k: {"p": draft[1], "q": target[1], "k": k}
)
BITS = given(*({"x": x} for k in range(1, 10) for x in product((0, 1), repeat=k)), note="k <= 9")


def uniforms(most, **choices):
    """Return the domain of d, its divisors r, and some choices."""
    divisors = [(d, r) for d in range(1, most + 1) for r in range(1, d + 1) if d % r == 0]
    return given(*({"d": d, "r": r} for d, r in divisors)).each(**choices)


def closed_form(p, q, k):
    """Return the right-hand side of (10)."""
    return min(q, 1 - (1 - p) ** k) + min(1 - q, 1 - p**k)


def constant_drafts(p, q, k):
    """Return the masses of 1^k and 0^k, and what they can accept of them."""
    ones, zeros = p**k, (1 - p) ** k
    return ones, zeros, min(ones, q), min(zeros, 1 - q)


claim("spectr.eq10", "Equation (10), appendix B.1", BERNOULLI,
      r"$\alpha_k(Ber(p), Ber(q)) = \min(q, 1 - (1-p)^k) + \min(1 - q, 1 - p^k)$.")(
    lambda p, q, k: equal(optimum(ber(p), ber(q), k), closed_form(p, q, k), "alpha_k"))  # fmt: skip
claim("spectr.secB.1a", "Appendix B.1, below (10)", BERNOULLI,
      r"$\Omega_0 = \{0, 1\}$ in Lemma 3 gives (10) as upper bound.")(
    lambda p, q, k: equal(bound_of_set(ber(p), ber(q), k, (0, 1)), closed_form(p, q, k), "bound")
)  # fmt: skip
claim("spectr.secB.1b", "Appendix B.1, below (10)", BITS,
      r"For two tokens, $1\{y \notin S(x^k)\} < 1$ if and only if $x^k$ is $0^k$ or $1^k$.")(
    lambda x: equal(
        [y in x for y in (0, 1)], [len(set(x)) == 1] * 2, "whether 1{y not in S(x)} < 1, y = 0, 1")
)  # fmt: skip
corrected("spectr.secB.1b", Severity.MISPRINT, BITS,
          r"$1\{y \notin S(x^k)\} = 1$ for some y if and only if $x^k$ is $0^k$ or $1^k$.")(
    lambda x: equal(any(y not in x for y in (0, 1)), len(set(x)) == 1, "whether some y costs 1")
)  # fmt: skip


@claim("spectr.secB.1c", "Appendix B.1, displays below (10)", BERNOULLI)
def mixed_and_constant(p, q, k):
    r"""$\alpha_k(Ber(p), Ber(q)) = 1 - p^k - (1-p)^k + \min(p^k, q) + \min((1-p)^k, 1-q)$, the
    first three terms being the mass of drafts that are not constant."""
    ones, zeros, *kept = constant_drafts(p, q, k)
    mixed = total(mass for x, mass in iid(ber(p), k).items() if len(set(x)) == 2)
    equal(mixed, 1 - ones - zeros, "mass of mixed drafts")
    return equal(optimum(ber(p), ber(q), k), mixed + sum(kept), "alpha_k")


@claim("spectr.secB.1d", "Appendix B.1, the transport plan", BERNOULLI)
def printed_plan(p, q, k):
    r"""$\pi(1^k, 1) = \min(p^k, q)$, $\pi(0^k, 0) = \min((1-p)^k, 1-q)$ and $\pi(1^k, 0)$,
    $\pi(0^k, 1)$ the rest of $p^k$ and $(1-p)^k$ is a valid transport plan, and attains (10).

    Printed: Only these four masses are printed; for other drafts what is left of q is shared in
    proportion."""
    ones, zeros, one, zero = constant_drafts(p, q, k)
    law, rest = iid(ber(p), k), (1 - q - zero - (ones - one), q - one - (zeros - zero))
    at_least(min(rest), ZERO, "what is left for mixed drafts")
    plan = {(1,) * k: (ones - one, one), (0,) * k: (zero, zeros - zero)}
    for x in law.keys() - plan.keys():
        plan[x] = [law[x] * left / sum(rest) for left in rest]
    coupling = {(x, y): plan[x][y] for x in law for y in (0, 1)}
    equal(marginals(coupling, 2), (law, ber(q)), "marginals")
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    return equal(accepted(coupling), closed_form(p, q, k), "acceptance")


@claim("spectr.secB.1e", "Appendix B.1, end of the Bernoulli case", BERNOULLI)
def three_cases(p, q, k):
    r"""Both the display of spectr.secB.1c and (10) are 1 if $p^k \le q$ and $(1-p)^k \le 1-q$,
    $1 + q - p^k$ if $p^k > q$, and $1 + (1-q) - (1-p)^k$ if $(1-p)^k > 1-q$; there is no other
    case."""
    ones, zeros, *kept = constant_drafts(p, q, k)
    if ones > q and zeros > 1 - q:
        raise Fails("p^k > q and (1 - p)^k > 1 - q")
    value = 1 + q - ones if ones > q else 1 + (1 - q) - zeros if zeros > 1 - q else ONE
    equal(1 - ones - zeros + sum(kept), value, "the display")
    return equal(closed_form(p, q, k), value, "(10)")


claim("spectr.secB.1f", "Appendix B.1, uniform pairs", uniforms(30, k=range(1, 9)),
      r"$\alpha_k(U(d), U(d/r)) = 1 - (1 - 1/r)^k$.")(
    lambda d, r, k: equal(
        otspec.optimal_acceptance(otspec.IID(uniform(d, d), k), uniform(d, d // r)).acceptance,
        hit(r, k), "alpha_k"))  # fmt: skip


@claim("spectr.secB.1g", "Appendix B.1, uniform pairs", uniforms(6, k=(1, 2, 3)))
def drawing_from_hits(d, r, k):
    r"""Drawing Y uniformly from $S(X) \cap [d/r]$, or from $[d/r]$ if that is empty, is a valid
    transport plan that accepts $1 - (1 - 1/r)^k$."""
    wanted, law, coupling = set(range(d // r)), iid(uniform(d, d), k), {}
    for x, mass in law.items():
        drawn = wanted & set(x) or wanted
        coupling |= {(x, y): mass / len(drawn) for y in drawn}
    equal(marginals(coupling, d), (law, uniform(d, d // r)), "marginals")
    return equal(accepted(coupling), hit(r, k), "acceptance")


@claim("spectr.secB.1h", "Appendix B.1, uniform pairs", uniforms(6, k=(1, 2, 3, 4)))
def set_gives_uniform_bound(d, r, k):
    r"""$\Omega_0 = [d] \setminus [d/r]$ in Lemma 3 gives
    $\Pr(S(X) \cap [d/r] \ne \emptyset) = 1 - (1 - 1/r)^k$ as upper bound."""
    draft, others = uniform(d, d), range(d // r, d)
    equal(1 - mass_of(draft, others) ** k, hit(r, k), "Pr(S(X) meets [d/r])")
    return equal(bound_of_set(draft, uniform(d, d // r), k, others), hit(r, k), "bound")


claim("spectr.secB.2a", "Appendix B.2", uniforms(16, rho=[Fraction(i, 4) for i in range(1, 30)]),
      r"For $U(d)$ and $U(d/r)$, $\beta(\rho) = 1/\max(r, \rho)$.")(
    lambda d, r, rho: equal(
        beta(uniform(d, d), uniform(d, d // r), rho), 1 / max(Fraction(r), rho), "beta")
)  # fmt: skip


@claim("spectr.secB.2b", "Appendix B.2", uniforms(12, k=range(1, 9)))
def uniform_root(d, r, k):
    r"""For $U(d)$ and $U(d/r)$, solving (6) gives $\rho^* = r (1 - (1 - 1/r)^k)$."""
    pair, rho = (uniform(d, d), uniform(d, d // r)), r * hit(r, k)
    others = {Fraction(i, 4) for i in range(1, 4 * k + 4)} - {rho}
    above(min(abs(f(*pair, k, each)) for each in others), ZERO, "|f| elsewhere")
    return equal(f(*pair, k, rho), ZERO, "f at rho*")


@claim("spectr.secB.2c", "Appendix B.2", uniforms(6, k=(1, 2, 3)))
def k_seq_is_optimal(d, r, k):
    r"""For $U(d)$ and $U(d/r)$, k-Seq at $\rho^*$ accepts $1 - (1 - 1/r)^k$, the optimum."""
    run = alg_2(uniform(d, d), uniform(d, d // r), k, r * hit(r, k))
    equal(marginals(run.coupling(), d), (run.table, uniform(d, d // r)), "marginals")
    equal(run.accepted(), hit(r, k), "p_acc")
    return equal(run.among_drafts(), hit(r, k), "acceptance")
