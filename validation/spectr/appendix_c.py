"""Appendix C: lemma 4, that algorithm 2 is valid, how much it accepts, and theorem 2's proof."""

import math
from fractions import Fraction

from validation import notation as nt
from validation.algorithms import beta
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import drafts, given
from validation.notation import ONE, ZERO, as_row, collect, normalized, overlap, same
from validation.spectr import algorithms as alg
from validation.spectr.algorithms import OVERLAPPING, ROOTED, VALID, alg_2, f, hit, p_acc
from validation.spectr.section_5_6 import bounds_at_root
from validation.spectr.section_7_d import DRAFTING, decoded

STEP = Fraction(1, 4)
UNLIKE, UNLIKE_RHOS = (some.where(lambda draft, target, **_: draft != target)
                       for some in (ROOTED, OVERLAPPING))  # fmt: skip
claim("spectr.lem4a", "Lemma 4, appendix C.1", UNLIKE_RHOS,
      r"If $0 < d_{TV}(p, q) < 1$, $f(\rho) = 1 - (1 - \beta(\rho))^k - \rho \beta(\rho)$ is "
      r"decreasing on $[1, \infty)$.", printed="Monotone; its proof says decreasing.")(
    f_decreases := lambda rho, **at: above(f(**at, rho=rho), f(**at, rho=rho + STEP), "f(rho)")
)  # fmt: skip


def steps_of_lemma_4(draft, target, k):
    """Check β, p_acc and f at ρ = 1 and ρ = max q/p, and the signs of f around [1, min(k, q/p)]."""
    variation, ratio = nt.total_variation(draft, target), alg.largest_ratio(draft, target)
    equal(beta(draft, target, ONE), 1 - variation, "beta(1)")
    equal(p_acc(draft, target, k, ONE), 1 - variation**k, "p_acc at rho = 1")
    at_least(k * variation, 1 - (1 - variation) ** k, "kx at x = d_TV")
    if above(ratio, ONE, "max q/p") < math.inf:
        equal(beta(draft, target, ratio), 1 / ratio, "beta(max q/p)")
        above(ONE, p_acc(draft, target, k, ratio), "1, against p_acc at max q/p")
    end = min(Fraction(k), ratio)
    for below, beyond in zip((STEP, 2 * STEP, 3 * STEP), (STEP, 1, k), strict=True):
        above(f(draft, target, k, below), ZERO, f"f({below})")
        above(ZERO, f(draft, target, k, end + beyond), f"0, against f({end + beyond})")
    at_least(ZERO, f(draft, target, k, end), "0, against f at the upper end")
    at_least(f(draft, target, k, ONE), ZERO, "f(1)")
    return at_least(1 - variation**k, 1 - variation, "1 - d_TV^k")


claim("spectr.lem4b", "Lemma 4, appendix C.1", UNLIKE,
      r"If $0 < d_{TV}(p, q) < 1$, $\rho^* \in [1, \min\{k, \max_x q(x)/p(x)\}]$.",
)(steps_of_lemma_4)  # fmt: skip
claim("spectr.secC.1a", "Appendix C.1, proof of Lemma 4, (2) to (4)", UNLIKE,
      r"$\beta(1) = 1 - d_{TV}$ and $1 - (1 - \beta(1))^k = 1 - d_{TV}^k \ge 1 - d_{TV}$; "
      r"$1 - (1-x)^k \le kx$ on $[0, 1]$; at $\rho = \max q/p > 1$, if finite, $\beta = 1/\rho$ "
      r"and $1 - (1 - \beta)^k < 1 = \rho \beta$.")(steps_of_lemma_4)  # fmt: skip


@corrected("spectr.secC.1b", Severity.DEGENERATE, OVERLAPPING, strictly=False)
@claim("spectr.secC.1b", "Appendix C.1, proof of Lemma 4, (1)", UNLIKE_RHOS)
def both_decrease(draft, target, k, rho, strictly=True):
    r"""$\beta(\rho)$ is decreasing in $\rho$, and so is $1 - (1 - \beta(\rho))^k$.

    Printed: Decreasing, next to non-decreasing for ρβ: read as strictly; d_TV < 1.
    Corrected: $\beta$ and $1 - (1 - \beta)^k$ are non-increasing, and $\beta$ is decreasing from
    the least positive $q/p$ on."""
    if not overlap(draft, target):
        return None
    least = min(q / p for p, q in zip(draft, target, strict=True) if p and q)
    falls = above if strictly or rho >= least else at_least
    f_decreases(rho, draft=draft, target=target, k=k)
    falls(p_acc(draft, target, k, rho), p_acc(draft, target, k, rho + STEP), f"p_acc at {rho}")
    return falls(beta(draft, target, rho), beta(draft, target, rho + STEP), f"beta({rho})")


