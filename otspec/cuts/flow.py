"""Any draft law on a small vocabulary: the minimum cut by max flow, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, zeros
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw

SET_LIMIT = 50_000
"""Most distinct draft sets for which the network is built (about a minute)."""


def by_max_flow(law: DraftLaw, target: Distribution) -> IntArray:
    """Return the minimum cut of any law, from its table of tuples.

    The network is source → T (mass of the draft set T) → tokens of T → sink (target). Floats
    are rationals: all capacities are scaled to integers by their common denominator, so that
    the cut is exactly minimal for the numbers given and no tolerance enters.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)

    Returns
    -------
    ndarray of int
        Ascending token ids.

    Raises
    ------
    ValueError
        More than 50,000 distinct draft sets of positive probability.
    """
    import networkx

    sets, masses = draft_sets(law)
    if len(sets) > SET_LIMIT:
        raise ValueError(
            f"the law has {len(sets):,} distinct draft sets, too many for max flow "
            f"(at most {SET_LIMIT:,}): use a smaller vocabulary or fewer drafts"
        )
    capacities = _whole_numbers([*masses, *target])
    network: networkx.DiGraph[Hashable] = networkx.DiGraph()
    network.add_nodes_from(["source", "sink"])
    for index, tokens in enumerate(sets):
        network.add_edge("source", ("drafts", index), capacity=capacities[index])
        # Without a capacity an edge is unbounded.
        network.add_edges_from((("drafts", index), ("token", token)) for token in tokens)
    for token, capacity in enumerate(capacities[len(sets) :]):
        network.add_edge(("token", token), "sink", capacity=capacity)
    _, (source_side, _) = networkx.minimum_cut(network, "source", "sink")
    kept = [token for token in range(law.n) if ("token", token) in source_side]
    return np.array(kept, dtype=np.intp)


def draft_sets(law: DraftLaw) -> tuple[list[tuple[int, ...]], Array]:
    """Return the distinct sets of drafts and the probability of each.

    Acceptance depends on a tuple only through its set of distinct tokens.

    Returns
    -------
    sets : list of tuple of int
        Ascending token ids.
    masses : ndarray, shape (len(sets),)
    """
    tuples, masses = law.tuples()
    ordered = np.sort(tuples, axis=1)
    # A repeated token is replaced by the largest, so that equal sets become equal rows.
    repeated = np.zeros(ordered.shape, dtype=bool)
    repeated[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    ordered = np.sort(np.where(repeated, ordered[:, -1:], ordered), axis=1)
    rows, group = np.unique(ordered, axis=0, return_inverse=True)
    totals = zeros(len(rows), like=masses)
    np.add.at(totals, group.ravel(), masses)
    return [tuple(sorted(set(row))) for row in rows.tolist()], totals


def _whole_numbers(values: list[Number]) -> list[int]:
    fractions = [Fraction(value) for value in values]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions]
