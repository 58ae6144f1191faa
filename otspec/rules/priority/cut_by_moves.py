"""Cuts of independent drafts that no token improves by joining or leaving (Different, prop. 3)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, Number, positive_part, zeros
from otspec.distributions import Distribution


def cut_by_moves(drafts: Array, target: Distribution) -> Array:
    """Return a token set of low q(A) − Π p_i(A), from all tokens or from none.

    Every minimiser is inside the set that all tokens shrink to and holds the one that no token
    grows to; the better of the two is returned.

    Shapes: ``drafts`` (k, n); ``target`` (n,). The result has shape (n,).
    """
    shrunk, grown = (
        settled(drafts, target, np.full(len(target), start)) for start in (True, False)
    )
    return lower_cut(drafts, target, shrunk, grown)


def lower_cut(drafts: Array, target: Distribution, first: Array, second: Array) -> Array:
    """Return the token set of lower q(A) − Π p_i(A), the first if they are alike."""
    lower = cut_value(drafts, target, second) < cut_value(drafts, target, first)
    return second if lower else first


def settled(drafts: Array, target: Distribution, members: Array) -> Array:
    """Return a token set that is no worse and that no token improves by a move of its own.

    Shapes: ``drafts`` (k, n); ``target`` (n,); ``members`` (n,).

    Notes
    -----
    All that is worth a move of its own moves at once: leaving together loses no more of Π p_i(A)
    than leaving one by one from the whole set, and joining together gains no less.
    """
    value = cut_value(drafts, target, members)
    while True:
        moved = members.copy()
        for joining in (False, True):
            moved ^= (moved != joining) & _worthwhile(drafts, target, moved, joining)
        found = cut_value(drafts, target, moved)
        if not found < value:  # also where a move is worth a rounding only
            return members
        members, value = moved, found


def cut_value(drafts: Array, target: Distribution, members: Array) -> Number:
    """Return q(A) − P(all drafts inside A)."""
    value: Number = target[members].sum() - np.prod(masses(drafts, members))
    return value


def masses(drafts: Array, members: Array) -> Array:
    """Return p_i(A) for every draft, shape (k,)."""
    inside: Array = zeros(len(drafts), like=drafts) + drafts[:, members].sum(axis=1)
    return inside


def rises(low: Array, step: Array) -> Array:
    """Return Π_i (low + step) − Π_i low as a sum of positive terms: (k, m), (k, m) -> (m,)."""
    total = zeros(step.shape[1], like=step)
    for i in range(len(step)):
        others = np.prod((low + step)[:i], axis=0) * np.prod(low[i + 1 :], axis=0)
        total += step[i] * others
    return total


def _worthwhile(drafts: Array, target: Distribution, members: Array, joining: bool) -> Array:
    """Return which tokens it pays to move alone, if they are on the other side: (n,) of bool."""
    inside = masses(drafts, members)[:, None]
    if joining:
        worth: Array = target < rises(inside + 0 * drafts, drafts)
    else:
        worth = target > rises(positive_part(inside - drafts), drafts)
    return worth
