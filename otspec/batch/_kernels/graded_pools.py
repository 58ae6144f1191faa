"""Graded pools: a draft is selected, then coupled maximally (Pooled, prop. 7)."""

from __future__ import annotations

from dataclasses import dataclass

from otspec.batch._kernels.barriers import ascending, barrier_lifetimes, group_start
from otspec.batch._kernels.coupling import accepts, draw_rest, verified
from otspec.batch._kernels.library import Array, Library
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import (
    BrokenLine,
    Excess,
    block_sums,
    overlaps,
    the_target,
    totals,
)
from otspec.batch._results import Verified

LOWEST = 0.5
"""The lowest positive grade."""


def verify(problem: Problem, grades: int) -> Verified:
    """Select one of the drafts by graded pools, then couple it maximally with the target."""
    library, draft, target = problem.library, problem.draft, problem.target
    pools = graded_pools(library, draft, target, problem.count(), grades)
    took = _accepted(problem, pools)
    rest = pools.rest()
    blocks = block_sums(library, draft, target, the_target, rest)
    undrafted = library.widened(problem.count() == 0)
    drawn = draw_rest(problem, rest, blocks, keep=undrafted)
    return verified(library, problem.drafts, problem.valid, took, drawn)


def acceptance(library: Library, draft: Array, target: Array, k: int, grades: int) -> Array:
    """Return Σ min(b, q), b the law of the selected draft."""
    count = library.full(draft.shape[:-1], float(k))
    pools = graded_pools(library, draft, target, count, grades)
    whole, rest = totals(library, draft, target, the_target, pools.rest())
    return library.xp.clip(whole - rest, 0.0, 1.0)


def _accepted(problem: Problem, pools: GradedPools) -> Array:
    """Return which draft is selected and accepted, if one is: (..., k) of bool."""
    library, xp = problem.library, problem.library.xp
    drafted, wanted, valid = problem.drafted(), problem.wanted(), problem.valid
    below, part = pools.position(drafted, wanted)
    uniforms = problem.uniforms[..., : problem.k]
    up = uniforms < part
    # Given on which side of the part it is, a uniform number is uniform on that side.
    uniforms = xp.where(
        up, library.quotient(uniforms, part), library.quotient(uniforms - part, 1 - part)
    )
    pool = below + library.ids(up)
    top = xp.max(xp.where(valid, pool, xp.zeros_like(pool)), axis=-1)
    lifetimes = barrier_lifetimes(library, pools.knots, pools.slopes, pools.tight, pools.count)
    lowest = group_start(library, lifetimes, top, uniforms[..., 0])
    among = valid & (pool >= lowest[..., None])
    size = xp.sum(library.widened(among), axis=-1)
    choice = uniforms[..., -1] * size
    place = xp.minimum(xp.floor(choice), xp.clip(size - 1, min=0.0))
    ordinal = xp.cumulative_sum(library.widened(among), axis=-1) - 1
    chosen = among & (ordinal == place[..., None])
    law = pools.law(drafted, below, part)
    return chosen & accepts((choice - place)[..., None], wanted, law)


@dataclass(frozen=True)
class GradedPools:
    """How drafts are put into pools, and the law of the selected one, row by row.

    Parameters
    ----------
    library : Library
    grades : array, shape (..., m + 1)
        t_0 = 0 to t_m, wide and rounded.
    slopes : array, shape (..., m + 1)
        Per pool, the probability that it is selected over its draft mass; not descending.
    knots : array, shape (..., m + 2)
        Draft mass below each boundary of pools, from 0 to 1.
    tight : array of int, shape (...)
        The knot at the cut.
    count : array, shape (...)
        How many drafts count; at least 1.
    lacking : array, shape (...)
        What the pools' law leaves of the target: an upper bound on what is rejected.
    """

    library: Library
    grades: Array
    slopes: Array
    knots: Array
    tight: Array
    count: Array
    lacking: Array

    def rest(self) -> Excess:
        """Return the weight (q − b)₊.

        It is zero up to the pool j below ``high``, and b = min(A p + σ q, high·p) from there on:
        f rises linearly from t_j to t_{j+1}, or is constant.
        """
        library, xp = self.library, self.library.xp
        last = self.grades.shape[-1] - 1
        high = self.slopes[..., -1:]
        j = xp.sum(library.ids(self.grades <= high), axis=-1) - 1
        j = xp.clip(j, min=0, max=last - 1)
        both = xp.stack([j, j + 1], axis=-1)
        grades, slopes = library.take(self.grades, both), library.take(self.slopes, both)
        rise = (slopes[..., 1:] - slopes[..., :1]) / (grades[..., 1:] - grades[..., :1])
        rise = xp.clip(rise, 0.0, 1.0)
        start = slopes[..., :1] - rise * grades[..., :1]
        return Excess(BrokenLine(library, *map(library.narrowed, (start, rise, high))))

    def position(self, drafted: Array, wanted: Array) -> tuple[Array, Array]:
        """Return the pool at or below each ratio, and how far it is to the next: (..., k) each."""
        library, xp = self.library, self.library.xp
        last = self.grades.shape[-1] - 1
        offered = self.grades[..., None, :] * drafted[..., None]
        below = xp.sum(library.ids(offered <= wanted[..., None]), axis=-1) - 1
        below = xp.clip(below, min=0, max=last)
        above = xp.clip(below + 1, max=last)
        low, high = library.take(self.grades, below), library.take(self.grades, above)
        part = library.quotient(wanted - low * drafted, (high - low) * drafted)
        return below, xp.clip(part, 0.0, 1.0)

    def law(self, drafted: Array, below: Array, part: Array) -> Array:
        """Return b of each draft, given its :meth:`position`."""
        last = self.grades.shape[-1] - 1
        above = self.library.xp.clip(below + 1, max=last)
        low, high = self.library.take(self.slopes, below), self.library.take(self.slopes, above)
        return drafted * (low + part * (high - low))


