"""Barriers: a selection law written as an average of laws that drafts can be selected with.

With a set Z of knots as barriers, look at the highest group of pools between two barriers that
holds a draft, and select one of its drafts. Where Z is random, made of the knots whose lifetime
exceeds a uniform number, every feasible law that is convex between its tight knots is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from otspec.arithmetic import Array, IntArray, as_number, is_exact
from otspec.frozen import Frozen, read_only
from otspec.selection.laws import SelectionLaw


@dataclass(frozen=True, eq=False)
class Barriers(Frozen):
    """Lifetimes of the knots, and the law that they give.

    Parameters
    ----------
    lifetimes : ndarray, shape (m + 1,)
        A knot is a barrier while the uniform number is below its lifetime: a number from 0 to 1,
        or infinity for a tight knot.
    slopes : ndarray, shape (m,)
        Per pool, the probability that it is selected over its draft mass.
    starts, ends : ndarray of int
        The groups that occur: pools starts[g] to ends[g] − 1 between two barriers.
    spans : ndarray
        For how much of the uniform number each group occurs.
    """

    lifetimes: Array
    slopes: Array
    starts: IntArray
    ends: IntArray
    spans: Array


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
        Its slopes are those that its lifetimes have, which are the law's exactly in exact
        arithmetic. In floats each is a sum of positive products, so that it keeps its relative
        accuracy; it may differ from the law's by rounding.

    Notes
    -----
    O(m log m). Every knot that is not tight dies before 1; see the documentation for the proof.
    """
    from otspec.selection import loops  # imports Numba, if it is there

    knots, widths = law.pools.knots, law.pools.draft
    rising = widths if masses is None else masses
    # All read-only, which Numba takes for a type of its own: one is compiled.
    arrays = [read_only(values) for values in (knots, widths, rising, law.slopes, law.tight)]
    ids, one = np.arange(len(knots)), as_number(1, like=knots)
    run: Callable[..., tuple[Array, ...]] = loops.fast_burn
    if is_exact(knots) or not loops.HAS_NUMBA:
        # Plain numbers in object arrays: scalars of typed arrays are slow.
        ids, run = ids.astype(object), loops.burn
        arrays = [values.astype(object) for values in arrays]
    lifetimes, totals, starts, ends, spans = run(*arrays, ids, power, one)
    lifetimes[law.tight] = np.inf
    slopes = totals[: len(widths)]
    return Barriers(
        lifetimes.astype(knots.dtype, copy=False),
        slopes.astype(knots.dtype, copy=False),
        starts.astype(np.intp, copy=False),
        ends.astype(np.intp, copy=False),
        spans.astype(knots.dtype, copy=False),
    )
