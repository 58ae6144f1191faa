"""Drafts all or all but one of which are certain (Theory, 13 and 14): the cut, and a selection."""

from __future__ import annotations

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, positive_part
from otspec.distributions import Distribution
from otspec.drafts.fixed import Certain
from otspec.drafts.single import FixedButOne


def drafted(law: Certain, target: Distribution) -> IntArray:
    """Return the minimum cut: the drafted tokens, with q(S), or none where that is 1."""
    tokens: IntArray = np.unique(law.fixed)
    return tokens if target[tokens].sum() < 1 else tokens[:0]


def after_fixed(law: FixedButOne, target: Distribution) -> IntArray:
    """Return the minimum cut where one draft is free: the fixed ones, and tokens by themselves.

    All drafts are inside A only if the fixed ones are, and then the free draft x has to be: each
    x off the fixed ones costs the less of q(x) and its own mass. Where all of that is 1 or more,
    nothing is as good.
    """
    fixed, free = law.fixed, law.free()
    inside = target < free
    inside[fixed] = True
    cut: IntArray = np.flatnonzero(inside)
    return cut if target[fixed].sum() + np.minimum(target, free).sum() < 1 else cut[:0]


def selection(law: Certain, target: Distribution) -> Array:
    """Return the target on the drafted tokens, and all the rest of the mass on the first draft."""
    tokens, rest = np.unique(law.fixed), target.copy()
    rest[tokens] -= rest[tokens]
    selected: Array = target - rest
    selected[law.fixed[0]] += rest.sum()
    return selected


def shortfall(law: Certain, selection: Distribution) -> Number:
    """Return the mass that a law of the selected draft has off the drafted tokens."""
    off = selection.copy()
    off[law.fixed] -= off[law.fixed]
    missed: Number = positive_part(np.asarray([off.sum()]))[0]
    return missed
