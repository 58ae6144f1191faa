"""Ratios target/draft and the order that they give: the axis of every threshold argument."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from otspec.arithmetic import Array, IntArray, is_exact
from otspec.distributions import Distribution


def target_to_draft(draft: Distribution, target: Distribution) -> Array:
    """Return target/draft token by token.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
        Checked distributions (or any non-negative weights) in one arithmetic.

    Returns
    -------
    ndarray, shape (n,)
        ``inf`` where the draft is zero, also where both are: such a token is never drafted, so
        no threshold concerns it. Exact input gives ``Fraction`` entries (and float ``inf``,
        which compares correctly with them).
    """
    if is_exact(draft):
        pairs = zip(target.tolist(), draft.tolist(), strict=True)
        ratios = np.empty(len(draft), dtype=object)
        ratios[:] = [Fraction(q) / p if p else np.inf for q, p in pairs]
        return ratios
    ratios = np.full(len(draft), np.inf)
    with np.errstate(over="ignore"):  # a subnormal draft: the ratio is beyond every threshold
        np.divide(target, draft, out=ratios, where=draft > 0)
    overflowed = np.isinf(ratios)
    overflowed &= draft > 0
    if overflowed.any():  # drafted all the same: before those that are not
        ratios[overflowed] = np.finfo(float).max
    return ratios


def ascending(ratios: Array) -> IntArray:
    """Return the token ids by ascending ratio; undrafted tokens come last.

    Exact ratios are sorted stably. Float ties come in any (but a reproducible) order: a result
    that depends on it would be wrong, since tokens of one ratio can be split arbitrarily.
    """
    if is_exact(ratios):
        values = ratios.tolist()
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)
    return np.argsort(ratios)
