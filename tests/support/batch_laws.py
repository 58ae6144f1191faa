"""The exact law of a batch function, from its own code: an integral over its uniform numbers.

With everything else fixed, the output is constant on the cells of a grid in the unit cube. The
cuts of the grid are found by bisection of the function itself, and every cell is checked to be one
(at its middle, near corners on both sides of it along every axis, and at random points), so that a
cut that was missed is found.
"""

from __future__ import annotations

import itertools

import numpy as np
from thresholds import thresholds

_SAMPLES = 4
_PLACES = 60
_INNER = 2
_DIGITS, _AT_ONCE = 46, 4
"""Of a step of a line, which is a 60th: it ends below 3e-16. Calls take as long for more rows."""
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
    lines = np.tile(anchors[None, :, None], (dimensions, 1, _PLACES, 1))
    for axis in range(dimensions):
        lines[axis, ..., axis] = places
    _cut(cuts, outcome, lines.reshape(-1, _PLACES, dimensions))
    while True:
        low, high = _cells(cuts)
        middle = _evaluated(outcome, (low + high) / 2)
        wide = (high - low).min(axis=1) > NARROW
        found = False
        inner = rng.random((_INNER, len(low), dimensions))
        for share in [*_corners(dimensions), *inner]:
            point = low + share * (high - low)
            differs = wide & (_evaluated(outcome, point) != middle)
            if differs.any():
                found = True
                _cut_between(cuts, outcome, ((low + high) / 2)[differs][:50], point[differs][:50])
        if not found:
            return np.bincount(middle, (high - low).prod(axis=1), size)


def _corners(dimensions):
    """Every other corner of the unit cube, a little inside it: both sides of each axis."""
    corners = itertools.product([0, 1], repeat=dimensions)
    return [1e-3 + (1 - 2e-3) * np.array(one) for one in corners if sum(one) % 2 == 0]


def _cut_between(cuts, outcome, start, end):
    """Find cuts on the way from start to end, one axis after another."""
    way = np.repeat(start[:, None], start.shape[1] + 1, axis=1)
    for axis in range(start.shape[1]):
        way[:, axis + 1 :, axis] = end[:, axis, None]
    _cut(cuts, outcome, way)


def _cut(cuts, outcome, ways):
    """Look closer at steps of ways along the axes, (w, steps + 1, d); add where outcomes change.

    Of steps with the same ends one, and none that holds a cut already: what that leaves out is
    found once cells are looked at.
    """
    shape = ways.shape
    found = _evaluated(outcome, ways.reshape(-1, shape[-1])).reshape(shape[:-1])
    changes = found[:, 1:] != found[:, :-1]
    low, high, at_low = ways[:, :-1][changes], ways[:, 1:][changes], found[:, :-1][changes]
    along = np.argmax(low != high, axis=1)
    every = np.arange(len(low))
    ends = np.stack([along, low[every, along], high[every, along]], axis=1)
    inside = [np.ptp(np.searchsorted(cuts[int(axis)], step)) for axis, *step in ends.tolist()]
    fresh = np.unique(ends, axis=0, return_index=True)[1]
    fresh = fresh[np.array(inside, dtype=int)[fresh] == 0]
    low, high, at_low, along = low[fresh], high[fresh], at_low[fresh], along[fresh]
    if len(low) == 0:
        return
    every, start, way = (
        np.arange(len(low)),
        low[np.arange(len(low)), along],
        (high - low).sum(axis=1),
    )

    def before(shares):
        places = np.tile(low, (len(shares), 1, 1))
        places[:, every, along] = start + shares * way
        found = _evaluated(outcome, places.reshape(-1, low.shape[1])).reshape(shares.shape)
        return found == at_low

    _, ends = thresholds(before, way.shape, _DIGITS, _AT_ONCE)
    found = start + ends * way
    for axis in np.unique(along):
        grown = np.sort(np.concatenate([cuts[axis], found[along == axis]]))
        cuts[axis] = grown[np.concatenate([[True], np.diff(grown) > 1e-14])]
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
            np.tile(draft, (*shape, 1)),
            np.tile(target, (*shape, 1)),
            np.broadcast_to(np.asarray(x), (*shape, k)),
            uniforms,
            **{name: np.broadcast_to(value, (*shape, k)) for name, value in options.items()},
        )
        return np.where(result.index < 0, k, result.index) * n + result.token

    return law_of(outcome, k + 1, (k + 1) * n, known).reshape(k + 1, n)


def residual_cuts(rule, x):
    """Where the last uniform number changes the draw: cells may be as narrow as ρ − ρ*."""
    residual = rule.joint_kernel(x)[-1]
    if residual.sum() > 0:
        for place in np.cumsum(residual / residual.sum()):
            yield len(x), place
