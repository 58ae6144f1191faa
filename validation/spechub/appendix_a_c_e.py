"""Appendices A, C.1 and E: couplings and solutions of the simplified program, more drafts, flow."""

from fractions import Fraction
from itertools import pairwise

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import joints
from validation.notation import ZERO, accepted, blurred, iid, support, total
from validation.oracles import least_bound
from validation.spechub import algorithms as alg
from validation.spechub.section_2_3 import SEVERAL, TWO, cost

SHARES = joints().each(share=(Fraction(0), Fraction(1, 2), Fraction(1)))


@corrected("spechub.secAa", Severity.CONDITION, everywhere=True)
@claim("spechub.secAa", "Appendix A, from solutions to couplings", SHARES)
def solutions_become_couplings(joint, target, k, share, everywhere=False):
    r"""Every valid solution of the simplified program becomes a coupling of $P$ and $q$ by the
    reconstruction for $y \notin S(x)$.
    Printed: “we can construct a valid coupling from a valid solution”. Each distinct token is
    counted once here; what happens otherwise is sec3.2b.
    Corrected: Every solution does if the product of what is left is added for all y, also those
    among the drafts."""
    table = alg.joint_table(joint, len(target), k)
    best = sorted(alg.simplified(table, target, once=True)[1].items())
    plan = {key: mass if i % 2 else share * mass for i, (key, mass) in enumerate(best)}
    coupling = alg.completed(plan, table, target, everywhere=everywhere)
    alg.couples(coupling, table, target)
    if share == 1:  # the solution is optimal
        other = alg.completed(plan, table, target, everywhere=not everywhere)
        equal({**other, **coupling}, {**coupling, **other}, "the two reconstructions")
    return at_least(1 - total(plan.values()), 1 - accepted(coupling), "1 − what is accepted")


@corrected("spechub.secAb", Severity.CONDITION, once=True)
@claim("spechub.secAb", "Appendix A, from couplings to solutions", SHARES)
def couplings_become_solutions(joint, target, k, share, once=False):
    r"""For a coupling $\pi'$, $\pi''(x, x_i) = \pi'(x, x_i)$ is a solution of the simplified
    program whose value is the transport cost of $\pi'$.
    Printed: With sums over i as printed a token that is drafted twice counts twice.
    Corrected: It is if the sums of the program run over the distinct tokens of x."""
    table = alg.joint_table(joint, len(target), k)
    best = alg.transport(table, target)[1]
    coupling = blurred(best, table, dict(enumerate(target)), 1 - share)
    plan = {(x, y): mass for (x, y), mass in coupling.items() if y in x}
    of_drafts, of_tokens = alg.unallocated(plan, table, target, once=once)
    at_least(min(*of_drafts.values(), *of_tokens), ZERO, "what the solution leaves")
    return equal(total(of_drafts.values()), 1 - accepted(coupling), "value of the solution")


@corrected("spechub.secC.1", Severity.CONDITION, independent=True)
@claim("spechub.secC.1", "Appendix C.1", SEVERAL)
def later_drafts(draft, target, k, independent=False):
    """More drafts offer diminishing returns: RRS and RRSw accept no later draft more often.
    Printed: “the probability mass of the residual distribution decreases, leading to lower
    acceptance rates for subsequent drafts”, with figure 9 for both.
    Corrected: RRS does not. Without replacement a later draft can be accepted more often."""
    if k == 1 or (support(draft) < k and not independent):
        return None
    rates = {"RRS": map(alg.rrs(draft, target, k=k).accepted, range(k))}
    if independent:
        best = [ZERO, *(least_bound(iid(draft, i), target) for i in range(1, k + 1))]
        rates["optimum"] = (more - less for less, more in pairwise(best))
    else:
        rates["RRSw"] = map(alg.rrsw(draft, target, k=k).accepted, range(k))
    return min(at_least(*two, f"{name}: a draft, against the next")
               for name, found in rates.items() for two in pairwise(found))  # fmt: skip


claim("spechub.secE", "Appendix E", TWO,
      "For two drafts of any law the maximum flow from s to t, with capacities "
      r"$\sum_w P(v, w)$ on (s, v), $P(u, v)$ on (u, v), $u \ne v$, and $q(v)$ on (v, t), all in "
      "[0, 1], is the optimum of the simplified program; the network has $n + 2$ nodes and at most "
      "$n^2 + n$ arcs.",
)(lambda joint, target, k: equal(
  alg.maximum_flow(alg.joint_table(joint, n := len(target), k), target),
  (1 - cost(joint, target, k), n + 2, n * n + n), "maximum flow, nodes and arcs"))  # fmt: skip
