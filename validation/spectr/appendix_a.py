"""Appendix A: the bounds of lemma 3, and the steps of the proofs of lemmas 1 and 3."""

import math
from functools import partial

from validation import notation as nt
from validation.algorithms import beta
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases, given, mixed
from validation.notation import ONE, ZERO, accepted, iid, marginals, some_coupling, total
from validation.oracles import optimum
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import COUPLINGS, SMALL, hit, largest_ratio, upper_bound

BOUNDED = SMALL.where(lambda draft, target, **_: largest_ratio(draft, target) < math.inf)
UNIFORM = given(*(
    {"draft": alg.uniform(d, d), "target": alg.uniform(d, size), "k": k}
    for d in range(1, 5) for size in range(1, d + 1) if d % size == 0 for k in (1, 2, 3)
))  # fmt: skip


def bounds(draft, target, k, tight=False):
    """Check the bounds of lemma 3, which may be tight, and of what k-Seq accepts at ρ*."""
    bound, best = upper_bound(draft, target, k), optimum(draft, target, k)
    low = alg.accepted_at_root(draft, target, k)[0] if nt.overlap(draft, target) else ZERO
    at_least(best, hit(k, k) * bound, "alpha_k")
    at_least(low, hit(k, k) * bound, "alpha at rho*")
    return equal(bound, best, "bound") if tight else at_least(bound, best, "upper bound")


claim("spectr.lem3a", "Lemma 3, appendix A.1", SMALL,
      r"$\alpha_k \le \bar\alpha_k = \min_{\Omega_0 \subseteq V} \{ \sum_{y \in \Omega_0} "
      r"\min(q(y), 1 - (1 - p(y))^k) + \sum_{x \in V^k} \min(\prod p(x_i), "
      r"\sum_{y \in S(x) \setminus \Omega_0} q(y)) \}$.")(bounds)  # fmt: skip
claim("spectr.lem3b", "Lemma 3, appendix A.1", SMALL,
      r"$(1 - (1 - 1/k)^k)\, \bar\alpha_k \le \alpha_k$: the bound is tight up to that factor.",
)(bounds)  # fmt: skip
claim("spectr.lem3c", "Appendix A.1, above Lemma 3", cases(k=(1,)),
      "For $k = 1$ the upper bound matches the optimum.")(partial(bounds, tight=True))  # fmt: skip
claim("spectr.lem3d", "Appendix A.1, below Lemma 3",
      mixed(UNIFORM, cases(n=2, least=2, k=range(1, 6))),
      "The upper bound is tight for the examples of appendix B.",
      printed="In fact it is tight for all pairs (beyond.lemma3).",
)(partial(bounds, tight=True))  # fmt: skip


@claim("spectr.secA.2a", "Appendix A.2, monotonicity", COUPLINGS)
def one_more_draft(draft, target, k, order):
    r"""For a coupling $\pi$ of $p^{\otimes k}$ and q, $\pi'(x^{k+1}, y) = \pi(x^k, y)\, p(x(k+1))$
    couples $p^{\otimes k+1}$ and q and accepts at least as often."""
    joint = some_coupling(iid(draft, k), dict(enumerate(target)), order)
    larger = {((*x, z), y): m * p for (x, y), m in joint.items() for z, p in enumerate(draft)}
    equal(marginals(larger, len(target)), (iid(draft, k + 1), target), "marginals")
    return at_least(accepted(larger), accepted(joint), "acceptance")


@corrected("spectr.secA.2c", Severity.MISPRINT, BOUNDED, hits=True)
@claim("spectr.secA.2c", "Appendix A.2, consistency", BOUNDED)
def at_largest_ratio(draft, target, k, hits=False):
    r"""Its acceptance is $\alpha(\pi_{\rho_{max}}) = 1 - (1 - \beta(\rho_{max}))^k$.

    Corrected: A draw from the residual may be a rejected draft: with $\beta = 1/\rho_{max}$ and $m
    = p - q/\rho_{max}$, $\alpha = 1 - (1-\beta)^k + \sum_y q(y) [(1-\beta)^k -
    (1-\beta-m(y))^k]$."""
    if (rho := largest_ratio(draft, target)) == math.inf:
        return None
    left, pairs = 1 - 1 / rho, zip(draft, target, strict=True)
    drawn = total(q * (left**k - (left - (p - q / rho)) ** k) for p, q in pairs)
    run, chance = alg.alg_2(draft, target, k, rho), alg.p_acc(draft, target, k, rho)
    equal(run.among_drafts(), chance + (drawn if hits else ZERO), "Pr(Y in S(X))")
    alg.selects(draft, target, k, rho)
    at_least(min(run.coupling().values()), ZERO, "least mass of the coupling")
    return at_least(beta(draft, target, rho), 1 / rho, "beta(rho_max)")


claim("spectr.secA.2b", "Appendix A.2, consistency", BOUNDED,
      r"If $q/p$ is bounded, Algorithm 2 with $\rho_{max} = \max q/p$ is a valid coupling, and "
      r"$\beta(\rho_{max}) \ge 1/\rho_{max} > 0$.",
)(partial(at_largest_ratio, hits=True))  # fmt: skip


@claim("spectr.secA.2d", "Appendix A.2, consistency", cases())
def moved_target(draft, target, k):
    r"""With $p_{off} = \sum 1\{p = 0\} q$ and q' = q with that mass moved to a drafted token:
    $d_{TV}(q, q') = p_{off}$, $q'/p$ is bounded, and
    $\alpha_k(p, q) \ge \alpha_k(p, q') - p_{off}$."""
    off, slack = total(q for p, q in zip(draft, target, strict=True) if not p), ONE
    for x0 in (token for token, p in enumerate(draft) if p):
        moved = [q if p else ZERO for p, q in zip(draft, target, strict=True)]
        moved[x0] += off
        equal(nt.total_variation(target, moved), off, "d_TV(q, q')")
        equal(largest_ratio(draft, moved) < math.inf, True, "whether q'/p is bounded")
        bound = optimum(draft, tuple(moved), k) - off
        slack = min(slack, at_least(optimum(draft, target, k), bound, "alpha_k(p, q)"))
    return slack


claim("spectr.secA.3a", "Appendix A.3", COUPLINGS,
      r"For every coupling and every $\Omega_0$, $\Pr(Y \in S(X^k))$ is at most the term of "
      r"$\Omega_0$ in (9).")(
    lambda draft, target, k, order: at_least(upper_bound(draft, target, k), accepted(
        some_coupling(iid(draft, k), dict(enumerate(target)), order)), "least bound"))  # fmt: skip
claim("spectr.secA.3b", "Appendix A.3", SMALL,
      r"k-Seq at $\rho^*$ accepts at least $(1 - (1 - 1/k)^k)\, \bar\alpha_k$.",
)(bounds)  # fmt: skip
