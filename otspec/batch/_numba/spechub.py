"""Two drafts, one of them the likeliest token, row by row (SpecHub, alg. 3)."""

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba import passes
from otspec.batch._numba.compiled import DRAWN, accepts, greater, inner_code, machine_code, quotient
from otspec.batch._numba.models import row_of


@machine_code
def verify(
    draft,
    target,
    drafts,
    uniforms,
    valid,  # noqa: ARG001 # both drafts count
    token,
    accepted,
    index,
) -> None:
    """Serve a token x off the hub a from the pairs (x, a), then (a, x); a takes what is left."""
    for row in range(drafts.shape[0]):
        (own, unit), (its, other) = row_of(draft, row), row_of(target, row)
        index[row], token[row] = _one(own, its, (unit, other), drafts[row], uniforms[row])
        accepted[row] = token[row] == drafts[row, 0] or token[row] == drafts[row, 1]


@inner_code
def _one(draft, target, units: passes.Units, drafts, uniforms) -> tuple[int, int]:
    """Return the index of the accepted draft, and the token."""
    factor, hub = passes.factor_of(draft), likeliest(draft, units[0])
    sums = passes.blocks_of(draft)
    mass, _ = passes.both_of(draft, target, units, hub)
    others = others_of(draft, units[0], hub, sums)
    odds = quotient(mass, others * factor, 0.0)  # p(a) over the mass of the others, scaled
    scale = np.float64(draft.dtype.type(1 / factor + odds))
    hub_last = drafts[1] == hub
    if not (hub_last and drafts[0] == hub):
        off = 0 if hub_last else 1
        drafted, wanted = passes.both_of(draft, target, units, drafts[off])
        # Of (x, a) the token off the hub may take all, of (a, x) what it still lacks.
        lacking = wanted if hub_last else wanted - min(wanted, drafted)
        if accepts(uniforms[0], lacking, drafted if hub_last else odds * (drafted * factor)):
            return off, drafts[off]
    first, first_taken, last, last_taken, rest, _ = shares_of(
        draft, target, units, hub, factor, scale, mass, others
    )
    served, available = (last_taken, last) if hub_last else (first_taken, first)
    if accepts(uniforms[1], served, available):
        at = 1 if hub_last and drafts[0] != hub else 0
        return at, drafts[at]  # the hub, if the drafts are of this draft
    weight = passes.excess((units[0] * factor, units[1]), scale)
    return DRAWN, _draw_rest(draft, target, hub, weight, rest, sums, uniforms[2])


@inner_code
def likeliest(values, unit: float) -> int:
    """Return the first of the largest entries of a row."""
    unit_, most, found = values.dtype.type(unit), values.dtype.type(-1), 0
    for start in range(0, values.size, BLOCK):
        here = values[start : start + BLOCK]
        largest = here[0]
        for i in range(here.size):
            largest = greater(largest, here[i])
        if unit_ * largest > most:
            most, found = unit_ * largest, start
    # No number is the largest of none.
    while found < values.size - 1 and unit_ * values[found] != most:
        found += 1
    return found


@inner_code
def others_of(draft, unit: float, hub: int, sums) -> float:
    """Return the mass of all tokens but the hub, added up without it."""
    passes.sum_in_blocks(draft, unit, sums)
    sums[hub // BLOCK] = passes.sum_without(draft, unit, np.array([hub]), hub // BLOCK)
    return passes.added(sums)


@inner_code
def shares_of(
    draft,
    target,
    units: passes.Units,
    hub: int,
    factor: float,
    scale: float,
    mass: float,
    others: float,
) -> tuple[float, float, float, float, float, float]:
    """Return what is left of pairs (a, x), what a takes of it, both of (x, a), and what a lacks."""
    # Last is what tokens off the hub take. If the hub is certain, (a, a) is one of the pairs (x,
    # a).
    _, wanted = passes.both_of(draft, target, units, hub)
    scales, sums = np.array([1 / factor, scale]), np.empty(2)
    passes.overlaps(draft, target, (units[0] * factor, units[1]), scales, sums)
    at_last = max(sums[0] - min(mass, wanted), 0.0)
    served = max(sums[1] - min(scale * (mass * factor), wanted), 0.0)
    first, last = 0.0, mass
    if others > 0:
        first, last = max(mass - (served - at_last), 0.0), max(others - at_last, 0.0)
    first_taken = min(first, wanted)
    last_taken = min(last, wanted - first_taken)
    return first, first_taken, last, last_taken, wanted - first_taken - last_taken, served


@inner_code
def _draw_rest(
    draft, target, hub: int, weight: passes.Weight, rest: float, sums, uniform: float
) -> int:
    """Draw from what is left of the target: (q − p/(1 − p(a)))₊ off the hub, the rest at it."""
    excluded, block = np.array([hub]), hub // BLOCK
    passes.rest_in_blocks(draft, target, weight, sums)
    sums[block] = passes.added(passes.weights_of(draft, target, weight, 0.0, excluded, block))
    entry, left = passes.locate(np.array([rest, passes.added(sums)]), uniform)
    if entry == 0 and (rest > 0 or target[hub] > 0):
        return hub
    return passes.draw(draft, target, weight, 0.0, sums, excluded, left)
