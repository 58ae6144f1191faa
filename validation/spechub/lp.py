"""Program (1), the simplified program of section 3 and the flow of appendix E, solved exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np

from validation.claim import at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, Coupling, Table, total
from validation.simplex import Program

Plan = Coupling
"""The mass of drafts x and output y."""


def joint_table(joint: Exact, n: int, k: int) -> Table:
    """Return the law with these masses in the order of the tuples."""
    return {x: mass for x, mass in zip(product(range(n), repeat=k), joint, strict=True) if mass}


def transport(table: Table, target: Exact) -> tuple[Fraction, Plan]:
    """Solve the program (1): couple drafts and output at the least cost."""
    n = len(target)
    keys = [(x, y) for x in table for y in range(n)]
    program = Program(len(keys))
    program.objective = [ZERO if y in x else -ONE for x, y in keys]
    for i, mass in enumerate(table.values()):
        program.add([(i * n + y, 1) for y in range(n)], mass, equal=True)
    for y in range(n):
        program.add([(i * n + y, 1) for i in range(len(table))], target[y], equal=True)
    value, point = program.solve()
    return -value, dict(zip(keys, point, strict=True))


def counted(x: tuple[int, ...], y: int, *, once: bool) -> int:
    """Return how often the sums over i meet y: as often as it occurs in x, or once."""
    return int(y in x) if once else x.count(y)


def simplified(table: Table, target: Exact, *, once: bool = False) -> tuple[Fraction, Plan]:
    """Solve the simplified program, as printed or with each distinct token counted once."""
    keys = [(x, y) for x in table for y in sorted(set(x))]
    times = [counted(x, y, once=once) for x, y in keys]
    program = Program(len(keys))
    program.objective = [Fraction(count) for count in times]
    for x, mass in table.items():
        row = [(v, times[v]) for v, key in enumerate(keys) if key[0] == x]
        program.add(row, mass, equal=False)
    for y, mass in enumerate(target):
        row = [(v, times[v]) for v, key in enumerate(keys) if key[1] == y]
        program.add(row, mass, equal=False)
    value, point = program.solve()
    return 1 - value, dict(zip(keys, point, strict=True))


def unallocated(
    plan: Plan, table: Table, target: Exact, *, once: bool
) -> tuple[dict[tuple[int, ...], Fraction], list[Fraction]]:
    """Return what the sums over i leave of each tuple and of each token."""
    of_drafts, of_tokens = dict(table), list(target)
    for (x, y), mass in plan.items():
        of_drafts[x] -= counted(x, y, once=once) * mass
        of_tokens[y] -= counted(x, y, once=once) * mass
    return of_drafts, of_tokens


def completed(
    plan: Plan, table: Table, target: Exact, *, once: bool = False, everywhere: bool = False
) -> Plan:
    """Complete a solution by the product of what is left, for the tokens off the drafts.

    ``everywhere``: also for those among the drafts. Where nothing is left it adds nothing.
    """
    of_drafts, of_tokens = unallocated(plan, table, target, once=once)
    scale = total(of_tokens)
    coupling = dict(plan)
    for x, left in of_drafts.items():
        for y, wanted in enumerate(of_tokens):
            if scale and (everywhere or y not in x):
                coupling[x, y] = coupling.get((x, y), ZERO) + wanted / scale * left
    return coupling


def cost(coupling: Plan) -> Fraction:
    """Return the mass of outputs that are not among the drafts."""
    return total(mass for (x, y), mass in coupling.items() if y not in x)


def couples(coupling: Plan, table: Table, target: Exact) -> Fraction:
    """Fail unless no mass is negative and both marginals are right."""
    at_least(min(coupling.values()), ZERO, "least mass")
    for x, mass in table.items():
        row = total(coupling.get((x, y), ZERO) for y in range(len(target)))
        equal(row, mass, f"sum over y at the drafts {x}")
    for y, mass in enumerate(target):
        equal(total(coupling.get((x, y), ZERO) for x in table), mass, f"sum over drafts at {y}")
    return ZERO


def network(table: Table, target: Exact) -> Any:
    """Return appendix E's network as printed, with capacities in whole numbers.

    The unit is the graph's attribute ``unit``.
    """
    n = len(target)
    unit = int(np.lcm.reduce([each.denominator for each in (*table.values(), *target)]))
    graph: Any = nx.DiGraph(unit=unit)
    graph.add_nodes_from(["source", *range(n), "sink"])
    for v in range(n):
        starts = total(table.get((v, w), ZERO) for w in range(n))
        graph.add_edge("source", v, capacity=int(starts * unit))
        graph.add_edge(v, "sink", capacity=int(target[v] * unit))
        for u in range(n):
            if u != v:
                graph.add_edge(u, v, capacity=int(table.get((u, v), ZERO) * unit))
    return graph
