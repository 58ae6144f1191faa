"""Laws whose minimum cut is a prefix of the tokens by ascending target/draft (Theory, 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from otspec import ratios
from otspec.arithmetic import (
    Array,
    IntArray,
    Number,
    is_exact,
    power,
    prefix_sums,
)
from otspec.cuts.convex import least_excess
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.single import ByRatio, FixedButOne

_STEPS = 32
"""More factors than these are slower than a power."""


def by_ratio(law: ByRatio, target: Distribution) -> IntArray:
    """Return the minimum cut of a law over one draft distribution: ascending target/draft."""
    return _best_prefix(law, target, ratios.order(law.draft, target))


def after_fixed(law: FixedButOne, target: Distribution) -> IntArray:
    """Return the minimum cut of a law with fixed drafts: those first, then by ratio.

    All drafts are inside A only if the fixed ones are, and then the free draft x has to be; each
    x off the fixed ones costs min(q(x), its own mass), which is a threshold on the ratio 1.
    """
    fixed, free = law.fixed, ratios.order(law.draft, target)
    order = np.concatenate([fixed, free[~np.isin(free, fixed)]])
    return _best_prefix(law, target, order)


def iid_acceptances(draft: Distribution, target: Distribution, ks: Sequence[int]) -> Array:
    """Return the optimum for i.i.d. drafts and every k: one sort, two cumulative sums.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
    ks : sequence of int

    Returns
    -------
    ndarray, shape (len(ks),)
    """
    order = ratios.order(draft, target)
    inside, cost = prefix_sums(draft[order]), prefix_sums(target[order])
    optimum: dict[int, Number] = {}
    raised, reached, difference = inside.copy(), 1, np.empty_like(inside)
    for k in sorted(set(ks)):
        # A power of a fraction in lowest terms is in lowest terms; in floats one multiplication
        # is less where ks follow each other.
        if is_exact(inside) or k - reached > _STEPS:
            raised[:] = power(inside, k)
        else:
            for _ in range(k - reached):
                np.multiply(raised, inside, out=raised)
        np.subtract(cost, raised, out=difference)
        optimum[k], reached = 1 + difference[np.argmin(difference)], k
    return np.array([optimum[k] for k in ks], dtype=draft.dtype)


def distinct_acceptances(draft: Distribution, target: Distribution, ks: Sequence[int]) -> Array:
    """Return the optimum for drafts without replacement and every k: one sort, one quadrature.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
    ks : sequence of int
        At most as many drafts as tokens of positive probability.

    Returns
    -------
    ndarray, shape (len(ks),)
    """
    order = ratios.order(draft, target)
    found: Array = 1 + least_excess(draft[order], prefix_sums(target[order]), ks)
    return found


def _best_prefix(law: DraftLaw, target: Distribution, order: IntArray) -> IntArray:
    excess = prefix_sums(target[order]) - law.inside_prefixes(order)
    return order[: int(np.argmin(excess))]
