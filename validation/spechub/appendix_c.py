"""Appendix C: more drafts."""

from itertools import pairwise

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases
from validation.notation import ZERO, iid, support
from validation.oracles import least_bound
from validation.spechub.algorithms import rrs, rrsw
from validation.spechub.section_3 import SIZES, variables

SEVERAL = cases(n=3, k=(2, 3), random_n=4)


def falling(rates, what):
    """No draft has more than the one before it."""
    return min(
        at_least(one, other, f"{what}: draft {i + 1}, against draft {i + 2}")
        for i, (one, other) in enumerate(pairwise(rates))
    )


def by_draft(run, draft, target, k):
    """Return what a rule accepts of each draft."""
    ran = run(draft, target, k)
    return [ran.accepted(i) for i in range(k)]


@claim("spechub.secC.1", "Appendix C.1", SEVERAL)
def later_drafts(draft, target, k):
    """More drafts offer diminishing returns: neither RRS nor RRSw accepts a later draft more often
    than an earlier one.

    Printed: “the probability mass of the residual distribution decreases, leading to lower
    acceptance rates for subsequent drafts”, with figure 9 for both.
    """
    if support(draft) < k or k < 2:
        return None
    of_rrs, of_rrsw = (by_draft(run, draft, target, k) for run in (rrs, rrsw))
    return min(falling(of_rrs, "RRS"), falling(of_rrsw, "RRSw"))


@corrected("spechub.secC.1", Severity.CONDITION, SEVERAL)
def later_independent_drafts(draft, target, k):
    """RRS does not, and the optimum of i.i.d. drafts gains no more by draft $k + 1$ than by draft
    k. Without replacement a later draft can be accepted more often.
    """
    best = [ZERO, *(least_bound(iid(draft, i), target) for i in range(1, k + 1))]
    gains = [more - less for less, more in pairwise(best)]
    return min(falling(by_draft(rrs, draft, target, k), "RRS"), falling(gains, "optimum"))


@claim("spechub.secC.2", "Appendix C.2", SIZES)
def times_n(n, k):
    """The number of variables of the program (1) is of the order $n^{k+1}$ and grows exponentially
    with k: n-fold with every draft.
    """
    found = variables("membership", n, k)
    equal(found, n ** (k + 1), "variables")
    before = variables("membership", n, k - 1) if k > 1 else n
    return equal(found, n * before, "variables, against those of one draft less")
