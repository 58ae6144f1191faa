"""Barriers: a selection law written as an average of laws that drafts can be selected with.

With a set Z of knots as barriers, look at the highest group of pools between two barriers that
holds a draft, and select one of its drafts. Where Z is random, made of the knots whose lifetime
exceeds a uniform number, every feasible law that is convex between its tight knots is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array, IntArray, as_number, is_exact
from otspec.frozen import Frozen, read_only
from otspec.selection.knots import chain_sums
from otspec.selection.laws import SelectionLaw
from otspec.selection.pools import Pools


@dataclass(frozen=True, eq=False)
class Barriers(Frozen):
    """Lifetimes of the knots, and the law that they give.

    Parameters
    ----------
    pools : Pools
    power : int
        As for :func:`find_barriers`.
    lifetimes : ndarray, shape (m + 1,)
        A knot is a barrier while the uniform number is below its lifetime: a number from 0 to 1,
        or infinity for a tight knot.
    starts, ends : ndarray of int, shape (c,)
        The groups that occur: pools starts[g] to ends[g] − 1 between two barriers.
    spans : ndarray, shape (c,)
        For how much of the uniform number each group occurs.
    rises : ndarray, shape (c,)
        By how much the probability that all drafts are below rises over a group, per draft mass.
    heirs : ndarray of int, shape (c,)
        The group that each becomes a part of, or −1. The first m groups are the pools.
    """

    pools: Pools
    power: int
    lifetimes: Array
    starts: IntArray
    ends: IntArray
    spans: Array
    rises: Array
    heirs: IntArray

    @cached_property
    def slopes(self) -> Array:
        """Per pool, the probability that it is selected over its draft mass, shape (m,).

        These are the slopes that the lifetimes have, which are the law's exactly in exact
        arithmetic. In floats each is a sum of positive products, one for every group that the pool
        is in; with a power, of slopes from the tokens' own masses, so that no knot is rounded to a
        float before its power is taken. It may differ from the law's slope by rounding.
        """
        rises = self.rises
        if self.power and not is_exact(rises):
            rises = self.pools.by_token.slopes(self.starts, self.ends, self.power)
        return chain_sums(rises * self.spans, self.heirs)[: len(self.pools.draft)]


def find_barriers(law: SelectionLaw, *, power: int = 0, masses: Array | None = None) -> Barriers:
    """Return barriers that select with the given law.

    Parameters
    ----------
    law : SelectionLaw
    power : int
        The probability that all drafts are below a knot is knots ** power; or 0, if ``masses``
        gives its differences.
    masses : ndarray, shape (m,), optional
        By how much that probability rises from knot to knot, as a convex curve over the knots.

    Returns
    -------
    Barriers

    Notes
    -----
    O(m log m). Every knot that is not tight dies before 1; see the documentation for the proof.
    """
    from otspec.selection import loops  # imports Numba, if it is there

    widths = law.pools.draft
    ids, one = np.arange(len(widths) + 1), as_number(1, like=widths)
    if masses is None:
        masses = widths * law.pools.by_pool.slopes(ids[:-1], ids[1:], power)
    # All read-only, which Numba takes for a type of its own: one is compiled.
    arrays = [read_only(values) for values in (widths, masses, law.slopes, law.tight)]
    run: Callable[..., tuple[Array, ...]] = loops.fast_burn
    if is_exact(widths) or not loops.HAS_NUMBA:
        # Plain numbers in object arrays: scalars of typed arrays are slow.
        ids, run = ids.astype(object), loops.burn
        arrays = [values.astype(object) for values in arrays]
    lifetimes, starts, ends, spans, rises, heirs = run(*arrays, ids, one)
    lifetimes[law.tight] = np.inf
    return Barriers(
        law.pools,
        power,
        lifetimes.astype(widths.dtype, copy=False),
        starts.astype(np.intp, copy=False),
        ends.astype(np.intp, copy=False),
        spans.astype(widths.dtype, copy=False),
        rises.astype(widths.dtype, copy=False),
        heirs.astype(np.intp, copy=False),
    )
