"""Appendix C: Algorithm 1 accepts at least as often as naive sampling."""

from functools import partial
from itertools import accumulate, pairwise
from operator import mul

from validation.algorithms import residuals
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.mcsd.algorithms import CASES, accepts_more, alg1, naive, returned
from validation.mcsd.appendix_a import rejected
from validation.notation import ONE, ZERO, overlap, same

claim("mcsd.appCa", "appendix C, first statement", CASES,
      r"For every $k \ge 1$, Algorithm 1 accepts at least as often as naive sampling.",
      printed="the acceptance rate of multi-candidate speculative sampling has an upper bound for "
      "multi-candidate naive sampling",
      )(accepts_more)  # fmt: skip


@claim("mcsd.appCb", "appendix C, second paragraph", CASES)
def acceptance_is_the_complement(draft, target, k):
    r"""The acceptance rate is $1 - \sum_x P(x, R_k)$, for Algorithm 1 and for naive sampling."""
    for run in (alg1(draft, target, k), naive(draft, target, k)):
        equal(run.accepted(), 1 - sum(returned(run, k, target)))
    return ZERO


@claim("mcsd.appCc", "appendix C, second paragraph", CASES)
def fewer_refusals(draft, target, k):
    r"""$P_S(x, R_k) \le P_N(x, R_k)$ for every token x: with all drafts rejected, Algorithm 1
    returns x at most as often as naive sampling does.
    """
    runs = naive(draft, target, k), alg1(draft, target, k)
    both = zip(*(returned(run, k, target) for run in runs), strict=True)
    return min(at_least(bound, ours, f"x = {x}") for x, (bound, ours) in enumerate(both))


@claim("mcsd.eq18", "eq. (18), appendix C", CASES)
def refusals_of_algorithm_1(draft, target, k):
    r"""$P_S(x, R_k) = q_k(x) \prod_{i=1}^k P(\text{reject } x_i \mid R_{i-1})$."""
    *earlier, last = residuals(target, draft, k)
    if len(earlier) < k:
        return None
    *_, through = accumulate((1 - overlap(draft, law) for law in earlier), mul, initial=ONE)
    found = returned(alg1(draft, target, k), k, target)
    return same(found, [mass * through for mass in last], "P_S")


@claim("mcsd.eq19", "eq. (19), appendix C", CASES)
def refusals_of_naive_sampling(draft, target, k):
    r"""$P_N(x, R_k) = q(x) (1 - p(x))^k$."""
    claimed = [q * (1 - p) ** k for p, q in zip(draft, target, strict=True)]
    return same(returned(naive(draft, target, k), k, target), claimed, "P_N")


@claim("mcsd.appCd", "appendix C, before eq. (20)", CASES)
def residual_vanishes(draft, target, k, first=0):
    r"""If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i$."""
    known, found = list(residuals(target, draft, k)), None
    for i, law in enumerate(known):
        for x in (x for x, mass in enumerate(draft) if law[x] <= mass):
            for later in known[i + first :]:
                found = equal(later[x], ZERO, f"i = {i}, x = {x}: a later residual")
    return found


corrected("mcsd.appCd", Severity.MISPRINT, CASES,
          r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i + 1$, as far as $q_j$ is "
          "defined. The proof uses it for $i < k$ and $j = k$ only.",
          )(partial(residual_vanishes, first=1))  # fmt: skip


def staying(draft, target, k):
    """Yield the tokens x with q_i(x) > p(x) for all i < k, and q_0(x), ..., q_k(x)."""
    known = list(residuals(target, draft, k))
    for x, path in enumerate(zip(*known, strict=True)):
        if len(known) > k and min(path[:k]) > draft[x]:
            yield x, path


@claim("mcsd.eq20", "eq. (20), appendix C", CASES)
def no_positive_part(draft, target, k):
    r"""If $q_i(x) > p(x)$ for $i = 0, \dots, k-1$, then $q_i(x) = (q_{i-1}(x) - p(x)) / \sum_x
    (q_{i-1}(x) - p(x))_+$ for $i = 1, \dots, k$.
    """
    run, found = alg1(draft, target, k), None
    for x, path in staying(draft, target, k):
        for i, (before, after) in enumerate(pairwise(path)):
            lost = rejected(run, i + 1, target) / rejected(run, i, target)
            found = equal(after, (before - draft[x]) / lost, f"i = {i + 1}, x = {x}")
    return found


@claim("mcsd.eq22", "eq. (22), appendix C", CASES)
def induction(draft, target, k):
    r"""For such x: $P_S(x, R_n) = [q_{n-1}(x) - p(x)] P(R_{n-1}) \le [1 - p(x)] q_{n-1}(x)
    P(R_{n-1}) \le q(x) (1 - p(x))^n = P_N(x, R_n)$.
    """
    run, slacks = alg1(draft, target, k), []
    before, ours = rejected(run, k - 1, target), returned(run, k, target)
    bounds = returned(naive(draft, target, k), k, target)
    for x, path in staying(draft, target, k):
        middle, last = (1 - draft[x]) * path[k - 1] * before, target[x] * (1 - draft[x]) ** k
        equal(ours[x], (path[k - 1] - draft[x]) * before, f"Algorithm 1, x = {x}")
        equal(bounds[x], last, f"naive sampling, x = {x}")
        slacks += [at_least(middle, ours[x], f"x = {x}"), at_least(last, middle, f"x = {x}")]
    return min(slacks, default=None)


claim("mcsd.eq21", "eq. (21), appendix C", cases(n=4, k=(1,), random_n=8),
      r"For such x and $k = 1$: $P_S(x, R_1) = q(x) - p(x) \le q(x)(1 - p(x)) = P_N(x, R_1)$.",
      )(induction)  # fmt: skip
