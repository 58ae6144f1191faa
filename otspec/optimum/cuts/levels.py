"""The law of the selected draft that is nearest to the target in every divergence (Theory, 30).

Of the laws b with b(A) ≥ P(all drafts inside A) for all A, one minimizes Σ q φ(b/q) for every
convex φ: the lexicographically optimal base (Fujishige). The sets above a level of b/q are tight.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from otspec import ratios
from otspec._base import Frozen, arithmetic, cached_property
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Independent
from otspec.drafts.fixed import Certain
from otspec.drafts.single import ByRatio, FixedButOne
from otspec.optimum.cuts.minimum import TABLE_LIMIT, minimum_cut

_UNIT = 2**60  # the smallest float times this has an inverse


@dataclass(frozen=True, eq=False)
class WaterFilling(Frozen):
    """Water filling: vessels fill alike until the low ones are full."""

    volumes: arithmetic.Array  # (m,): of each vessel
    widths: arithmetic.Array  # (m,): positive

    @cached_property
    def total(self) -> arithmetic.Number:
        """What all vessels hold together."""
        return arithmetic.as_number(self.volumes.sum(), like=self.widths)

    @cached_property
    def _bases(self) -> arithmetic.Array:
        """The widths in a unit that keeps heights within the floats."""
        return self.widths * _UNIT

    @cached_property
    def _heights(self) -> arithmetic.Array:
        return self.volumes / self._bases

    @cached_property
    def _order(self) -> arithmetic.IntArray:
        return ratios.ascending(self._heights)

    @cached_property
    def _full(self) -> arithmetic.Array:
        """What is in the lowest j vessels when they are full, (m + 1,)."""
        return arithmetic.prefix_sums(self.volumes[self._order])

    @cached_property
    def _open(self) -> arithmetic.Array:
        """The width of all vessels but the lowest j, (m + 1,)."""
        return arithmetic.suffix_sums(self._bases[self._order])

    @cached_property
    def _reached(self) -> arithmetic.Array:
        """How much there is when the level is at the height of each vessel, lowest first, (m,)."""
        return self._full[:-1] + self._heights[self._order] * self._open[:-1]

    def filled(self, amount: arithmetic.Number) -> arithmetic.Array:
        """Return what each vessel holds of an amount: min(volume, level · width), shape (m,)."""
        # What is beyond the total runs over.
        lowest = int(np.searchsorted(self._reached, np.asarray(amount, self._reached.dtype)))
        held: arithmetic.Array = self.volumes.copy()
        if lowest < len(held):
            others = self._order[lowest:]
            rest = arithmetic.positive_part(np.asarray([amount - self._full[lowest]]))
            bases = self._bases[others]
            filled = rest * (bases / self._open[lowest])
            if lowest > 0:  # by rounding it could be below vessels that are full
                filled = np.maximum(filled, self._heights[self._order[lowest - 1]] * bases)
            held[others] = np.minimum(held[others], filled)
        return held


_NEVER = 2  # what a token costs that is not to be in a cut: more than all that it may save


@singledispatch
def level_selection(law: DraftLaw, target: Distribution) -> arithmetic.Array | None:
    """Return the feasible law of the selected draft that is nearest to a target, if known."""
    selected, everything = arithmetic.zeros(law.n, like=target), np.ones(law.n, dtype=bool)
    unwanted = target == 0
    # What is not wanted is selected as seldom as possible, in whatever way.
    evenly = arithmetic.zeros(law.n, like=target) + unwanted
    for weights, lowest, highest in (
        (evenly, ~everything, unwanted),
        (target, unwanted, everything),
    ):
        for mass, tokens in _levels(law, weights, lowest, highest):
            selected[tokens] = mass * (weights[tokens] / weights[tokens].sum())
    return selected


def _levels(
    law: DraftLaw, weights: arithmetic.Array, lowest: arithmetic.Array, highest: arithmetic.Array
) -> Iterator[tuple[arithmetic.Number, arithmetic.Array]]:
    """Yield the mass of each level between two tight sets, and its tokens, (n,) of bool."""
    pieces = [(lowest, highest)]
    while pieces:
        low, high = pieces.pop()
        between = high & ~low
        if not between.any():
            continue
        # Between two tight sets the law has this mass; one level would share it out by the weights.
        inside = law.inside(np.flatnonzero(low))
        mass = law.inside(np.flatnonzero(high)) - inside
        share = weights[between] / weights[between].sum()
        costs = arithmetic.zeros(law.n, like=weights)
        costs[between], costs[~high] = mass * share, costs[~high] + _NEVER
        # The set to which one level gives least, beside P(all drafts inside): if too little, split.
        best = low.copy()
        best[minimum_cut(law, costs)] = True
        best &= high
        gain = law.inside(np.flatnonzero(best)) - inside - costs[best].sum()
        if gain > law.accuracy and (best != low).any() and (best != high).any():
            pieces += [(low, best), (best, high)]
        else:
            yield mass, between


@level_selection.register
def _(law: ByRatio, target: Distribution) -> arithmetic.Array:
    """Follow the least concave majorant of P(all drafts inside) over the target's mass."""
    order = ratios.order(law.draft, target)
    rises = arithmetic.positive_part(np.diff(law.inside_prefixes(order)))
    selected = arithmetic.zeros(law.n, like=target)
    unwanted = order[: int((target[order] > 0).argmax())]  # undrafted ones are last, and may be 0
    first = len(unwanted)
    if first:
        masses = law.draft[unwanted]
        selected[unwanted] = masses * (rises[:first].sum() / masses.sum())
    wanted = order[first:]
    for mass, width, stretch in _falling(rises[first:], target[wanted]):
        tokens = wanted[stretch]
        selected[tokens] = mass * (target[tokens] / width)
    return selected


