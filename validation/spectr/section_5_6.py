"""Sections 5 and 6: transport with several drafts, k-sequential selection (alg. 2, theorem 1)."""

import math
from fractions import Fraction

import otspec
from otspec.distributions import as_distribution
from validation import notation as nt
from validation import oracles
from validation.algorithms import beta, remaining
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, given, pairs
from validation.notation import ONE, ZERO, accepted, iid, marginals, overlap, total
from validation.oracles import optimum
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import ROOTED, SMALL, accepted_at_root, f, hit, p_acc

NEAR = Fraction(1, 20)  # how close to its limit the optimum must come
UNBOUNDED = pairs(least=2).of(lambda draft, target: {
    "draft": (draft[0] + draft[1], ZERO, *draft[2:]), "target": target
}).where(lambda target, **_: target[1] > 0)  # fmt: skip
GRID = tuple(Fraction(i, 2) for i in range(1, 13))


@claim("spectr.eq2", "Equation (2) and membership cost, section 5", alg.COUPLINGS)
def cost_is_rejection(draft, target, k, order):
    r"""$C(\pi) = E[1\{Y \notin S(X)\}] = \Pr(Y \notin S(X))$ and
    $\alpha(\pi) = 1 - C(\pi) = \Pr(Y \in S(X))$; for $k = 1$ the cost is $\Pr(Y \ne X)$."""
    joint = nt.some_coupling(iid(draft, k), dict(enumerate(target)), order)
    cost = total(mass * (y not in set(x)) for (x, y), mass in joint.items())
    first = [total(m for (x, y), m in joint.items() if (*x, y).index(y) == i) for i in range(k + 1)]
    equal(cost, first[k], "C, against the mass of outputs that no draft precedes")
    if k == 1:
        equal(cost, total(m for (x, y), m in joint.items() if x != (y,)), "C, against Pr(Y != X)")
    return equal(1 - cost, total(first[:k]), "alpha")


