"""Two independent, non-identical drafts (Theory, 12): the cut at any vocabulary size.

A minimiser A of q(A) − p₁(A) p₂(A) is a half-plane set. Take the largest minimiser (minimisers
are closed under union) and put λ₁ = p₂(A), λ₂ = p₁(A). Removing a token y of A may not gain, so
q(y) ≤ λ₁p₁(y) + λ₂p₂(y) − p₁(y)p₂(y); adding one must lose, so
q(y) > λ₁p₁(y) + λ₂p₂(y) + p₁(y)p₂(y). Hence A = {y : q(y) < λ₁p₁(y) + λ₂p₂(y)} for λ moved
outwards a little: A belongs to an open cell of the arrangement of the n lines
q(y) = λ₁p₁(y) + λ₂p₂(y) in the square 0 ≤ λ₁, λ₂ ≤ 1 + ε.

Every cell that meets the square is the whole square or has an edge on one of the lines. So walk
along each line: the others enter or leave A at one point each, sorted once a line, and cumulative
sums give the value of the cells on both sides of every edge. O(n² log n) in all, no edges stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from otspec._base.arithmetic import Array, IntArray, Number, is_exact, prefix_sums
from otspec.distributions import Distribution

_SIDE = 2
"""The square's side: any number above 1."""


@dataclass(frozen=True)
class _Candidate:
    """A token set and its value q(A) − p₁(A) p₂(A)."""

    value: Number
    members: Array  # (n,) bool


def best_halfplane(first: Distribution, second: Distribution, target: Distribution) -> IntArray:
    """Return the token set that minimises q(A) − p₁(A) p₂(A).

    ``first``, ``second``, ``target``, shape (n,): float or exact. Result: ascending token ids. In
    exact arithmetic a minimiser; in floats its value is within rounding of the minimum.
    """
    weights = np.stack([first, second, target])  # (3, n)
    best = _Candidate(_value(weights, np.zeros(len(target), bool)), np.zeros(len(target), bool))
    corner = _SIDE * (first + second) > target
    best = _better(best, weights, corner)
    for pivot in np.flatnonzero((target > 0) & (first + second > 0)):
        found = _along_line(weights, int(pivot), best.value)
        if found is not None:
            best = _better(best, weights, found)
    return np.flatnonzero(best.members)


def _value(weights: Array, members: Array) -> Number:
    first, second, cost = weights[:, members].sum(axis=1)
    value: Number = cost - first * second
    return value


def _better(best: _Candidate, weights: Array, members: Array) -> _Candidate:
    value = _value(weights, members)
    return _Candidate(value, members) if value < best.value else best


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
