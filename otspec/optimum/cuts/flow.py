"""Cut and selection law of any draft law by max flow, in whole numbers (Theory, 1 and 3)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from otspec._base.arithmetic import Array, IntArray, Number, as_number, sums_by
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.support import Support, support

if TYPE_CHECKING:  # imported where it is used: it takes long
    from networkx import DiGraph

SET_LIMIT = 50_000  # most distinct draft sets for which the network is built (about a minute)


def by_max_flow(law: DraftLaw, target: Distribution) -> IntArray:
    """Return the minimum cut of any law, exactly for the numbers given: ascending token ids."""
    # Source → T (mass of the draft set T) → tokens of T → sink (target), in whole numbers.
    import networkx

    network, _, _ = _network(_draft_sets(law), target)
    _, (source_side, _) = networkx.minimum_cut(network, "source", "sink")
    kept = [token for token in range(law.n) if ("token", token) in source_side]
    return np.array(kept, dtype=np.intp)


def selection_by_max_flow(law: DraftLaw, target: Distribution) -> Array:
    """Return a law of the selected draft that accepts as much of the target as the flow carries."""
    # What is carried of a draft set selects its token; the rest of the set selects the first.
    seen = _draft_sets(law)
    carried, masses, _, scale = _carried(seen, target)
    first = seen.tokens[np.searchsorted(seen.rows, np.arange(len(masses)))]
    selected = sums_by(seen.tokens, carried, law.n)
    np.add.at(selected, first, masses - sums_by(seen.rows, carried, len(masses)))
    return np.array([as_number(Fraction(mass, scale), like=target) for mass in selected],
                    dtype=target.dtype)  # fmt: skip


def shortfall_by_max_flow(law: DraftLaw, selection: Distribution) -> Number:
    """Return by how much a law of the selected draft misses P(all drafts inside A) at worst."""
    # It is what cannot be carried within the law (Hall's theorem). The flow is added up: the result
    # is right or too large whatever its algorithm does.
    seen = _draft_sets(law)
    carried, masses, room, scale = _carried(seen, selection)
    of_sets = sums_by(seen.rows, carried, len(masses))
    to_tokens = sums_by(seen.tokens, carried, law.n)
    valid = (carried >= 0).all() and (of_sets <= masses).all() and (to_tokens <= room).all()
    missed = masses.sum() - (carried.sum() if valid else 0)
    return as_number(Fraction(missed, scale), like=selection)


def _draft_sets(law: DraftLaw) -> Support:
    seen = support(law)
    if len(seen.masses) > SET_LIMIT:
        raise ValueError(
            f"the law has {len(seen.masses):,} distinct draft sets, too many for max flow "
            f"(at most {SET_LIMIT:,}): use a smaller vocabulary or fewer drafts"
        )
    return seen


def _network(seen: Support, target: Distribution) -> tuple[DiGraph[Hashable], Array, int]:
    """Return source → T → tokens of T → sink, its capacities, and by what they are scaled."""
    import networkx

    capacities, scale = whole_numbers([*seen.masses, *target])
    size = len(seen.masses)
    network: DiGraph[Hashable] = networkx.DiGraph()
    network.add_nodes_from(["source", "sink"])
    for row in range(size):
        network.add_edge("source", ("drafts", row), capacity=capacities[row])
    # Without a capacity an edge is unbounded.
    network.add_edges_from((("drafts", row), ("token", token)) for row, token in _pairs(seen))
    for token, capacity in enumerate(capacities[size:]):
        network.add_edge(("token", token), "sink", capacity=capacity)
    return network, np.array(capacities, dtype=object), scale


def _carried(seen: Support, target: Distribution) -> tuple[Array, Array, Array, int]:
    """Return the maximum flow by pair, the capacities of sets and of tokens, and their scale."""
    import networkx

    network, capacities, scale = _network(seen, target)
    _, flows = networkx.maximum_flow(network, "source", "sink")
    carried = [flows["drafts", row]["token", token] for row, token in _pairs(seen)]
    masses, room = np.split(capacities, [len(seen.masses)])
    return np.array(carried, dtype=object), masses, room, scale


def _pairs(seen: Support) -> Iterator[tuple[int, int]]:
    return zip(seen.rows.tolist(), seen.tokens.tolist(), strict=True)


def whole_numbers(values: list[Number]) -> tuple[list[int], int]:
    """Scale numbers to integers by their common denominator, the second result."""
    # Floats are rationals too.
    fractions = [Fraction(value) for value in values]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions], scale
