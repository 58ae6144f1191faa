"""The minimum cut, and the law of the selected draft that proves it (Theory, 1, 2, 3, 13 and 14).

A law b with b(A) ≥ P(all drafts inside A) for every token set A is the law of some selection of a
draft (Hall's theorem; for i.i.d. drafts Border's). Maximal coupling of b with the target q then
accepts Σ min(b, q). Whether b has the property is a minimum cut once more, with b for the target:
where the best cut is a prefix by ascending target/draft, the prefixes by b/draft are enough.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from otspec import ratios
from otspec._base import Array, IntArray, Number, as_number, positive_part, prefix_sums, sums_by
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Independent, Masked, WithoutReplacement
from otspec.drafts.base import Support, TooManyTuplesError, support
from otspec.drafts.fixed import Certain
from otspec.drafts.single import ByRatio, FixedButOne
from otspec.optimum.cuts import halfplanes, prefix
from otspec.optimum.pools.pools import by_token, clipped_law

if TYPE_CHECKING:
    from networkx import DiGraph


TABLE_LIMIT = 10_000
"""Most tuples of two independent drafts for which the flow is computed (about a second)."""


def drafted(law: Certain, target: Distribution) -> IntArray:
    """Return the minimum cut: the drafted tokens, with q(S), or none where that is 1."""
    tokens: IntArray = np.unique(law.fixed)
    return tokens if target[tokens].sum() < 1 else tokens[:0]


def after_fixed(law: FixedButOne, target: Distribution) -> IntArray:
    """Return the minimum cut where one draft is free: the fixed ones, and tokens by themselves."""
    return after_fixed_with_bound(law, target)[0]


def after_fixed_with_bound(law: FixedButOne, target: Distribution) -> tuple[IntArray, Number]:
    """Return that cut and its bound."""
    # All drafts are inside A only if the fixed ones are, and then the free draft x has to be: each
    # x off the fixed ones costs the less of q(x) and its own mass.
    fixed, free = law.fixed, law.free()
    bound = target[fixed].sum() + np.minimum(target, free).sum()
    if bound >= 1:
        return np.empty(0, np.intp), as_number(1, like=target)
    inside = target < free
    inside[fixed] = True
    return np.flatnonzero(inside), as_number(bound, like=target)


def _on_drafted(law: Certain, target: Distribution) -> Array:
    """Return the target on the drafted tokens, and all the rest of the mass on the first draft."""
    tokens, rest = np.unique(law.fixed), target.copy()
    rest[tokens] -= rest[tokens]
    selected: Array = target - rest
    selected[law.fixed[0]] += rest.sum()
    return selected


def _off_drafted(law: Certain, selection: Distribution) -> Number:
    """Return the mass that a law of the selected draft has off the drafted tokens."""
    off = selection.copy()
    off[law.fixed] -= off[law.fixed]
    return positive_part(np.asarray([off.sum()]))[0]


def cut_bound(law: DraftLaw, target: Distribution, cut: Sequence[int] | IntArray) -> Number:
    """Return q(A) + 1 − P(all drafts inside A), an upper bound on every rule's acceptance."""
    members = np.asarray(cut, dtype=np.intp)
    return as_number(target[members].sum() + (1 - law.inside(members)), like=target)


@singledispatch
def bounded_cut(law: DraftLaw, target: Distribution) -> tuple[IntArray, Number]:
    """Return a minimum cut and its bound."""
    cut = np.sort(minimum_cut(law, target))
    return cut, cut_bound(law, target, cut)


bounded_cut.register(WithoutReplacement, prefix.by_ratio_with_bound)
bounded_cut.register(FixedButOne, after_fixed_with_bound)


@singledispatch
def minimum_cut(law: DraftLaw, target: Distribution) -> IntArray:
    """Return a token set that minimizes the bound, by whichever way the law allows."""
    return by_max_flow(law, target)


minimum_cut.register(ByRatio, prefix.by_ratio)
minimum_cut.register(FixedButOne, after_fixed)
minimum_cut.register(Certain, drafted)


