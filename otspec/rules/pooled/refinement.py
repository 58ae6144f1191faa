"""Thresholds that are refined until a bound on the loss is small enough (Pooled, prop. 5)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, Number, positive_part
from otspec.distributions import Distribution
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.laws import SelectionLaw, clipped_law
from otspec.optimum.pools.pools import by_thresholds
from otspec.rules.pooled.inside_masses import heights_of


def refined_thresholds(law: ByRatio, target: Distribution, loss: Number) -> Array:
    """Return thresholds on target/draft whose pools accept nearly the optimum.

    Shapes: ``target`` (n,). ``law``: of the drafts, i.i.d. or distinct. ``loss``: the most that the
    acceptance may be below the optimum. 0 is reached in exact arithmetic; in floats the refinement
    ends where pools cannot be split. Result: ascending.

    Notes
    -----
    Every knot is a cut, so that the best of them bounds the optimum. What the acceptance is
    below that bound falls to the pools (see :func:`losses`); each pool that loses is split at
    its own slope, which lies strictly between its ratios.
    """
    draft = law.draft
    thresholds, pools_before = draft[:0], 0
    while True:
        pools = by_thresholds(draft, target, thresholds)
        clipped = clipped_law(pools, heights_of(law, pools).values)
        lost = losses(clipped, target)
        if lost.sum() <= loss or len(pools.draft) == pools_before:
            return thresholds
        pools_before = len(pools.draft)
        worst = np.argsort(-lost, kind="stable")
        # The fewest pools without which what is left is at most half of what may be lost.
        rest = lost.sum() - np.cumsum(lost[worst])
        split = worst[: int(np.argmax(2 * rest <= loss)) + 1]
        thresholds = np.union1d(thresholds, clipped.slopes[split[lost[split] > 0]])


def losses(law: SelectionLaw, target: Distribution) -> Array:
    """Return what each pool loses against the bound of the best knot, shape (m,).

    Below the cut a pool could accept all its target mass, above it all that is selected.
    """
    pools = law.pools
    excess = pools.law(law.slopes) - target
    return pools.gathered(positive_part(np.where(pools.index < law.cut, -excess, excess)))
