"""Any draft law on a small vocabulary: the minimum cut by max flow, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from otspec.arithmetic import IntArray, Number
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.support import support

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

    seen = support(law)
    size = len(seen.masses)
    if size > SET_LIMIT:
        raise ValueError(
            f"the law has {size:,} distinct draft sets, too many for max flow "
            f"(at most {SET_LIMIT:,}): use a smaller vocabulary or fewer drafts"
        )
    capacities = whole_numbers([*seen.masses, *target])
    network: networkx.DiGraph[Hashable] = networkx.DiGraph()
    network.add_nodes_from(["source", "sink"])
    for row in range(size):
        network.add_edge("source", ("drafts", row), capacity=capacities[row])
    # Without a capacity an edge is unbounded.
    network.add_edges_from(
        (("drafts", row), ("token", token))
        for row, token in zip(seen.rows.tolist(), seen.tokens.tolist(), strict=True)
    )
    for token, capacity in enumerate(capacities[size:]):
        network.add_edge(("token", token), "sink", capacity=capacity)
    _, (source_side, _) = networkx.minimum_cut(network, "source", "sink")
    kept = [token for token in range(law.n) if ("token", token) in source_side]
    return np.array(kept, dtype=np.intp)


def whole_numbers(values: list[Number]) -> list[int]:
    """Scale numbers to integers by their common denominator; floats are rationals too."""
    fractions = [Fraction(value) for value in values]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions]
