"""Drafts all or all but one of which are certain (Theory, 13 and 14): the cut, and a selection."""

import numpy as np

from otspec._base.arithmetic import Array, IntArray, Number, as_number, positive_part
from otspec.distributions import Distribution
from otspec.drafts.fixed import Certain
from otspec.drafts.single import FixedButOne


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
    return positive_part(np.asarray([off.sum()]))[0]
