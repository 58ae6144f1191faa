"""The exact law of a batch function, from its own code: an integral over its uniform numbers.

With everything else fixed, the output is constant on the cells of a grid in the unit cube. The
cuts of the grid are found by bisection of the function itself, and every cell is checked to be one
(at its middle, near its corners and at random points), so that a cut that was missed is found.
"""

from __future__ import annotations

import itertools

import numpy as np

_SAMPLES = 4
_PLACES = 100
_INNER = 4
_ROWS = 20_000
NARROW = 1e-9
"""Cells below this width in some direction are not checked: they weigh less than rounding."""


def law_of(outcome, dimensions, size, known=(), seed=0):
    """Return the probability of each outcome 0..size − 1 when the uniforms are uniform.

    Parameters
    ----------
    outcome : callable
        (rows, dimensions) of float64 in [0, 1) -> (rows,) of int.
    known : sequence of (axis, place)
        Cuts that are too close to others to be found by looking around.
    """
    rng = np.random.default_rng(seed)
    cuts = [np.array([0.0, 1.0]) for _ in range(dimensions)]
    for axis, place in known:
        cuts[axis] = np.unique(np.append(cuts[axis], np.clip(place, 0, 1)))
    ends = np.array(list(itertools.product([1e-12, 1 - 1e-12], repeat=dimensions)))
    anchors = np.concatenate([rng.random((_SAMPLES, dimensions)), ends[:16]])
    # Lines along each axis through the anchors, looked at in many places.
    places = (np.arange(_PLACES) + rng.random(_PLACES)) / _PLACES
    for axis in range(dimensions):
        lines = np.repeat(anchors, len(places) - 1, axis=0)
        low, high = lines.copy(), lines.copy()
        low[:, axis] = np.tile(places[:-1], len(anchors))
        high[:, axis] = np.tile(places[1:], len(anchors))
        _cut(cuts, outcome, low, high)
    while True:
        low, high = _cells(cuts)
        middle = _evaluated(outcome, (low + high) / 2)
        wide = (high - low).min(axis=1) > NARROW
        found = False
        corners = itertools.product([1e-3, 1 - 1e-3], repeat=dimensions)
        inner = rng.random((_INNER, len(low), dimensions))
        for share in [*map(np.array, corners), *inner]:
            point = low + share * (high - low)
            differs = wide & (_evaluated(outcome, point) != middle)
            if differs.any():
                found = True
                _cut_between(cuts, outcome, ((low + high) / 2)[differs][:50], point[differs][:50])
        if not found:
            return np.bincount(middle, (high - low).prod(axis=1), size)


def _cut_between(cuts, outcome, start, end):
    """Find cuts on the way from start to end, one axis after another."""
    for axis in range(start.shape[1]):
        step = start.copy()
        step[:, axis] = end[:, axis]
        _cut(cuts, outcome, start, step)
        start = step


def _cut(cuts, outcome, low, high):
    """Bisect all stretches whose ends differ, and add where they change to the cuts."""
    axis = int(np.argmax((low != high).any(axis=0)))
    at_low, at_high = _evaluated(outcome, low), _evaluated(outcome, high)
    differs = at_low != at_high
    low, high, at_low = low[differs], high[differs], at_low[differs]
    for _ in range(55):
        middle = (low + high) / 2
        same = (_evaluated(outcome, middle) == at_low)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    found = np.sort(np.concatenate([cuts[axis], high[:, axis]]))
    cuts[axis] = found[np.concatenate([[True], np.diff(found) > 1e-14])]
    cuts[axis][-1] = 1.0


def _cells(cuts):
    low = np.stack(np.meshgrid(*[cut[:-1] for cut in cuts], indexing="ij"), axis=-1)
    high = np.stack(np.meshgrid(*[cut[1:] for cut in cuts], indexing="ij"), axis=-1)
    return low.reshape(-1, len(cuts)), high.reshape(-1, len(cuts))


def _evaluated(outcome, uniforms):
    parts = [outcome(uniforms[i : i + _ROWS]) for i in range(0, len(uniforms), _ROWS)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=int)


def joint_kernel_of(rule, draft, target, x, *, known=(), **options):
    """Return the joint law of the accepted draft (last row: none) and the token, (k + 1, n)."""
    draft, target = np.asarray(draft, dtype=float), np.asarray(target, dtype=float)
    n, k = len(draft), len(x)

    def outcome(uniforms):
        shape = (len(uniforms),)
        result = rule(
            np.broadcast_to(draft, (*shape, n)),
            np.broadcast_to(target, (*shape, n)),
            np.broadcast_to(np.asarray(x), (*shape, k)),
            uniforms,
            **{name: np.broadcast_to(value, (*shape, k)) for name, value in options.items()},
        )
        return np.where(result.index < 0, k, result.index) * n + result.token

    return law_of(outcome, k + 1, (k + 1) * n, known).reshape(k + 1, n)
