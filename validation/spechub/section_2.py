"""Section 2: one draft, and recursive rejection sampling (algorithm 1)."""

from fractions import Fraction
from itertools import combinations, pairwise

from validation import algorithms as shared
from validation.algorithms import Ran
from validation.claim import Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, cases, pairs
from validation.notation import ONE, ZERO, distinct, iid, overlap, same, support, total
from validation.oracles import least_bound
from validation.spechub.algorithms import rrs, rrsw


@claim("spechub.sec2a", "Section 2, Speculative Sampling", pairs(n=5, random_n=6))
def one_draft_is_lossless(draft, target):
    r"""One draft $x \sim p$, accepted with probability $\min(1, q(x)/p(x))$, else a token from
    $(q - p)_+$ normalised: the output is distributed as the target.
    """
    ran = Ran(shared.maximal_coupling(draft, target), iid(draft, 1))
    return same(ran.output(len(draft)), target, "output")


RATES = Domain(
    lambda: ({"rate": Fraction(m, d)} for d in range(1, 16) for m in range(d)),
    lambda rng: ({"rate": Fraction(int(rng.integers(999)), 999)} for _ in iter(int, 1)),
).one(depth=(1, 2, 3, 5, 8, 29))


@claim("spechub.sec2b", "Section 2, Speculative Sampling", RATES)
def tokens_per_call(rate, depth):
    r"""With a single draft of any length and acceptance rate $\alpha$ for each token, the expected
    number of tokens per iteration is at most $1/(1 - \alpha)$, its supremum.
    """
    stopped = [rate**j * (1 - rate) * (j + 1) for j in range(depth)]
    expected = total(stopped) + rate**depth * (depth + 1)
    missing = at_least(1 / (1 - rate), expected, "1/(1 − α)")
    return missing + equal(missing, rate ** (depth + 1) / (1 - rate), "what is missing")


@claim("spechub.sec2c", "Section 2, Rejection Sampling in Speculative Decoding", pairs(random_n=6))
def one_draft_is_optimal(draft, target):
    r"""Rejection sampling of one draft has the highest acceptance rate of all lossless rules,
    $\sum \min(p, q)$: it is a maximal coupling.
    """
    found = Ran(shared.maximal_coupling(draft, target), iid(draft, 1)).among_drafts()
    equal(found, overlap(draft, target), "acceptance")
    return equal(found, least_bound(iid(draft, 1), target), "acceptance")


def rates_fall(draft, target, k, compare):
    """Compare the chance of each draft of RRS, once all before it are rejected, with the next."""
    ran, left, chances = rrs(draft, target, k), ONE, []
    for i in range(k):
        if left:
            chances.append(ran.accepted(i) / left)
            left *= 1 - chances[-1]
    return min(
        (
            compare(one, other, f"draft {i + 1}, against draft {i + 2}")
            for i, (one, other) in enumerate(pairwise(chances))
            if one or compare is at_least
        ),
        default=None,
    )


SEVERAL = cases(n=3, k=(2, 3), random_n=4)


@claim("spechub.sec2d", "Sections 1 and 2, Recursive Rejection Sampling", SEVERAL)
def later_rates_are_lower(draft, target, k):
    """In RRS every later draft has a lower acceptance rate than the one before: the chance of draft
    i + 1, once the first i are rejected, is below that of draft i after i − 1 (where that is
    positive).

    Printed: “later iterations use a residual distribution modified by previous acceptances, leading
    to misalignment with the original draft distribution and lower acceptance rates”
    """
    return rates_fall(draft, target, k, above)


@corrected("spechub.sec2d", Severity.DEGENERATE, SEVERAL)
def later_rates_are_not_higher(draft, target, k):
    """No later draft has a higher conditional acceptance rate; the rates can be equal."""
    return rates_fall(draft, target, k, at_least)


@claim("spechub.alg1a", "Algorithm 1, with replacement", cases(n=3, random_n=4))
def lossless_with_replacement(draft, target, k):
    """Token-level RRS with independent drafts is lossless."""
    return same(rrs(draft, target, k).output(len(draft)), target, "output")


@claim("spechub.alg1b", "Algorithm 1, without replacement", cases(random_n=5))
def lossless_without_replacement(draft, target, k):
    """Token-level RRS with drafts without replacement is lossless: the changes of the draft after
    each rejection keep the marginal distribution.

    Printed: In the last round line 12 may normalise a draft whose mass is 0; the result is never
    used.
    """
    if support(draft) < k:
        return None
    return same(rrsw(draft, target, k).output(len(draft)), target, "output")


@claim("spechub.sec2e", "Section 2, Recursive Rejection Sampling without Replacement",
       cases(random_n=6, random_k=(1, 2, 3, 5, 8)))  # fmt: skip
def rejected_again(draft, target, k):
    """A token that RRS has rejected has probability 0 in the residual from then on, so that it is
    rejected whenever it is drafted again.
    """
    laws = list(shared.residuals(target, draft, k))
    for before, after in combinations(laws, 2):
        for x, mass in enumerate(draft):
            if before[x] < mass:
                equal(after[x], 0, f"residual of the rejected token {x}")
    return ZERO if len(laws) > 1 else None


@claim("spechub.sec2f", "Section 2, Recursive Rejection Sampling without Replacement",
       cases(k=(2, 3)))  # fmt: skip
def distinct_drafts_help(draft, target, k):
    """RRSw speeds up RRS by avoiding repetition but falls short of the optimum: RRSw accepts at
    least as much as RRS and at most the optimum for drafts without replacement.
    """
    if support(draft) < k:
        return None
    found = rrsw(draft, target, k).among_drafts()
    at_least(least_bound(distinct(draft, k), target), found, "optimum, against RRSw")
    return at_least(found, rrs(draft, target, k).among_drafts(), "RRSw, against RRS")
