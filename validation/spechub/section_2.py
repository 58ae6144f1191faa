"""Section 2: one draft, and recursive rejection sampling (algorithm 1)."""

from fractions import Fraction
from itertools import combinations, count, pairwise

from validation.algorithms import Ran, maximal_coupling, residuals
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, cases, pairs
from validation.notation import ONE, ZERO, distinct, iid, overlap, same, support, total
from validation.oracles import least_bound
from validation.spechub.algorithms import rrs, rrsw

DISTINCT = cases(random_k=(1, 2, 3, 4)).where(lambda draft, k, **_: support(draft) >= k)
SEVERAL = cases(n=3, k=(2, 3), random_k=(2, 3, 4))
WITHOUT = "Section 2, Recursive Rejection Sampling without Replacement"
RATES = Domain(
    lambda: ({"rate": Fraction(m, d)} for d in range(1, 16) for m in range(d)),
    lambda rng: ({"rate": Fraction(int(rng.integers(999)), 999)} for _ in count()),
).one(depth=(1, 2, 3, 5, 8, 29))


def lossless(ran, target):
    """The output is distributed as the target."""
    return same(ran.output(len(target)), target, "output")


def one_draft(draft, target):
    """Run speculative sampling of one draft."""
    return Ran(maximal_coupling(draft, target), iid(draft, 1))


claim("spechub.sec2a", "Section 2, Speculative Sampling", pairs(n=5, random_n=6),
      r"One draft $x \sim p$, accepted with probability $\min(1, q(x)/p(x))$, else a token from "
      r"$(q - p)_+$ normalised: the output is distributed as the target.",
)(lambda draft, target: lossless(one_draft(draft, target), target))  # fmt: skip
claim("spechub.alg1a", "Algorithm 1, with replacement", cases(n=3, random_k=(1, 2, 3, 4)),
      "Token-level RRS with independent drafts is lossless.",
)(lambda draft, target, k: lossless(rrs(draft, target, k), target))  # fmt: skip
claim("spechub.alg1b", "Algorithm 1, without replacement", DISTINCT,
      "Token-level RRS with drafts without replacement is lossless: the changes of the draft after "
      "each rejection keep the marginal distribution.",
      printed="In the last round line 12 may normalise a draft whose mass is 0; the result is "
      "never used.",
)(lambda draft, target, k: lossless(rrsw(draft, target, k), target))  # fmt: skip


@claim("spechub.sec2b", "Section 2, Speculative Sampling", RATES)
def tokens_per_call(rate, depth):
    r"""With a single draft of any length and acceptance rate $\alpha$ for each token, the expected
    number of tokens per iteration is at most $1/(1 - \alpha)$, its supremum."""
    stopped = [rate**j * (1 - rate) * (j + 1) for j in range(depth)]
    missing = at_least(1 / (1 - rate), total(stopped) + rate**depth * (depth + 1), "1/(1 − α)")
    return missing + equal(missing, rate ** (depth + 1) / (1 - rate), "what is missing")


@claim("spechub.sec2c", "Section 2, Rejection Sampling in Speculative Decoding", pairs(random_n=6))
def one_draft_is_optimal(draft, target):
    r"""Rejection sampling of one draft has the highest acceptance rate of all lossless rules,
    $\sum \min(p, q)$: it is a maximal coupling."""
    found = one_draft(draft, target).among_drafts()
    equal(found, overlap(draft, target), "acceptance")
    return equal(found, least_bound(iid(draft, 1), target), "acceptance")


@corrected("spechub.sec2d", Severity.DEGENERATE, SEVERAL, strictly=False)
@claim("spechub.sec2d", "Sections 1 and 2, Recursive Rejection Sampling", SEVERAL)
def later_rates(draft, target, k, strictly=True):
    """In RRS every later draft has a lower acceptance rate than the one before: the chance of draft
    i + 1, once the first i are rejected, is below that of draft i after i − 1 (where that is
    positive).
    Printed: “later iterations use a residual distribution modified by previous acceptances, leading
    to misalignment with the original draft distribution and lower acceptance rates”
    Corrected: No later draft has a higher conditional acceptance rate; the rates can be equal."""
    ran, left, chances = rrs(draft, target, k), ONE, []
    for i in range(k):
        if left:
            chances.append(ran.accepted(i) / left)
            left *= 1 - chances[-1]
    pairs_of_rates = [two for two in pairwise(chances) if two[0] or not strictly]
    compare = above if strictly else at_least
    return min((compare(*two, "a draft, against the next") for two in pairs_of_rates), default=None)


@claim("spechub.sec2e", WITHOUT, cases(random_n=6, random_k=(1, 2, 3, 5, 8)))
def rejected_again(draft, target, k):
    """A token that RRS has rejected has probability 0 in the residual from then on, so that it is
    rejected whenever it is drafted again."""
    laws = list(residuals(target, draft, k))
    for before, after in combinations(laws, 2):
        again = [mass for x, mass in enumerate(after) if before[x] < draft[x]]
        equal(total(again), 0, "residual of the rejected tokens")
    return ZERO if len(laws) > 1 else None


@claim("spechub.sec2f", WITHOUT, DISTINCT.where(lambda k, **_: k in (2, 3)))
def distinct_drafts_help(draft, target, k):
    """RRSw speeds up RRS by avoiding repetition but falls short of the optimum: RRSw accepts at
    least as much as RRS and at most the optimum for drafts without replacement."""
    found = rrsw(draft, target, k).among_drafts()
    at_least(least_bound(distinct(draft, k), target), found, "optimum, against RRSw")
    return at_least(found, rrs(draft, target, k).among_drafts(), "RRSw, against RRS")