def _falling(rises: arithmetic.Array, widths: arithmetic.Array) -> Iterator[tuple[Any, Any, slice]]:
    """Yield rise, width and steps of each stretch of the least concave majorant."""
    stretches: list[tuple[int, Any, Any]] = []  # where it starts, its rise and its width
    widths = widths * 2**ratios.POWER  # whose products with rises keep their digits
    for start, *step in zip(range(len(rises)), rises.tolist(), widths.tolist(), strict=True):
        first, (rise, width) = start, step
        while stretches and stretches[-1][1] * width <= rise * stretches[-1][2]:
            first, *before = stretches.pop()
            rise, width = rise + before[0], width + before[1]
        stretches.append((first, rise, width))
    end = len(rises)
    for first, rise, width in reversed(stretches):
        if width > 0:
            yield rise, width / 2**ratios.POWER, slice(first, end)
        end = first


@level_selection.register
def _(law: FixedButOne, target: Distribution) -> arithmetic.Array:
    """Fill all tokens alike, the others no further than the free draft's law."""
    most = law.free()
    most[law.fixed] = arithmetic.as_number(1, like=target)
    if len(law.fixed) == 0:
        return most
    return _filled(most, target, law.fixed)


@level_selection.register
def _(law: Certain, target: Distribution) -> arithmetic.Array:
    most = arithmetic.zeros(law.n, like=target)
    most[law.fixed] = arithmetic.as_number(1, like=target)
    return _filled(most, target, law.fixed)


def _filled(
    most: arithmetic.Array, target: Distribution, fixed: arithmetic.IntArray
) -> arithmetic.Array:
    """Return a law in proportion to the target as far as it may be; any rest is fixed tokens'."""
    wanted = target > 0
    one = arithmetic.as_number(1, like=target)
    filled = arithmetic.zeros(len(target), like=target)
    filled[wanted] = WaterFilling(most[wanted], target[wanted]).filled(one)
    filled[fixed[0]] += arithmetic.positive_part(np.asarray([one - filled.sum()]))[0]
    return filled


@level_selection.register
def _(law: Independent, target: Distribution) -> arithmetic.Array | None:
    if law.k == 1:
        return level_selection(IID(law.drafts[0], 1), target)
    if law.k == 2 and law.table_rows() > TABLE_LIMIT:
        return None
    return level_selection.dispatch(DraftLaw)(law, target)
