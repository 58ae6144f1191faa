"""Any draft law on a small vocabulary: cut and selection law by max flow, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number, sums_by
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.support import Support, support

if TYPE_CHECKING:  # imported where it is used: it takes long
    from networkx import DiGraph

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

    drafts = _Drafts.of(law)
    _, (source_side, _) = networkx.minimum_cut(drafts.network(target)[0], "source", "sink")
    kept = [token for token in range(law.n) if ("token", token) in source_side]
    return np.array(kept, dtype=np.intp)


def selection_by_max_flow(law: DraftLaw, target: Distribution) -> Array:
    """Return a law of the selected draft that accepts as much of the target as the flow carries.

    What is carried of a draft set T selects the token that it is carried to; the rest of T selects
    its first token.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n,)
        In the arithmetic of the target; floats are the exact law, rounded.

    Raises
    ------
    ValueError
        As :func:`by_max_flow`.
    """
    drafts = _Drafts.of(law)
    carried, masses, _, scale = drafts.carried(target)
    seen = drafts.seen
    first = seen.tokens[np.searchsorted(seen.rows, np.arange(len(masses)))]
    selected = sums_by(seen.tokens, carried, law.n)
    np.add.at(selected, first, masses - sums_by(seen.rows, carried, len(masses)))
    return np.array([as_number(Fraction(mass, scale), like=target) for mass in selected],
                    dtype=target.dtype)  # fmt: skip


def shortfall_by_max_flow(law: DraftLaw, selection: Distribution) -> Number:
    """Return by how much a law of the selected draft misses P(all drafts inside A) at worst.

    That is what of the draft sets cannot be carried to their tokens within the law (Hall's
    theorem). The flow is checked by adding it up, so that the result is right or too large
    whatever the flow's algorithm does.

    Parameters
    ----------
    law : DraftLaw
    selection : ndarray, shape (n,)
        Non-negative.
    """
    drafts = _Drafts.of(law)
    carried, masses, room, scale = drafts.carried(selection)
    of_sets = sums_by(drafts.seen.rows, carried, len(masses))
    to_tokens = sums_by(drafts.seen.tokens, carried, law.n)
    valid = (carried >= 0).all() and (of_sets <= masses).all() and (to_tokens <= room).all()
    missed = masses.sum() - (carried.sum() if valid else 0)
    return as_number(Fraction(missed, scale), like=selection)


@dataclass(frozen=True, eq=False)
class _Drafts:
    """The draft sets of a law, few enough for a network."""

    seen: Support

    @classmethod
    def of(cls, law: DraftLaw) -> _Drafts:
        seen = support(law)
        if len(seen.masses) > SET_LIMIT:
            raise ValueError(
                f"the law has {len(seen.masses):,} distinct draft sets, too many for max flow "
                f"(at most {SET_LIMIT:,}): use a smaller vocabulary or fewer drafts"
            )
        return cls(seen)

    def network(self, target: Distribution) -> tuple[DiGraph[Hashable], Array, int]:
        """Return source → T → tokens of T → sink, its capacities, and by what they are scaled."""
        import networkx

        capacities, scale = whole_numbers([*self.seen.masses, *target])
        size = len(self.seen.masses)
        network: DiGraph[Hashable] = networkx.DiGraph()
        network.add_nodes_from(["source", "sink"])
        for row in range(size):
            network.add_edge("source", ("drafts", row), capacity=capacities[row])
        # Without a capacity an edge is unbounded.
        network.add_edges_from((("drafts", row), ("token", token)) for row, token in self._pairs())
        for token, capacity in enumerate(capacities[size:]):
            network.add_edge(("token", token), "sink", capacity=capacity)
        return network, np.array(capacities, dtype=object), scale

    def carried(self, target: Distribution) -> tuple[Array, Array, Array, int]:
        """Return the maximum flow: pair by pair, beside the capacities of sets and of tokens."""
        import networkx

        network, capacities, scale = self.network(target)
        _, flows = networkx.maximum_flow(network, "source", "sink")
        carried = [flows["drafts", row]["token", token] for row, token in self._pairs()]
        masses, room = np.split(capacities, [len(self.seen.masses)])
        return np.array(carried, dtype=object), masses, room, scale

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return zip(self.seen.rows.tolist(), self.seen.tokens.tolist(), strict=True)


def whole_numbers(values: list[Number]) -> tuple[list[int], int]:
    """Scale numbers to integers by their common denominator, the second result.

    Floats are rationals too.
    """
    fractions = [Fraction(value) for value in values]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions], scale