claim("spectr.secC.1c", "Appendix C.1, valid transport plan", VALID,
      r"For $\rho \ge \rho^*$, $1 - (1 - \beta(\rho))^k \ge \rho \beta(\rho)$.")(
    lambda **at: at_least(f(**at), ZERO, "the difference"))  # fmt: skip
corrected("spectr.secC.1c", Severity.MISPRINT, VALID,
          r"For $\rho \ge \rho^*$, $1 - (1 - \beta(\rho))^k \le \rho \beta(\rho)$.")(
    lambda draft, target, k, rho: at_least(
        rho * beta(draft, target, rho), p_acc(draft, target, k, rho), "rho beta"))  # fmt: skip
claim("spectr.secC.1d", "Appendix C.1, valid transport plan", VALID,
      r"For $\rho \ge \rho^*$ and all x, $\min(p, q/\rho)\, p_{acc}/\beta \le "
      r"(1 - (1-\beta)^k)/(\rho\beta)\, q \le q$.")(alg.selects)  # fmt: skip
claim("spectr.secC.1e", "Appendix C.1, valid transport plan", VALID,
      r"$\Pr(Y = X_1 = x) = \min(p(x), q(x)/\rho)$, hence $\Pr(Y = X_1) = \beta(\rho)$.",
      printed=r"Likewise $\Pr(Y = X_2 = x) = \Pr(Y \ne X_1) \Pr(Y = X_2 | Y \ne X_1) = "
      r"(1 - \beta) \min(p(x), q(x)/\rho)$. Y may equal $X_1$ though $X_1$ was rejected: by a "
      "later draft of the same value, or by the residual.")(
    lambda draft, target, k, rho: None if rho > k else same(
        as_row(collect((y, mass) for (x, y), mass in alg_2(draft, target, k, rho).coupling().items()
                       if y == x[0]), len(draft)),
        [min(p, q / rho) for p, q in zip(draft, target, strict=True)], "Pr(Y = X_1)"))  # fmt: skip
corrected("spectr.secC.1e", Severity.MISPRINT, VALID,
          r"$\Pr(X_1, \dots, X_i \text{ rejected}, X_{i+1} = x \text{ accepted}) = "
          r"(1 - \beta(\rho))^i \min(p(x), q(x)/\rho)$ for $i = 0, \dots, k - 1$.",
)(alg.selects)  # fmt: skip
claim("spectr.secC.1f", "Appendix C.1, valid transport plan", OVERLAPPING,
      r"$\Pr(Y = x, \text{one of } X^k \text{ is accepted}) = "
      r"\min(p(x), q(x)/\rho)\, (1 - (1-\beta)^k)/\beta$, which sums to $1 - (1-\beta)^k$.",
      printed="Read for β > 0.")(alg.selects)  # fmt: skip
claim("spectr.secC.1g", "Appendix C.1, last display of the validity proof", VALID,
      r"In $\Pr(Y = x) = \Pr(Y = x, \text{one accepted}) + \Pr(\text{none accepted})\, p^{res}(x)$ "
      r"the factor $\Pr(\text{none accepted})$ is $1 - (1 - \beta)^k$, as is the denominator of "
      "$p^{res}$.",
      printed="Factor and denominator are both printed wrong, so that the sum is right.")(
    lambda **at: equal(1 - alg_2(**at).accepted(), p_acc(**at), "Pr(none accepted)"))  # fmt: skip
corrected("spectr.secC.1g", Severity.MISPRINT, VALID,
          r"Both are $(1 - \beta)^k$, and the two parts sum to $q(x)$.")(alg.selects)  # fmt: skip
claim("spectr.secC.1h", "Appendix C.1, acceptance probability", VALID,
      r"For $\rho \ge \rho^*$, $\alpha(\pi_\rho) \ge \Pr(\text{one of } X^k \text{ is accepted}) = "
      r"1 - (1 - \beta(\rho))^k$.")(alg.selects)  # fmt: skip
