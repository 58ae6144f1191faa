"""Laws of the selected draft: the half of the certificate that bounds the optimum from below.

A law b with b(A) ≥ P(all drafts inside A) for every token set A is the law of some selection of a
draft (Hall's theorem; for i.i.d. drafts Border's). Maximal coupling of b with the target q then
accepts Σ min(b, q). Whether b has the property is a minimum cut once more, with b for the target:
where the best cut is a prefix by ascending target/draft, the prefixes by b/draft are enough.
"""

from functools import singledispatch

import numpy as np

from otspec import ratios
from otspec._base.arithmetic import Array, Number, positive_part, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Independent
from otspec.drafts.fixed import Certain
from otspec.drafts.single import ByRatio, FixedButOne
from otspec.optimum.cuts import fixed, flow
from otspec.optimum.pools.pools import by_token, clipped_law

TABLE_LIMIT = 10_000
"""Most tuples of two independent drafts for which the flow is computed (about a second)."""


@singledispatch
def best_selection(law: DraftLaw, target: Distribution) -> Array | None:
    """Return a feasible law of the selected draft whose Σ min(b, q) is the optimum."""
    # None where none can be had: for two independent drafts with more than 10,000 tuples.
    return flow.selection_by_max_flow(law, target)


@best_selection.register
def _clipped(law: ByRatio, target: Distribution) -> Array:
    """Return p·clip(q/p, low, high), tight at the minimum cut: the law of pooled selection."""
    pools, drafted = by_token(law.draft, target).in_small_units(), law.draft > 0
    inside = law.inside_prefixes(np.lexsort((pools.index, ~drafted)))
    ends = np.cumsum(np.bincount(pools.index[drafted]))
    return pools.law(clipped_law(pools, inside[np.concatenate([[0], ends])]).slopes)


best_selection.register(Certain, fixed.selection)


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
def _(law: Independent, target: Distribution) -> Array | None:
    if law.k == 1:
        return best_selection(IID(law.drafts[0], 1), target)
    if law.k == 2 and law.table_rows() > TABLE_LIMIT:  # its cut took no flow
        return None
    return flow.selection_by_max_flow(law, target)


@singledispatch
def shortfall(law: DraftLaw, selection: Distribution) -> Number:
    """Return the largest P(all drafts inside A) − b(A): 0 for a feasible selection law."""
    return flow.shortfall_by_max_flow(law, selection)


@shortfall.register
def _of_prefixes(law: ByRatio, selection: Distribution) -> Number:
    """Look at the prefixes by ascending b/p, of which one is the worst set of all."""
    order = ratios.order(law.draft, selection)
    return (law.inside_prefixes(order) - prefix_sums(selection[order])).max()


shortfall.register(Certain, fixed.shortfall)


@shortfall.register
def _of_fixed(law: FixedButOne, selection: Distribution) -> Number:
    """Add up where the free draft is likelier than it is selected: the worst set off the fixed."""
    fixed, free = law.fixed, law.free()
    missed = law.inside(fixed) + positive_part(free - selection).sum() - selection[fixed].sum()
    return max(missed, missed * 0)


@shortfall.register
def _(law: Independent, selection: Distribution) -> Number:
    if law.k == 1:
        return shortfall(IID(law.drafts[0], 1), selection)
    return flow.shortfall_by_max_flow(law, selection)
