"""Token sets beside the lines q(y) = λ₁p₁(y) + λ₂p₂(y), for two drafts (Theory, 12).

A minimiser A of q(A) − p₁(A) p₂(A) is a half-plane set. Take the largest minimiser (minimisers
are closed under union) and put λ₁ = p₂(A), λ₂ = p₁(A). Removing a token y of A may not gain, so
q(y) ≤ λ₁p₁(y) + λ₂p₂(y) − p₁(y)p₂(y); adding one must lose, so
q(y) > λ₁p₁(y) + λ₂p₂(y) + p₁(y)p₂(y). Hence A = {y : q(y) < λ₁p₁(y) + λ₂p₂(y)} for λ moved
outwards a little: A belongs to an open cell of the arrangement of the n lines.

A cell that meets a region holds all of it, or has an edge on a line that crosses the region. So
walk along these lines: the others enter or leave A at one point each, sorted once a line, and
cumulative sums give the value of the cells on both sides of every edge. O(n log n) a line, no
edges stored.
"""

from fractions import Fraction

import numpy as np

from otspec._base.arithmetic import Array, IntArray, Number, is_exact, prefix_sums

_SIDE = 2
"""The square's side: any number above 1."""


def best_beside_lines(weights: Array, pivots: IntArray, bound: Number) -> Array | None:
    """Return the token set of the lowest value beside some tokens' lines, if one is below a bound.

    ``weights``, shape (3, n): both drafts and the target. ``pivots``: the tokens. ``bound``: a
    value q(A) − p₁(A) p₂(A). Result: (n,) of bool, or None.
    """
    best = None
    for pivot in pivots.tolist():
        found = _along_line(weights, pivot, bound)
        if found is not None:
            best, bound = found, set_value(weights, found)
    return best


def set_value(weights: Array, members: Array) -> Number:
    """Return q(A) − p₁(A) p₂(A)."""
    first, second, cost = weights[:, members].sum(axis=1)
    value: Number = cost - first * second
    return value


def _along_line(weights: Array, pivot: int, bound: Number) -> Array | None:
    """Return the best token set next to the pivot's line, or None if none is below ``bound``."""
    ends = _ends(*weights[:, pivot])
    if ends is None:
        return None
    start, end = (_signs(weights, point) for point in ends)
    # Tokens on the pivot's own line change sides with it.
    pivots = (start == 0) & (end == 0)
    pivots[pivot] = True
    at_start = ((start > 0) | ((start == 0) & (end > 0))) & ~pivots
    enters, leaves = (start < 0) & (end > 0), (start > 0) & (end < 0)
    moving = np.flatnonzero(enters | leaves)
    moving = moving[np.argsort(start[moving] / (start[moving] - end[moving]), kind="stable")]
    direction = np.where(enters[moving], 1, -1)
    base = weights[:, at_start].sum(axis=1)
    steps = weights[:, moving] * direction
    pivot_weights = weights[:, pivots].sum(axis=1)
    best: Array | None = None
    for with_pivots in (False, True):
        offset = base + pivot_weights if with_pivots else base
        first, second, cost = (
            start_sum + prefix_sums(row) for start_sum, row in zip(offset, steps, strict=True)
        )
        values = cost - first * second
        edge = int(np.argmin(values))
        if values[edge] < bound:
            bound = values[edge]
            best = at_start | (pivots & with_pivots)
            best[moving[:edge]] = enters[moving[:edge]]
    return best


def _ends(first: Number, second: Number, target: Number) -> tuple[Array, Array] | None:
    """Return where the line q = λ₁p₁ + λ₂p₂ enters and leaves the square, each of shape (2,)."""
    if _SIDE * (first + second) <= target:
        return None
    return _clipped(first, second, target), _clipped(second, first, target)[::-1]


def _clipped(along: Number, other: Number, target: Number) -> Array:
    """Return the end of the line with the largest λ of ``along``."""
    if target > _SIDE * along:
        return np.array([Fraction(_SIDE) if isinstance(along, Fraction) else _SIDE,
                         (target - _SIDE * along) / other])  # fmt: skip
    return np.array([target / along, 0 * target])


def _signs(weights: Array, point: Array) -> Array:
    """Return λ₁p₁ + λ₂p₂ − q per token, rounded to 0 where it is within rounding of 0.

    At a minimiser every token is off its line by p₁(y)p₂(y), so that moving a token that is
    within rounding of a line across it changes the value by rounding only.
    """
    reach = point @ weights[:2]
    signs: Array = reach - weights[2]
    if not is_exact(weights):
        signs[np.abs(signs) <= 4 * np.finfo(float).eps * (reach + weights[2])] = 0
    return signs