claim("spectr.secC.1i", "Appendix C.1, optimality guarantee", alg.SMALL.where(alg.overlapping),
      r"$\alpha(\pi_{\rho^*}) \ge 1 - (1 - \beta(\rho^*))^k \ge 1 - (1 - \beta(k))^k = "
      r"c_k \sum_x \min(k p(x), q(x))$ with $c_k = (1 - (1 - \beta(k))^k) / (k \beta(k))$.")(
    lambda **at: min(bounds_at_root(**at), at_least(
        alg_2(**at, rho=alg.rho_star(**at)[1]).among_drafts(), alg.accepted_at_root(**at)[0],
        "alpha")))  # fmt: skip
claim("spectr.secC.1j", "Appendix C.1, optimality guarantee", alg.CASES,
      r"$c_k(p, q) \in [1 - (1 - 1/k)^k, 1)$.")(
    in_range := lambda k, **at: min(at_least(alg.factor(k=k, **at), hit(k, k), "c_k"),
                                    above(ONE, alg.factor(k=k, **at), "1, against c_k"))
)  # fmt: skip
corrected("spectr.secC.1j", Severity.DEGENERATE, ROOTED,
          r"$1 - (1 - 1/k)^k \le c_k < 1$ if $k \ge 2$ and $d_{TV} < 1$; $c_1 = 1$; for disjoint "
          "supports it is 0/0.")(
    lambda k, **at: in_range(k=k, **at) if k > 1 else equal(alg.factor(k=k, **at), ONE, "c_1")
)  # fmt: skip

UNIT = drafts(n=2, least=2).each(k=range(1, 9)).of(lambda draft, k: {"k": k, "x": draft[1]})
WHOLE = given(*({"k": k, "x": Fraction(size - k)} for size in range(2, 20) for k in range(1, size)))


@claim("spectr.secC.1k", "Appendix C.1, optimality guarantee", UNIT)
def quotient_behaves(k, x):
    r"""$f(x) = (1 - (1-x)^k)/(kx)$ decreases on $(0, 1/k]$, $f(1/k) = 1 - (1 - 1/k)^k$ and
    $\lim_{x \to 0^+} f(x) = 1$.

    Printed: Monotonically decreasing; for k = 1 it is constant. The limit is checked as
    $1 - f(x) \le (k-1)x/2$."""
    if not x:
        return None
    points = (x / k, (x + 1) / (2 * k), Fraction(1, k))
    here, between, end = ((1 - (1 - each) ** k) / (k * each) for each in points)
    equal(end, hit(k, k), "f(1/k)")
    at_least((k - 1) * points[0] / 2, 1 - here, "(k - 1) x / 2, against 1 - f(x)")
    return min(at_least(here, between, "f(x)"), at_least(between, end, "f between x and 1/k"))


claim("spectr.secC.1l", "Appendix C.1, above (11)", WHOLE,
      r"$kx \ge 1 - (1-x)^k$ for all $x \ge 0$.")(
    union_bound := lambda k, x: at_least(k * x, 1 - (1 - x) ** k, "kx"))  # fmt: skip
corrected("spectr.secC.1l", Severity.CONDITION, UNIT.of(lambda k, x: {"k": k, "x": 2 * x}),
          r"It holds for $0 \le x \le 2$; the proof needs $0 \le x \le 1$."
)(union_bound)  # fmt: skip
claim("spectr.eq11", "Equation (11), appendix C.1", ROOTED,
      r"$\alpha(\pi_{\rho^*}) \ge (1 - (1 - 1/k)^k) \sum_x \min(kp, q) \ge "
      r"(1 - (1 - 1/k)^k) \sum_x \min(1 - (1-p)^k, q)$.")(bounds_at_root)  # fmt: skip
claim("spectr.eq12", "Equation (12), appendix C.1; sections 5 and 6", ROOTED,
      r"$\alpha(\pi_{\rho^*}) \ge (1 - (1 - 1/k)^k)\, \alpha_k(p, q)$.",
)(bounds_at_root)  # fmt: skip


@corrected("spectr.secC.2", Severity.MISPRINT, DRAFTING, most=math.inf)
@claim("spectr.secC.2", "Appendix C.2, proof of Theorem 2", DRAFTING)
def first_token(target, most=1, **at):
    r"""When $\tau = 1$, $Y_1 \sim M_b(\cdot | x^t)$.

    Corrected: $Y_1 \sim M_b(\cdot | x^t)$, not given $\tau$: $\tau = 1$ if and only if $Y_1$ is
    none of the drafts."""
    outputs = decoded(target=target, **at).items()
    first = as_row(collect((y[0], mass) for y, mass in outputs if len(y) <= most), target.n)
    return same(normalized(first), target(()), "chance of Y_1") if any(first) else None
