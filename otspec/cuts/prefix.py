"""Laws whose minimum cut is a prefix of the tokens in ascending order of a ratio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from otspec import ratios
from otspec.arithmetic import Array, IntArray, Number, is_exact, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Hub, TopPlusOne, WithoutReplacement


def by_ratio(law: IID | WithoutReplacement, target: Distribution) -> IntArray:
    """Return the minimum cut of a law over one draft distribution: ascending target/draft.

    For i.i.d. drafts −p(A)^k is concave in p(A), so that q(A) − p(A)^k is the least of functions
    q(A) − λ p(A) + const over λ, each minimised by a threshold on q/p. Successive sampling
    without replacement has the same minimisers.
    """
    return _best_prefix(law, target, ratios.ascending(ratios.target_to_draft(law.draft, target)))


def after_fixed(law: Hub | TopPlusOne, target: Distribution) -> IntArray:
    """Return the minimum cut of a law with fixed drafts: those first, then by ratio.

    All drafts are inside A only if the fixed ones are, and then the free draft x has to be; each
    x off the fixed ones costs min(q(x), its own mass), which is a threshold on the ratio 1.
    """
    fixed = np.array([law.hub]) if isinstance(law, Hub) else law.top
    free = ratios.ascending(ratios.target_to_draft(law.draft, target))
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
    order = ratios.ascending(ratios.target_to_draft(draft, target))
    inside, cost = prefix_sums(draft[order]), prefix_sums(target[order])
    optimum: dict[int, Number] = {}
    power, difference, reached = inside.copy(), np.empty_like(inside), 1
    for k in sorted(set(ks)):
        if is_exact(inside):  # a power of a fraction in lowest terms is in lowest terms
            power = inside**k
        elif k > reached:  # one multiplication where ks follow each other
            np.multiply(power, inside if k == reached + 1 else inside ** (k - reached), out=power)
        reached = k
        np.subtract(cost, power, out=difference)
        optimum[k] = 1 + difference[np.argmin(difference)]
    return np.array([optimum[k] for k in ks], dtype=draft.dtype)


def _best_prefix(law: DraftLaw, target: Distribution, order: IntArray) -> IntArray:
    excess = prefix_sums(target[order]) - law.inside_prefixes(order)
    return order[: int(np.argmin(excess))]
