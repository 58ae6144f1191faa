"""The optimum by ways that share no code with the package: all sets, and maximum flow."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

import networkx as nx

import otspec
from otspec.drafts import DraftLaw
from validation.instances import Exact
from validation.notation import (
    ZERO,
    Coupling,
    Table,
    Tokens,
    collect,
    mass_of,
    subsets,
    support,
    total,
)


def table_of(law: DraftLaw) -> Table:
    """Return the tuples of drafts with their probabilities, as the package states the law."""
    tuples, masses = law.tuples()
    return dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))


def bound(table: Mapping[Tokens, Fraction], target: Exact, tokens: Sequence[int]) -> Fraction:
    """Return q(A) + 1 − P(all drafts inside A), by enumerating the drafts."""
    inside = total(mass for x, mass in table.items() if set(x) <= set(tokens))
    return mass_of(target, tokens) + 1 - inside


def least_bound(table: Mapping[Tokens, Fraction], target: Exact) -> Fraction:
    """Return the least bound over all token sets."""
    return min(bound(table, target, tokens) for tokens in subsets(len(target)))


def spread(supplies: Mapping[Tokens, Fraction], room: Sequence[Fraction]) -> Coupling:
    """Send as much as possible of each supply to its tokens, within the room of each token.

    A maximum flow in whole numbers.
    """
    scale = lcm(*(each.denominator for each in (*supplies.values(), *room)))
    network = nx.DiGraph()
    network.add_nodes_from(("source", "sink"))
    for x, mass in supplies.items():
        network.add_edge("source", ("drafts", x), capacity=int(mass * scale))
        for token in set(x):
            network.add_edge(("drafts", x), ("token", token))
    for token, mass in enumerate(room):
        network.add_edge(("token", token), "sink", capacity=int(mass * scale))
    _, flows = nx.maximum_flow(network, "source", "sink")
    return {
        (x, token): Fraction(flows["drafts", x]["token", token], scale)
        for x in supplies
        for token in set(x)
    }


def flow(table: Mapping[Tokens, Fraction], target: Exact) -> Fraction:
    """Return the optimal acceptance as a maximum flow from drafts, as sets, to outputs."""
    sets = collect((tuple(sorted(set(x))), mass) for x, mass in table.items())
    return total(spread(sets, target).values())


def laws(draft: Exact, target: Exact, k: int) -> Iterator[DraftLaw]:
    """Yield a law of every kind that exists for this pair."""
    yield otspec.IID(draft, k)
    yield otspec.Independent([draft, target][:k] if k <= 2 else [draft] * (k - 1) + [target])
    if support(draft) >= k:
        yield otspec.WithoutReplacement(draft, k)
        yield otspec.TopPlusOne(draft, k)
    if support(draft) >= 2 and k == 2:
        yield otspec.Hub(draft)


def best_coupling(table: Mapping[Tokens, Fraction], target: Exact) -> Coupling:
    """Return a coupling that accepts as often as any: a maximum flow, the rest independent."""
    flows = spread(table, target)
    kept = {y: mass - total(m for (_, z), m in flows.items() if z == y)
            for y, mass in enumerate(target)}  # fmt: skip
    rest = total(kept.values())
    found = dict(flows)
    for x, mass in table.items():
        left = mass - total(flows[x, y] for y in set(x))
        for y, open_mass in kept.items():
            if left and open_mass:
                found[x, y] = found.get((x, y), ZERO) + left * open_mass / rest
    return found


def best_kernel(
    table: Mapping[Tokens, Fraction], target: Exact
) -> dict[Tokens, dict[int, Fraction]]:
    """Return an optimal selection: what a tuple does not accept selects its first token."""
    flows = spread(table, target)
    kernel = {x: {y: flows[x, y] / mass for y in set(x)} for x, mass in table.items()}
    for x, row in kernel.items():
        row[x[0]] += 1 - total(row.values())
    return kernel
