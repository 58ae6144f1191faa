"""Appendix C: more drafts."""

from itertools import pairwise

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.notation import ZERO, iid, support
from validation.oracles import least_bound
from validation.spechub.algorithms import rrs, rrsw
from validation.spechub.section_2 import SEVERAL
from validation.spechub.section_3 import SIZES, variables


def falling(rates, what):
    """No draft has more than the one before it."""
    return min(at_least(*two, f"{what}: a draft, against the next") for two in pairwise(rates))


@corrected("spechub.secC.1", Severity.CONDITION, SEVERAL, independent=True)
@claim("spechub.secC.1", "Appendix C.1", SEVERAL)
def later_drafts(draft, target, k, independent=False):
    """More drafts offer diminishing returns: neither RRS nor RRSw accepts a later draft more often
    than an earlier one.
    Printed: “the probability mass of the residual distribution decreases, leading to lower
    acceptance rates for subsequent drafts”, with figure 9 for both.
    Corrected: RRS does not, and the optimum of i.i.d. drafts gains no more by draft $k + 1$ than by
    draft k. Without replacement a later draft can be accepted more often."""
    if k == 1 or (support(draft) < k and not independent):
        return None
    of_rrs = falling(map(rrs(draft, target, k).accepted, range(k)), "RRS")
    if not independent:
        return min(of_rrs, falling(map(rrsw(draft, target, k).accepted, range(k)), "RRSw"))
    best = [ZERO, *(least_bound(iid(draft, i), target) for i in range(1, k + 1))]
    return min(of_rrs, falling((more - less for less, more in pairwise(best)), "optimum"))


@claim("spechub.secC.2", "Appendix C.2", SIZES)
def times_n(n, k):
    """The number of variables of the program (1) is of the order $n^{k+1}$ and grows exponentially
    with k: n-fold with every draft."""
    before = variables("membership", n, k - 1) if k > 1 else n
    return equal(variables("membership", n, k), n * before, "variables, against one draft less")