@minimum_cut.register
def _of_masked(law: Masked, target: Distribution) -> IntArray:
    """Cut the law with the drafts as they were drawn: those withdrawn cost nothing (Theory, 36)."""
    if law.set_aside is None:
        return by_max_flow(law, target)
    costs = law.target_aside(target)
    cut = np.intersect1d(minimum_cut(law.set_aside, costs), law.keep)
    with_null = np.append(cut, law.null).astype(np.intp)
    if not target[law.null]:
        return with_null
    # Where the null token costs something: withdrawn drafts that cost more than they save.
    costs[np.flatnonzero(law.mapped == law.null)] += 2
    without = np.intersect1d(minimum_cut(law.set_aside, costs), law.keep).astype(np.intp)
    return min(with_null, without, key=lambda tokens: cut_bound(law, target, tokens))


@minimum_cut.register
def _of_two(law: Independent, target: Distribution) -> IntArray:
    if law.k == 1:
        return prefix.by_ratio(IID(law.drafts[0], 1), target)
    if law.k == 2:
        return halfplanes.best_halfplane(law.drafts[0], law.drafts[1], target)
    try:
        return by_max_flow(law, target)
    except TooManyTuplesError as error:
        raise TooManyTuplesError(
            f"{error}; rules.PriorityMixture(law, target, pools=256) certifies an interval"
        ) from error


@singledispatch
def best_selection(law: DraftLaw, target: Distribution) -> Array | None:
    """Return a feasible law of the selected draft whose Σ min(b, q) is the optimum."""
    # None where none can be had: for two independent drafts with more than 10,000 tuples.
    return selection_by_max_flow(law, target)


@best_selection.register
def _clipped(law: ByRatio, target: Distribution) -> Array:
    """Return p·clip(q/p, low, high), tight at the minimum cut: the law of pooled selection."""
    pools, drafted = by_token(law.draft, target).in_small_units(), law.draft > 0
    inside = law.inside_prefixes(np.lexsort((pools.index, ~drafted)))
    ends = np.cumsum(np.bincount(pools.index[drafted]))
    return pools.law(clipped_law(pools, inside[np.concatenate([[0], ends])]).slopes)


best_selection.register(Certain, _on_drafted)


@best_selection.register
def _after_fixed(law: FixedButOne, target: Distribution) -> Array:
    """Return min(m, q) off the fixed drafts, m the free draft's law, and the rest on them."""
    fixed, free = law.fixed, law.free()
    if len(fixed) == 0:
        return free
    law_of_selection = np.minimum(free, target)
    law_of_selection[fixed] = target[fixed]
    rest = law.inside(fixed) + positive_part(free - target).sum() - target[fixed].sum()
    law_of_selection[fixed[0]] += max(rest, rest * 0)  # rounding could make it negative
    return law_of_selection


@best_selection.register
def _of_independent(law: Independent, target: Distribution) -> Array | None:
    if law.k == 1:
        return best_selection(IID(law.drafts[0], 1), target)
    if law.k == 2 and law.table_rows() > TABLE_LIMIT:  # its cut took no flow
        return None
    return selection_by_max_flow(law, target)


@singledispatch
def shortfall(law: DraftLaw, selection: Distribution) -> Number:
    """Return the largest P(all drafts inside A) − b(A): 0 for a feasible selection law."""
    return shortfall_by_max_flow(law, selection)


@shortfall.register
def _of_prefixes(law: ByRatio, selection: Distribution) -> Number:
    """Look at the prefixes by ascending b/p, of which one is the worst set of all."""
    order = ratios.order(law.draft, selection)
    return (law.inside_prefixes(order) - prefix_sums(selection[order])).max()


shortfall.register(Certain, _off_drafted)


@shortfall.register
def _of_fixed(law: FixedButOne, selection: Distribution) -> Number:
    """Add up where the free draft is likelier than it is selected: the worst set off the fixed."""
    fixed, free = law.fixed, law.free()
    missed = law.inside(fixed) + positive_part(free - selection).sum() - selection[fixed].sum()
    return max(missed, missed * 0)


@shortfall.register
def _short_of_independent(law: Independent, selection: Distribution) -> Number:
    if law.k == 1:
        return shortfall(IID(law.drafts[0], 1), selection)
    return shortfall_by_max_flow(law, selection)


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


def _network(seen: Support, target: Distribution) -> "tuple[DiGraph[Hashable], Array, int]":
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
