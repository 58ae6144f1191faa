"""Appendix C: Algorithm 1 accepts at least as often as naive sampling."""

from functools import partial
from itertools import pairwise

from validation.algorithms import residuals
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.mcsd.events import alg1, naive
from validation.notation import ONE, ZERO, overlap, same

CASES = cases(n=3, random_n=4, random_k=(1, 2, 3, 4))


@claim("mcsd.appCa", "appendix C, first statement", CASES)
def beats_naive(draft, target, k):
    r"""For every $k \ge 1$, Algorithm 1 accepts at least as often as naive sampling with k
    independent drafts.

    Printed: the acceptance rate of multi-candidate speculative sampling has an upper bound for
    multi-candidate naive sampling
    """
    return at_least(alg1(draft, target, k).accepted(), naive(draft, target, k).accepted())


@claim("mcsd.appCb", "appendix C, second paragraph", CASES)
def acceptance_is_the_complement(draft, target, k):
    r"""The acceptance rate is $1 - \sum_x P(x, R_k)$, for Algorithm 1 and for naive sampling."""
    for run in (alg1(draft, target, k), naive(draft, target, k)):
        equal(run.accepted(), 1 - sum(run.returned(k)))
    return ZERO


@claim("mcsd.appCc", "appendix C, second paragraph", CASES)
def fewer_refusals(draft, target, k):
    r"""$P_S(x, R_k) \le P_N(x, R_k)$ for every token x: with all drafts rejected, Algorithm 1
    returns x at most as often as naive sampling does.
    """
    both = zip(naive(draft, target, k).returned(k), alg1(draft, target, k).returned(k), strict=True)
    return min(at_least(bound, found, f"x = {x}") for x, (bound, found) in enumerate(both))


@claim("mcsd.eq18", "eq. (18), appendix C", CASES)
def refusals_of_algorithm_1(draft, target, k):
    r"""$P_S(x, R_k) = q_k(x) \prod_{i=1}^k P(\text{reject } x_i \mid R_{i-1})$."""
    *earlier, last = residuals(target, draft, k)
    if len(earlier) < k:
        return None
    through = ONE
    for law in earlier:
        through *= 1 - overlap(draft, law)
    return same(alg1(draft, target, k).returned(k), [mass * through for mass in last], "P_S")


@claim("mcsd.eq19", "eq. (19), appendix C", CASES)
def refusals_of_naive_sampling(draft, target, k):
    r"""$P_N(x, R_k) = q(x) (1 - p(x))^k$."""
    claimed = [q * (1 - p) ** k for p, q in zip(draft, target, strict=True)]
    return same(naive(draft, target, k).returned(k), claimed, "P_N")


@claim("mcsd.appCd", "appendix C, before eq. (20)", CASES)
def residual_vanishes(draft, target, k, first=0):
    r"""If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i$."""
    known, checked = list(residuals(target, draft, k)), None
    for i, law in enumerate(known):
        for j, later in enumerate(known[i + first :], start=i + first):
            for x, mass in enumerate(draft):
                if law[x] <= mass:
                    checked = equal(later[x], ZERO, f"i = {i}, j = {j}, x = {x}")
    return checked


corrected(
    "mcsd.appCd",
    Severity.MISPRINT,
    CASES,
    r"If $q_i(x) - p(x) \le 0$, then $q_j(x) = 0$ for $j \ge i + 1$, as far as $q_j$ is defined. "
    "The proof uses it for $i < k$ and $j = k$ only.",
)(partial(residual_vanishes, first=1))


def staying(draft, target, k):
    """Yield the tokens x with q_i(x) > p(x) for all i < k, and q_0(x), ..., q_k(x)."""
    known = list(residuals(target, draft, k))
    for x, path in enumerate(zip(*known, strict=True) if len(known) > k else ()):
        if min(path[:k]) > draft[x]:
            yield x, path


@claim("mcsd.eq20", "eq. (20), appendix C", CASES)
def no_positive_part(draft, target, k):
    r"""If $q_i(x) > p(x)$ for $i = 0, \dots, k-1$, then $q_i(x) = (q_{i-1}(x) - p(x)) / \sum_x
    (q_{i-1}(x) - p(x))_+$ for $i = 1, \dots, k$.
    """
    run, checked = alg1(draft, target, k), None
    for x, path in staying(draft, target, k):
        for i, (before, after) in enumerate(pairwise(path), start=1):
            rejection = run.rejected(i) / run.rejected(i - 1)
            checked = equal(after, (before - draft[x]) / rejection, f"i = {i}, x = {x}")
    return checked


@claim("mcsd.eq21", "eq. (21), appendix C", cases(n=4, k=(1,), random_n=8))
def first_step(draft, target, k):
    r"""For such x and $k = 1$: $P_S(x, R_1) = q(x) - p(x) \le q(x)(1 - p(x)) = P_N(x, R_1)$."""
    ours, bounds = alg1(draft, target, k).returned(1), naive(draft, target, k).returned(1)
    slacks = []
    for x, _ in staying(draft, target, k):
        equal(ours[x], target[x] - draft[x], f"x = {x}")
        equal(bounds[x], target[x] * (1 - draft[x]), f"naive sampling, x = {x}")
        slacks.append(at_least(target[x] * (1 - draft[x]), target[x] - draft[x], f"x = {x}"))
    return min(slacks, default=None)


@claim("mcsd.eq22", "eq. (22), appendix C", CASES)
def induction(draft, target, k):
    r"""For such x: $P_S(x, R_n) = [q_{n-1}(x) - p(x)] P(R_{n-1}) \le [1 - p(x)] q_{n-1}(x)
    P(R_{n-1}) \le q(x) (1 - p(x))^n = P_N(x, R_n)$.
    """
    run, bounds = alg1(draft, target, k), naive(draft, target, k).returned(k)
    before, found, slacks = run.rejected(k - 1), run.returned(k), []
    for x, path in staying(draft, target, k):
        p, q = draft[x], target[x]
        equal(found[x], (path[k - 1] - p) * before, f"x = {x}")
        middle, last = (1 - p) * path[k - 1] * before, q * (1 - p) ** k
        slacks += [at_least(middle, found[x]), at_least(last, middle)]
        equal(bounds[x], last, f"naive sampling, x = {x}")
    return min(slacks, default=None)
