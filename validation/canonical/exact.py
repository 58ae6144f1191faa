"""Tables of drafts, kernels, couplings and flows in exact arithmetic, as plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import lcm, prod

import networkx as nx

from validation.instances import Exact

ZERO, ONE = Fraction(0), Fraction(1)

Tuple = tuple[int, ...]
Table = Mapping[Tuple, Fraction]
Kernel = Mapping[Tuple, Mapping[int, Fraction]]


def total(masses: Iterable[Fraction]) -> Fraction:
    """Return a sum as a Fraction, also of nothing."""
    return sum(masses, ZERO)


def mass_of(law: Sequence[Fraction], tokens: Iterable[int]) -> Fraction:
    """Return the mass of a set of tokens."""
    return total(law[y] for y in tokens)


def table_of(drafts: Sequence[Exact]) -> dict[Tuple, Fraction]:
    """Return P(x) of independent drafts, where it is positive."""
    masses = {
        x: prod((law[y] for law, y in zip(drafts, x, strict=True)), start=ONE)
        for x in product(range(len(drafts[0])), repeat=len(drafts))
    }
    return {x: mass for x, mass in masses.items() if mass}


def unordered(draft: Exact) -> dict[Tuple, Fraction]:
    """Return 2 p_i p_j for i < j: the probability to see these two drafts in any order."""
    return {(i, j): 2 * draft[i] * draft[j] for i, j in combinations(range(len(draft)), 2)}


def spread(supplies: Table, room: Sequence[Fraction]) -> dict[tuple[Tuple, int], Fraction]:
    """Send as much as possible of each supply to its tokens, within the room of each token.

    A maximum flow in whole numbers.
    """
    scale = lcm(*(each.denominator for each in (*supplies.values(), *room)))
    network = nx.DiGraph()
    network.add_nodes_from(("source", "sink"))
    for x, mass in supplies.items():
        network.add_edge("source", ("drafts", x), capacity=int(mass * scale))
        for y in set(x):
            network.add_edge(("drafts", x), ("token", y))
    for y, mass in enumerate(room):
        network.add_edge(("token", y), "sink", capacity=int(mass * scale))
    _, flows = nx.maximum_flow(network, "source", "sink")
    return {
        (x, y): Fraction(flows["drafts", x]["token", y], scale) for x in supplies for y in set(x)
    }


def best_kernel(table: Table, target: Sequence[Fraction]) -> dict[Tuple, dict[int, Fraction]]:
    """Return β from a maximum flow; what a tuple does not accept selects its first token."""
    accepted = spread(table, target)
    kernel = {x: {y: accepted[x, y] / mass for y in set(x)} for x, mass in table.items()}
    for x, row in kernel.items():
        row[x[0]] += 1 - total(row.values())
    return kernel


def kernel_from(digits: Tuple, table: Table) -> dict[Tuple, dict[int, Fraction]]:
    """Return β with weights from a repeated list of digits; all zeros select the least token."""
    kernel = {}
    for number, x in enumerate(table):
        tokens = sorted(set(x))
        weights = [digits[(3 * number + j) % len(digits)] for j in range(len(tokens))]
        if not any(weights):
            weights[0] = 1
        row = zip(tokens, weights, strict=True)
        kernel[x] = {y: Fraction(weight, sum(weights)) for y, weight in row}
    return kernel


def selected_law(table: Table, kernel: Kernel, n: int) -> Exact:
    """Return b(y) = Σ_x P(x) β_y(x)."""
    law = [ZERO] * n
    for x, mass in table.items():
        for y, chance in kernel[x].items():
            law[y] += mass * chance
    return tuple(law)


def overlap(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return Σ min of two laws."""
    return total(map(min, first, second))


def residual_of(target: Sequence[Fraction], law: Sequence[Fraction]) -> Exact:
    """Return (q − b)₊ normalised; q if that is nothing."""
    rest = [max(q - b, ZERO) for q, b in zip(target, law, strict=True)]
    whole = sum(rest)
    return tuple(each / whole for each in rest) if whole else tuple(target)


@dataclass(frozen=True)
class TwoSteps:
    """What comes out of selecting a draft and verifying it.

    Parameters
    ----------
    output : tuple of Fraction
        The law of the output.
    accepted : Fraction
        The probability that the second step accepts.
    among_drafts : Fraction
        The probability that the output is one of the drafts.
    """

    output: Exact
    accepted: Fraction
    among_drafts: Fraction


def two_steps(table: Table, kernel: Kernel, target: Exact) -> TwoSteps:
    """Follow every branch of selecting a draft by β and verifying it against the target."""
    law = selected_law(table, kernel, len(target))
    residual = residual_of(target, law)
    output, accepted, among = [ZERO] * len(target), ZERO, ZERO
    for x, mass in table.items():
        for y, chance in kernel[x].items():
            if not chance:
                continue
            keep = min(ONE, target[y] / law[y])
            output[y] += mass * chance * keep
            accepted += mass * chance * keep
            for z, share in enumerate(residual):
                output[z] += mass * chance * (1 - keep) * share
                among += mass * chance * (1 - keep) * share * (z in x)
    return TwoSteps(tuple(output), accepted, accepted + among)


def coupling_from(digits: Tuple, table: Table, target: Exact) -> dict[tuple[Tuple, int], Fraction]:
    """Return a coupling: a corner of the transport polytope, mixed with the product."""
    share = Fraction(digits[0] % 4, 4)
    n = len(target)
    rows = sorted(enumerate(table), key=lambda row: digits[row[0] % len(digits)])
    tokens = sorted(range(n), key=lambda y: digits[-1 - y % len(digits)])
    left = {x: table[x] for _, x in rows}
    need = {y: target[y] for y in tokens}
    plan = {(x, y): share * mass * target[y] for x, mass in table.items() for y in range(n)}
    for x, mass in left.items():
        rest = mass
        for y in tokens:
            moved = min(rest, need[y])
            plan[x, y] += (1 - share) * moved
            rest -= moved
            need[y] -= moved
    return plan


def accepted_by(plan: Mapping[tuple[Tuple, int], Fraction]) -> Fraction:
    """Return the probability that the output is one of the drafts."""
    return total(mass for (x, y), mass in plan.items() if y in x)
