"""Appendices A and E: couplings against solutions of the simplified program, and the flow."""

from fractions import Fraction

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import joints
from validation.notation import ZERO, accepted, blurred, total
from validation.spechub import programs as lp
from validation.spechub.section_3 import TWO

SHARES = joints().each(share=(Fraction(0), Fraction(1, 2), Fraction(1)))


@corrected("spechub.secAa", Severity.CONDITION, SHARES, everywhere=True)
@claim("spechub.secAa", "Appendix A, from solutions to couplings", SHARES)
def solutions_become_couplings(joint, target, k, share, everywhere=False):
    r"""Every valid solution of the simplified program becomes a coupling of $P$ and $q$ by the
    reconstruction for $y \notin S(x)$.
    Printed: “we can construct a valid coupling from a valid solution”. Each distinct token is
    counted once here; what happens otherwise is sec3.2b.
    Corrected: Every solution does if the product of what is left is added for all y, also those
    among the drafts; the cost is then at most 1 − what the solution accepts. For an optimal
    solution the two reconstructions are the same."""
    table = lp.joint_table(joint, len(target), k)
    best = sorted(lp.simplified(table, target, once=True)[1].items())
    plan = {key: mass if i % 2 else share * mass for i, (key, mass) in enumerate(best)}
    coupling = lp.completed(plan, table, target, everywhere=everywhere)
    lp.couples(coupling, table, target)
    if share == 1:  # the solution is optimal
        other = lp.completed(plan, table, target, everywhere=not everywhere)
        equal({**other, **coupling}, {**coupling, **other}, "the two reconstructions")
    return at_least(1 - total(plan.values()), 1 - accepted(coupling), "1 − what is accepted")


@corrected("spechub.secAb", Severity.CONDITION, SHARES, once=True)
@claim("spechub.secAb", "Appendix A, from couplings to solutions", SHARES)
def couplings_become_solutions(joint, target, k, share, once=False):
    r"""For a coupling $\pi'$, $\pi''(x, x_i) = \pi'(x, x_i)$ is a solution of the simplified
    program whose value is the transport cost of $\pi'$.
    Printed: With sums over i as printed a token that is drafted twice counts twice.
    Corrected: It is if the sums of the program run over the distinct tokens of x."""
    table = lp.joint_table(joint, len(target), k)
    best = lp.transport(table, target)[1]
    coupling = blurred(best, table, dict(enumerate(target)), 1 - share)
    plan = {(x, y): mass for (x, y), mass in coupling.items() if y in x}
    of_drafts, of_tokens = lp.unallocated(plan, table, target, once=once)
    at_least(min(*of_drafts.values(), *of_tokens), ZERO, "what the solution leaves")
    return equal(total(of_drafts.values()), 1 - accepted(coupling), "value of the solution")


@claim("spechub.secE", "Appendix E", TWO)
def flow_is_the_optimum(joint, target, k):
    r"""For two drafts of any law the maximum flow from s to t, with capacities $\sum_w P(v, w)$ on
    (s, v), $P(u, v)$ on (u, v), $u \ne v$, and $q(v)$ on (v, t), all in [0, 1], is the optimum of
    the simplified program; the network has $n + 2$ nodes and at most $n^2 + n$ arcs."""
    n, table = len(target), lp.joint_table(joint, len(target), k)
    value, nodes, arcs = lp.maximum_flow(table, target)
    equal((nodes, arcs), (n + 2, n * n + n), "nodes and arcs")
    return equal(value, 1 - lp.simplified(table, target)[0], "maximum flow")
