"""Program (1), the simplified program of section 3 and the flow of appendix E, solved exactly."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product
from math import lcm
from typing import Any

import networkx as nx

from validation import notation as nt
from validation.claim import at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, Coupling, Table, Tokens, total
from validation.simplex import Program


def joint_table(joint: Exact, n: int, k: int) -> Table:
    """Return the law with these masses in the order of the tuples."""
    return {x: mass for x, mass in zip(product(range(n), repeat=k), joint, strict=True) if mass}


def program_of(
    table: Table, target: Exact, keys: Iterable[tuple[Tokens, int, int]], *, equal: bool = False
) -> Program:
    """Return the program in the masses of some drafts and outputs, with both marginals.

    With each come how often it counts in its rows, and in the sum that is maximised. ``equal``:
    whether the marginals are attained.
    """
    chosen = list(enumerate(keys))
    program = Program(len(chosen))
    program.objective = [Fraction(gain) for _, (*_, gain) in chosen]
    for part, marginal in enumerate((table.items(), enumerate(target))):
        for line, mass in marginal:
            row = [(v, key[2]) for v, key in chosen if key[part] == line]
            program.add(row, mass, equal=equal)
    return program


def transport(table: Table, target: Exact) -> tuple[Fraction, Coupling]:
    """Solve the program (1): couple drafts and output at the least cost."""
    keys = list(product(table, range(len(target))))
    rows = ((x, y, 1, -int(y not in x)) for x, y in keys)
    value, point = program_of(table, target, rows, equal=True).solve()
    return -value, dict(zip(keys, point, strict=True))


def simplified(table: Table, target: Exact, *, once: bool = False) -> tuple[Fraction, Coupling]:
    """Solve the simplified program, as printed or with each distinct token counted once."""
    keys = [(x, y) for x in table for y in sorted(set(x))]
    times = [1 if once else x.count(y) for x, y in keys]
    rows = ((*key, count, count) for key, count in zip(keys, times, strict=True))
    value, point = program_of(table, target, rows).solve()
    return 1 - value, dict(zip(keys, point, strict=True))


def unallocated(
    plan: Coupling, table: Table, target: Exact, *, once: bool
) -> tuple[Table, list[Fraction]]:
    """Return what the sums over i leave of each tuple and of each token."""
    of_drafts, of_tokens = dict(table), list(target)
    for (x, y), mass in plan.items():
        times = 1 if once else x.count(y)
        of_drafts[x] -= times * mass
        of_tokens[y] -= times * mass
    return of_drafts, of_tokens


def completed(
    plan: Coupling, table: Table, target: Exact, *, once: bool = True, everywhere: bool = False
) -> Coupling:
    """Complete a solution by the product of what is left, for the tokens off the drafts.

    ``everywhere``: also for those among the drafts. Where nothing is left it adds nothing.
    """
    of_drafts, of_tokens = unallocated(plan, table, target, once=once)
    coupling, scale = dict(plan), total(of_tokens)
    for (x, left), (y, wanted) in product(of_drafts.items(), enumerate(of_tokens)):
        if scale and (everywhere or y not in x):
            coupling[x, y] = coupling.get((x, y), ZERO) + wanted / scale * left
    return coupling


def couples(coupling: Coupling, table: Table, target: Exact) -> Fraction:
    """Fail unless no mass is negative and both marginals are right."""
    at_least(min(coupling.values()), ZERO, "least mass")
    drafts, output = nt.marginals(coupling, len(target))
    for x, mass in table.items():
        equal(drafts.get(x, ZERO), mass, f"sum over y at the drafts {x}")
    return nt.same(output, target, "sum over drafts")


def maximum_flow(table: Table, target: Exact) -> tuple[Fraction, int, int]:
    """Return the maximum flow of appendix E's network as printed, and its nodes and arcs."""
    n, network = len(target), nx.DiGraph()
    arcs: dict[Any, Fraction] = {
        ("source", v): total(table.get((v, w), ZERO) for w in range(n)) for v in range(n)
    }
    arcs |= {(v, "sink"): mass for v, mass in enumerate(target)}
    arcs |= {(u, v): table.get((u, v), ZERO) for u, v in permutations(range(n), 2)}
    unit = lcm(*(capacity.denominator for capacity in arcs.values()))
    for (tail, head), capacity in arcs.items():
        at_least(ONE, capacity, "capacity 1")
        network.add_edge(tail, head, capacity=int(capacity * unit))
    value = Fraction(int(nx.maximum_flow_value(network, "source", "sink")), unit)
    return value, network.number_of_nodes(), network.number_of_edges()
