"""Ratios target/draft and the order that they give: the axis of every threshold argument."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from otspec.arithmetic import Array, IntArray, is_exact
from otspec.distributions import Distribution

_POWER = 1000
"""Scales a subnormal number to a normal one below 1, exactly."""


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
        which compares correctly with them). Float ratios beyond the floats are the largest one:
        for comparison with thresholds, not with each other (see :func:`ranked`).
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


def order(draft: Distribution, target: Distribution) -> IntArray:
    """Return the token ids by ascending target/draft; undrafted tokens come last.

    Exact ratios are sorted stably. Float ties come in any (but a reproducible) order: a result
    that depends on it would be wrong, since tokens of one ratio can be split arbitrarily.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
        Checked distributions in one arithmetic.

    Returns
    -------
    ndarray of int, shape (n,)

    Notes
    -----
    Floats: two ratios that differ by more than a rounding of 53 bits are told apart wherever they
    lie. Those beyond the largest float, and those that have lost digits below the smallest normal
    one, are sorted again by ratios that are scaled by a power of two. Where there are none, the
    cost is that of a sort.
    """
    return _sorted(draft, target, target_to_draft(draft, target))[0]


def ranked(draft: Distribution, target: Distribution) -> tuple[IntArray, Array, Array]:
    """Return :func:`order`, the ratios so ordered, and whether each is another than that before.

    Ratios may differ that are one float, such as those beyond the floats.
    """
    ratios = target_to_draft(draft, target)
    tokens, finer = _sorted(draft, target, ratios)
    keys = ratios[tokens]
    first = np.ones(len(tokens), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    for stretch, scaled in finer:
        first[stretch][1:] = scaled[1:] != scaled[:-1]
    return tokens, keys, first


def ascending(keys: Array) -> IntArray:
    """Return the indices by ascending key: exact ones stably, floats in any order if tied."""
    if is_exact(keys):
        values = keys.tolist()
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)
    return np.argsort(keys)


def _sorted(
    draft: Distribution, target: Distribution, ratios: Array
) -> tuple[IntArray, list[tuple[slice, Array]]]:
    """Return the tokens in order, and the scaled ratios of stretches that floats cannot hold."""
    tokens = ascending(ratios)
    finer: list[tuple[slice, Array]] = []
    if is_exact(ratios):
        return tokens, finer
    limits = np.finfo(float)
    for low, high, target_power, draft_power in (
        (np.nextafter(0, 1), limits.tiny, _POWER, 0),  # 0 itself is exact
        (limits.max, np.inf, 0, _POWER),
    ):
        stretch = slice(*np.searchsorted(ratios, [low, high], sorter=tokens).tolist())
        part = tokens[stretch]
        if len(part) > 1:
            # Both masses are at most 1, so that this one is within the floats.
            scaled = np.ldexp(target[part], target_power) / np.ldexp(draft[part], draft_power)
            again = np.argsort(scaled)
            tokens[stretch] = part[again]
            finer.append((stretch, scaled[again]))
    return tokens, finer
