"""Claims of appendices A and E: couplings against solutions, and the flow network."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import networkx as nx

from validation.checks import Slack, over
from validation.claim import Check, Claim, Corrected, at_least, equal
from validation.instances import ENUMERATED, Exact
from validation.notation import ZERO, Table, total
from validation.spechub.instances import JOINTS, joints, over_joints
from validation.spechub.lp import (
    Plan,
    completed,
    cost,
    counted,
    couples,
    joint_table,
    network,
    simplified,
    transport,
    unallocated,
)

SHARES = (Fraction(0), Fraction(1, 2), Fraction(1))


def over_shares(slack: Slack) -> Check:
    """Return a check over joint laws, each with shares 0, 1/2 and 1 of something."""

    def instances(seed: int) -> Iterator[dict[str, Any]]:
        for instance in joints(seed, ENUMERATED // (2 * len(SHARES))):
            for share in SHARES:
                yield {**instance, "share": share}

    return over(instances, slack, JOINTS)


def feasible(table: Table, target: Exact, share: Fraction) -> Plan:
    """Return a solution that keeps this share of every second mass of an optimal one."""
    _, plan = simplified(table, target, once=True)
    return {
        key: mass if i % 2 else share * mass for i, (key, mass) in enumerate(sorted(plan.items()))
    }


def any_solution(
    joint: Exact, target: Exact, k: int, share: Fraction, *, everywhere: bool
) -> Fraction:
    """A feasible solution, each distinct token counted once, is completed to a coupling."""
    table = joint_table(joint, len(target), k)
    plan = feasible(table, target, share)
    coupling = completed(plan, table, target, once=True, everywhere=everywhere)
    couples(coupling, table, target)
    if share == 1:  # the solution is optimal
        other = completed(plan, table, target, once=True, everywhere=not everywhere)
        equal({**other, **coupling}, {**coupling, **other}, "the two reconstructions")
    accepted = total(plan.values())
    return Fraction(at_least(1 - accepted, cost(coupling), "1 − what is accepted"))


def restricted(joint: Exact, target: Exact, k: int, share: Fraction, *, once: bool) -> Fraction:
    """A coupling, restricted to the tokens of the drafts, is a solution of the same value."""
    table = joint_table(joint, len(target), k)
    _, best = transport(table, target)
    coupling = {
        (x, y): share * mass + (1 - share) * table[x] * target[y] for (x, y), mass in best.items()
    }
    plan = {(x, y): mass for (x, y), mass in coupling.items() if y in x}
    of_drafts, of_tokens = unallocated(plan, table, target, once=once)
    at_least(min(of_drafts.values()), ZERO, "what the solution leaves of some drafts")
    at_least(min(of_tokens), ZERO, "what the solution leaves of some token")
    accepted = total(counted(x, y, once=once) * mass for (x, y), mass in plan.items())
    return equal(1 - accepted, cost(coupling), "value of the solution")


def flow(joint: Exact, target: Exact, k: int) -> Fraction | None:
    """The maximum flow is the optimum of the simplified program; the network has n + 2 nodes."""
    if k != 2:
        return None
    n = len(target)
    table = joint_table(joint, n, 2)
    graph = network(table, target)
    equal(graph.number_of_nodes(), n + 2, "nodes")
    equal(graph.number_of_edges(), n * n + n, "arcs")
    unit = graph.graph["unit"]
    at_least(unit, max(capacity for _, _, capacity in graph.edges.data("capacity")), "capacity 1")
    value = Fraction(int(nx.maximum_flow_value(graph, "source", "sink")), unit)
    return equal(value, 1 - simplified(table, target)[0], "maximum flow")


APPENDIX_A = (
    Claim(
        "spechub.secAa",
        "Appendix A, from solutions to couplings",
        "Every valid solution of the simplified program becomes a coupling of $P$ and $q$ by the "
        r"reconstruction for $y \notin S(x)$.",
        over_shares(partial(any_solution, everywhere=False)),
        printed="“we can construct a valid coupling from a valid solution”. Each distinct token is "
        "counted once here; what happens otherwise is sec3.2b.",
        corrected=Corrected(
            "Every solution does if the product of what is left is added for all y, also those "
            "among the drafts; the cost is then at most 1 − what the solution accepts. For an "
            "optimal solution the two reconstructions are the same.",
            over_shares(partial(any_solution, everywhere=True)),
        ),
    ),
    Claim(
        "spechub.secAb",
        "Appendix A, from couplings to solutions",
        r"For a coupling $\pi'$, $\pi''(x, x_i) = \pi'(x, x_i)$ is a solution of the simplified "
        r"program whose value is the transport cost of $\pi'$.",
        over_shares(partial(restricted, once=False)),
        printed="With sums over i as printed a token that is drafted twice counts twice.",
        corrected=Corrected(
            "It is if the sums of the program run over the distinct tokens of x.",
            over_shares(partial(restricted, once=True)),
        ),
    ),
)

APPENDIX_E = (
    Claim(
        "spechub.secE",
        "Appendix E",
        r"For two drafts of any law the maximum flow from s to t, with capacities "
        r"$\sum_w P(v, w)$ on (s, v), $P(u, v)$ on (u, v), $u \ne v$, and $q(v)$ on (v, t), all in "
        "[0, 1], is the optimum of the simplified program; the network has $n + 2$ nodes and at "
        "most $n^2 + n$ arcs.",
        over_joints(flow),
    ),
)
