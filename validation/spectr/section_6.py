"""Section 6: k-sequential selection, algorithm 2 and theorem 1."""

from fractions import Fraction

from validation.algorithms import beta
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import given
from validation.notation import ONE, ZERO, iid, marginals, overlap, same
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import RHOS, ROOTED, accepted_at_root, alg_2, f, optimum, p_acc

GRID = tuple(Fraction(i, 2) for i in range(1, 13))
ACCURACIES = tuple(Fraction(1, size) for size in (2, 10, 1000))


@claim("spectr.alg2a", "Algorithm 2, steps 2 to 7", RHOS)
def accepts_with_beta(draft, target, k, rho):
    r"""For every $\rho \ge 1$ each draft that is reached is accepted with probability
    $\beta(\rho) = \sum_x \min(p(x), q(x)/\rho)$."""
    run, reached, chance = alg_2(draft, target, k, rho), ONE, beta(draft, target, rho)
    for i in range(k):
        equal(run.accepted(i), reached * chance, f"Pr(draft {i} is accepted)")
        reached -= run.accepted(i)
    return ZERO


claim("spectr.alg2b", "Algorithm 2, step 1", RHOS,
      r"$p_{acc} = 1 - (1 - \beta(\rho))^k$ is the probability that one of the drafts is "
      "accepted.")(
    lambda **at: equal(alg_2(**at).accepted(), p_acc(**at), "Pr(one of the drafts is accepted)")
)  # fmt: skip


@claim("spectr.eq5", "Equation (5), Algorithm 2, step 1; appendix C.1", alg.VALID)
def residual_is_a_law(draft, target, k, rho):
    r"""For $\rho \ge \rho^*$,
    $p^{res} = (q - \min(p, q/\rho)\, p_{acc}/\beta(\rho)) / (1 - p_{acc})$ is a distribution."""
    chance, scale = p_acc(draft, target, k, rho), beta(draft, target, rho)
    if chance == 1 or scale == 0:
        raise Fails("p^res reads 0/0")
    pairs = zip(draft, target, strict=True)
    law = [(q - min(p, q / rho) * chance / scale) / (1 - chance) for p, q in pairs]
    same(law, alg.residual(draft, target, k, rho), "(5), against its form without 0/0,")
    equal(sum(law), ONE, "sum of p^res")
    return at_least(min(law), ZERO, "least entry of p^res")


@corrected("spectr.eq5", Severity.DEGENERATE, RHOS)
def residual_unless_0_by_0(**at):
    r"""It is one if $\beta > 0$ and $p_{acc} < 1$. If $p_{acc} = 1$ (then $p = q$ and $\rho = 1$)
    it reads 0/0 and is never drawn from. If $\beta = 0$ (disjoint supports) it reads 0/0 as well,
    but with $\sum_{i<k} (1-\beta)^i$ for $p_{acc}/\beta$ it is q."""
    if not overlap(at["draft"], at["target"]):
        return equal(alg.residual(**at), at["target"], "p^res")
    if p_acc(**at) == 1:
        equal((at["draft"], at["rho"]), (at["target"], 1), "p and rho")
        return equal(alg_2(**at).accepted(), ONE, "Pr(a draft is accepted)")
    return residual_is_a_law(**at) if alg.determined(**at) else None


@corrected("spectr.eq6", Severity.DEGENERATE, ROOTED,
           r"It has exactly one if $d_{TV}(p, q) < 1$; otherwise every $\rho$ solves "
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


@claim("spectr.thm1a", "Theorem 1 and Algorithm 2, section 6", alg.VALID)
def is_a_coupling(draft, target, k, rho):
    r"""For $\rho \ge \rho^*$ Algorithm 2 is a valid transport plan from $p^{\otimes k}$ to q.

    Printed: Pairs with disjoint supports, for which (6) does not determine ρ*, are left to
    spectr.eq5. The converse is not printed, and does not hold."""
    joint = alg_2(draft, target, k, rho).coupling()
    equal(marginals(joint, len(target)), (iid(draft, k), target), "marginals")
    return at_least(min(joint.values()), ZERO, "least mass of the coupling")


claim("spectr.thm1b", "Theorem 1, section 6", ROOTED,
      r"At $\rho = \rho^*$ its acceptance is at least $(1 - e^{-1})\, \alpha_k(p, q)$.")(
    lambda **at: at_least(accepted_at_root(**at)[0], alg.ONE_LESS_1_E * optimum(**at), "alpha")
)  # fmt: skip


@claim("spectr.thm1c", "Theorem 1, section 6; appendix C.1",
       ROOTED.where(lambda k, **_: k > 1).each(delta=ACCURACIES))  # fmt: skip
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