def even_grades(library: Library, count: Array, grades: int) -> Array:
    """Return t_0 = 0 and t_j = 1/2 + (k − 1/2)(j − 1)/(m − 1): (...) -> (..., m + 1).

    Wide and rounded; k is the count of each row, at least 1.
    """
    steps = library.widened(library.arange(grades)) / (grades - 1)
    positive = library.rounded(LOWEST + (count[..., None] - LOWEST) * steps)
    return library.xp.concat([library.xp.zeros_like(count)[..., None], positive], axis=-1)


def graded_pools(
    library: Library, draft: Array, target: Array, count: Array, grades: int
) -> GradedPools:
    """Return the pools and the best law that they allow.

    Σ min(q, t p) at the grades gives the draft mass of each pool. The pools are then an
    alphabet of m + 1 tokens of ratios t_j, and their optimal law is that of proposition 3 in the
    documentation: clip(t_j, low, high), low and high from two tangents.
    """
    xp = library.xp
    count = xp.clip(count, min=1.0)
    at = even_grades(library, count, grades)
    zero = xp.zeros_like(count)[..., None]
    one = xp.ones_like(zero)
    values = xp.concat([zero, overlaps(library, draft, target, at[..., 1:])], axis=-1)
    above = (values[..., 1:] - values[..., :-1]) / (at[..., 1:] - at[..., :-1])
    knots = ascending(library, xp.concat([zero, 1 - above, one], axis=-1))
    knots = xp.clip(knots, 0.0, 1.0)
    return best_pools(library, at, 1 - knots, knots ** count[..., None], count)


def best_pools(
    library: Library, at: Array, above: Array, inside: Array, count: Array, lift: float = 1.0
) -> GradedPools:
    """Return the pools with the best law that they allow (Pooled, prop. 3).

    Parameters
    ----------
    library : Library
    at : array, shape (..., m + 1)
        The grades.
    above, inside : array, shape (..., m + 2)
        At each knot the draft mass above it, times the lift, and G: that all drafts are below.
    count : array, shape (...)
        How many drafts count; at least 1.
    lift : float
        A power of two.
    """
    xp = library.xp
    zero = xp.zeros_like(count)[..., None]
    masses = above[..., :-1] - above[..., 1:]
    wanted = xp.cumulative_sum((at / lift) * masses, axis=-1)
    wanted = xp.concat([zero, wanted], axis=-1)
    gap = inside - wanted
    tight = library.ids(xp.argmax(gap, axis=-1))
    lacking = library.pick(gap, tight)
    lifted = wanted + lacking[..., None]
    low, high = (
        lift * slope for slope in _tangents(library, lift, above, lifted, tight, at[..., -1:])
    )
    below = library.arange(at.shape[-1]) < tight[..., None]
    slopes = xp.where(below, xp.maximum(at, low), xp.minimum(at, high))
    # Where next to nothing is above, a slope is rounding; it must not be below the others.
    slopes = ascending(library, xp.minimum(slopes, at[..., -1:]))
    return GradedPools(library, at, slopes, (lift - above) / lift, tight, count, lacking)


def _tangents(
    library: Library, lift: float, above: Array, lifted: Array, tight: Array, most: Array
) -> tuple[Array, Array]:
    """Return the least and the largest slope of the law, (..., 1) each.

    They are those of the lines from (0, 0) and from (1, 1) that touch the lifted target curve, over
    the lift. With no draft mass on a side there is no line, and a slope that is out of the way.
    """
    xp = library.xp
    ids = library.arange(above.shape[-1])
    knots = lift - above
    beyond = 2 * most / lift + xp.zeros_like(knots)
    under = (ids > 0) & (ids <= tight[..., None]) & (knots > 0)
    over = (ids >= tight[..., None]) & (ids < above.shape[-1] - 1) & (above > 0)
    rises = xp.where(under, library.quotient(lifted, knots), beyond)
    falls = xp.where(over, library.quotient(1 - lifted, above), -beyond)
    low, high = xp.min(rises, axis=-1, keepdims=True), xp.max(falls, axis=-1, keepdims=True)
    low = xp.where(xp.any(under, axis=-1, keepdims=True), low, xp.zeros_like(low))
    high = xp.where(xp.any(over, axis=-1, keepdims=True), xp.clip(high, min=0.0), beyond[..., :1])
    return low, high
