"""Section 5: optimal transport with several drafts."""

import math
from fractions import Fraction

import otspec
from otspec.distributions import as_distribution
from validation.claim import at_least, claim, equal
from validation.domains import cases, given, pairs
from validation.notation import ZERO, accepted, iid, marginals, some_coupling, subsets, total
from validation.oracles import bound
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import CASES, COUPLINGS, ONE_LESS_1_E, SMALL, hit, optimum

NEAR = Fraction(1, 20)
"""How close to its limit the optimum must come."""
UNBOUNDED = pairs(least=2).of(lambda draft, target: {
    "draft": (draft[0] + draft[1], ZERO, *draft[2:]), "target": target
}).where(lambda target, **_: target[1] > 0)  # fmt: skip


@claim("spectr.eq2", "Equation (2) and membership cost, section 5", COUPLINGS)
def cost_is_rejection(draft, target, k, order):
    r"""$C(\pi) = E[1\{Y \notin S(X)\}] = \Pr(Y \notin S(X))$ and
    $\alpha(\pi) = 1 - C(\pi) = \Pr(Y \in S(X))$; for $k = 1$ the cost is $\Pr(Y \ne X)$."""
    joint = some_coupling(iid(draft, k), dict(enumerate(target)), order)
    cost = total(mass * (y not in set(x)) for (x, y), mass in joint.items())
    first = [total(m for (x, y), m in joint.items() if (*x, y).index(y) == i) for i in range(k + 1)]
    equal(cost, first[k], "C, against the mass of outputs that no draft precedes")
    if k == 1:
        equal(cost, total(m for (x, y), m in joint.items() if x != (y,)), "C, against Pr(Y != X)")
    return equal(1 - cost, total(first[:k]), "alpha")


claim("spectr.lem1a", "Lemma 1, monotonicity", CASES,
      r"$\alpha_k(p, q) \le \alpha_{k+1}(p, q)$ for all $k \ge 1$.")(
    lambda draft, target, k: at_least(
        optimum(draft, target, k + 1), optimum(draft, target, k), "alpha_{k+1}"))  # fmt: skip


@claim("spectr.lem1c", "Lemma 1, consistency", UNBOUNDED,
       r"Else $\lim_{k \to \infty} \alpha_k(p, q) = \sum_x 1\{p(x) > 0\} q(x)$.")  # fmt: skip
@claim("spectr.lem1b", "Lemma 1, consistency",
       pairs().where(lambda **pair: alg.largest_ratio(**pair) < math.inf),
       r"If $q(x)/p(x)$ is bounded, $\lim_{k \to \infty} \alpha_k(p, q) = 1$.")  # fmt: skip
def tends_to_drafted_mass(draft, target):
    """The optimum is at most the target's mass of drafted tokens, and near it for so many drafts
    that they miss any of them with a probability of at most ``NEAR``."""
    rarest = min(mass for mass in draft if mass > 0)
    enough = 1 if rarest == 1 else math.ceil(math.log(NEAR) / math.log1p(-rarest))
    few, many = (optimum(draft, target, k) for k in (3, enough))
    limit = total(q for p, q in zip(draft, target, strict=True) if p > 0)
    return min(at_least(limit, max(few, many), "limit"), at_least(many, limit - NEAR, "optimum"))


@claim("spectr.eq4", "Equation (4), section 5", SMALL)
def program_is_solved(draft, target, k):
    r"""The transport problem (3) is the linear program (4), whose least value is
    $1 - \alpha_k(p, q)$."""
    law = iid(draft, k)
    coupling = alg.best_coupling(law, target)
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    equal(marginals(coupling, len(target)), (law, target), "marginals")
    cut = min(subsets(len(target)), key=lambda tokens: bound(law, target, tokens))
    dual = {x: int(set(x) <= set(cut)) for x in law}
    dual |= {y: -int(y in cut) for y in range(len(target))}
    for x, y in ((x, y) for x in law for y in range(len(target))):
        at_least(int(y not in x), dual[x] + dual[y], f"cost of {x}, {y}, against the dual's")
    value = total(law[x] * dual[x] for x in law) + total(q * dual[y] for y, q in enumerate(target))
    equal(1 - accepted(coupling), value, "primal value, against the dual value")
    return equal(1 - value, optimum(draft, target, k), "1 - value")


@claim("spectr.sec5a", "Section 5, below (4)", SMALL.where(lambda draft, **_: ZERO not in draft))
def program_has_size(draft, target, k):
    r"""The program (4) has $n^{k+1}$ variables and $n^k + n$ equality constraints."""
    n, law = len(draft), otspec.IID(as_distribution(draft), k)
    program = otspec.programs.Membership(law, as_distribution(target), sets=False).build()
    equal(program.shape, (n**k + n, n ** (k + 1)), "rows, columns")
    return equal(int((program.row_lower != program.row_upper).sum()), 0, "inequalities")


@claim("spectr.lem2", "Lemma 2, section 5", cases(random_n=6, random_k=range(1, 7)).where(
    lambda draft, k, **_: len(draft) ** k <= 128))  # fmt: skip
def paths_are_few(draft, target, k):
    r"""The solution of (3) can be computed in time $O(n^{O(k)})$: here shortest augmenting paths
    look at no more arcs than the square of the number of variables and constraints of (4), however
    large the denominators.

    Printed: Printed is $O(n^{O(k)})$ without constants; the second half makes it checkable."""
    sent, looks = alg.largest_flow(iid(draft, k), target)
    equal(total(sent.values()), optimum(draft, target, k), "alpha_k")
    n = len(draft)
    return at_least((n ** (k + 1) + n**k + n) ** 2, looks, "bound on the looks")


claim("spectr.sec5b", "Section 5, below Lemma 2; appendix A.1",
      given(*({"k": k} for k in range(1, 1001))),
      r"$1 - (1 - 1/k)^k \ge 1 - 1/e$ for all $k \ge 1$.")(
    lambda k: at_least(hit(k, k), ONE_LESS_1_E, "1 - (1 - 1/k)^k"))  # fmt: skip