claim("spectr.lem1a", "Lemma 1, monotonicity", alg.CASES,
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
    law, n = iid(draft, k), len(target)
    coupling = oracles.best_coupling(law, target)
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    equal(marginals(coupling, n), (law, target), "marginals")
    cut = min(nt.subsets(n), key=lambda tokens: oracles.bound(law, target, tokens))
    dual = {x: int(set(x) <= set(cut)) for x in law} | {y: -int(y in cut) for y in range(n)}
    for x, y in ((x, y) for x in law for y in range(n)):
        at_least(int(y not in x), dual[x] + dual[y], f"cost of {x}, {y}, against the dual's")
    value = total(mass * dual[each] for each, mass in (law | dict(enumerate(target))).items())
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
    (sent, looks), n = oracles.largest_flow(iid(draft, k), target), len(draft)
    equal(total(sent.values()), optimum(draft, target, k), "alpha_k")
    return at_least((n ** (k + 1) + n**k + n) ** 2, looks, "bound on the looks")


claim("spectr.sec5b", "Section 5, below Lemma 2; appendix A.1",
      given(*({"k": k} for k in range(1, 1001))),
      r"$1 - (1 - 1/k)^k \ge 1 - 1/e$ for all $k \ge 1$.")(
    lambda k: at_least(hit(k, k), alg.ONE_LESS_1_E, "1 - (1 - 1/k)^k"))  # fmt: skip
claim("spectr.alg2a", "Algorithm 2, steps 2 to 7", alg.RHOS,
      r"For every $\rho \ge 1$ each draft that is reached is accepted with probability "
      r"$\beta(\rho) = \sum_x \min(p(x), q(x)/\rho)$.")(alg.selects)  # fmt: skip
claim("spectr.alg2b", "Algorithm 2, step 1", alg.RHOS,
      r"$p_{acc} = 1 - (1 - \beta(\rho))^k$ is the probability that one of the drafts is "
      "accepted.")(alg.selects)  # fmt: skip


@corrected("spectr.eq5", Severity.DEGENERATE, alg.RHOS, unless=True)
@claim("spectr.eq5", "Equation (5), Algorithm 2, step 1; appendix C.1", alg.VALID)
def residual_is_a_law(draft, target, k, rho, unless=False):
    r"""For $\rho \ge \rho^*$,
    $p^{res} = (q - \min(p, q/\rho)\, p_{acc}/\beta(\rho)) / (1 - p_{acc})$ is a distribution.

    Corrected: $p^{res}$ is a distribution if $\beta > 0$ and $p_{acc} < 1$. If $p_{acc} = 1$ it
    reads 0/0 and is never drawn from. If $\beta = 0$ it reads 0/0 as well, but with
    $\sum_{i<k} (1-\beta)^i$ for $p_{acc}/\beta$ it is q."""
    chance, scale = p_acc(draft, target, k, rho), beta(draft, target, rho)
    if unless and scale == 0:
        return equal(remaining(draft, target, k, rho), target, "p^res")
    if unless and chance == 1:
        equal((draft, rho), (target, 1), "p and rho")
        return equal(alg.alg_2(draft, target, k, rho).accepted(), ONE, "Pr(a draft is accepted)")
    if chance == 1 or scale == 0:
        raise Fails("p^res reads 0/0")
    if unless and not alg.determined(draft, target, k, rho):
        return None
    pairs = zip(draft, target, strict=True)
    law = tuple((q - min(p, q / rho) * chance / scale) / (1 - chance) for p, q in pairs)
    drawn = nt.normalized(remaining(draft, target, k, rho))
    equal((law, sum(law)), (drawn, ONE), "(5), and its sum, against its form without 0/0")
    return at_least(min(law), ZERO, "least entry of p^res")


@corrected("spectr.eq6", Severity.DEGENERATE, ROOTED,
           r"It has exactly one solution if $d_{TV}(p, q) < 1$; otherwise every $\rho$ solves "
           "it.")  # fmt: skip
@claim("spectr.eq6", "Equation (6), Theorem 1", alg.CASES)
def has_one_root(draft, target, k):
    r"""$1 - (1 - \beta(\rho))^k = \rho\,\beta(\rho)$ has exactly one solution $\rho^*$.

    Printed: Let $\rho^*$ be the solution to the identity below."""
    values = {rho: f(draft, target, k, rho) for rho in GRID}
    roots = [rho for rho in GRID if values[rho] == 0]
    if len(roots) > 1:
        raise Fails(f"rho = {roots[0]} and rho = {roots[1]} both solve (6)")
    low, high = alg.rho_star(draft, target, k)
    below = min((values[rho] for rho in GRID if rho < low), default=ONE)
    beyond = max((values[rho] for rho in GRID if rho > high), default=-ONE)
    return min(above(below, ZERO, "f below the root"), above(ZERO, beyond, "0, against f beyond"))


def bounds_at_root(draft, target, k):
    """Check the bounds of what algorithm 2 accepts at ρ*, by c_k, Σ min(kp, q) and the optimum."""
    low, best, rate = accepted_at_root(draft, target, k)[0], optimum(draft, target, k), hit(k, k)
    inflated = total(min(k * p, q) for p, q in zip(draft, target, strict=True))
    at_k, factor = p_acc(draft, target, k, Fraction(k)), alg.factor(draft, target, k)
    equal(at_k, factor * inflated, "p_acc at rho = k")
    at_least(low, at_k, "p_acc at rho*")
    at_least(low, rate * inflated, "p_acc at rho*, against inflated")
    at_least(inflated, overlap([1 - (1 - p) ** k for p in draft], target), "sum of min(kp, q)")
    at_least(low, alg.ONE_LESS_1_E * best, "alpha, against 1 - 1/e")
    return at_least(low, rate * best, "alpha")


claim("spectr.thm1a", "Theorem 1 and Algorithm 2, section 6", alg.VALID,
      r"For $\rho \ge \rho^*$ Algorithm 2 is a valid transport plan from $p^{\otimes k}$ to q.",
      printed="Pairs with disjoint supports, for which (6) does not determine ρ*, are left to "
      "spectr.eq5. The converse is not printed, and does not hold.")(alg.selects)  # fmt: skip
claim("spectr.thm1b", "Theorem 1, section 6", ROOTED,
      r"At $\rho = \rho^*$ its acceptance is at least $(1 - e^{-1})\, \alpha_k(p, q)$.",
)(bounds_at_root)  # fmt: skip


@claim("spectr.thm1c", "Theorem 1, section 6; appendix C.1", ROOTED.where(
    lambda k, **_: k > 1).each(delta=[Fraction(1, size) for size in (2, 10, 1000)]))  # fmt: skip
def search_is_quick(draft, target, k, delta):
    r"""$\rho^*$ can be computed up to accuracy $\delta$ in time $O(n \log((k-1)/\delta))$: binary
    search over $[1, k]$ takes $n \lceil \log_2((k-1)/\delta) \rceil$ steps.

    Printed: For k = 1, where ρ* = 1, the printed time is the logarithm of 0; k ≥ 2 here."""
    low, high, steps = ONE, Fraction(k), 0
    while high - low > delta:
        middle, steps = (low + high) / 2, steps + len(draft)
        low, high = (low, middle) if f(draft, target, k, middle) <= 0 else (middle, high)
    at_least(ZERO, f(draft, target, k, high), "0, against f at what is found")
    at_least(f(draft, target, k, high - delta), ZERO, "f a distance delta below")
    halvings = next(i for i in range(100) if 2**i * delta >= k - 1)
    return at_least(len(draft) * halvings, steps, "bound on the steps")


@claim("spectr.sec6a", "Section 6, below Theorem 1", given(*({"k": k} for k in range(2, 9))))
def worse_or_optimal(k):
    """k-Seq is strictly worse than the optimum in some cases and optimal in non-trivial others:
    here $Ber(1/4)$ against $Ber(1/10)$ and $Ber(3/4)$, and $U(d)$ against $U(d/r)$."""
    for d, size in ((4, 2), (5, 1), (6, 2), (6, 3)):
        pair = alg.uniform(d, d), alg.uniform(d, size)
        equal(accepted_at_root(*pair, k), (optimum(*pair, k),) * 2, f"U({d}) against U({size})")
    worse = ((alg.ber(Fraction(1, 4)), alg.ber(b)) for b in (Fraction(1, 10), Fraction(3, 4)))
    return min(above(optimum(*pair, k), accepted_at_root(*pair, k)[1], "alpha_k") for pair in worse)
