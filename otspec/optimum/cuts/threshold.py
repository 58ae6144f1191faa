"""The optimum for i.i.d. drafts and one k from a histogram of the ratios (Theory, 1, 2 and 32).

Inside a bin of ratios from a to b the target mass of prefixes is convex over their draft mass,
with slopes from a to b. So it is above the two lines from the ends of the bin; less a power, that
is least at an end or where the lines meet. Few bins can hold the optimum by that: only their
tokens are sorted.
"""

from __future__ import annotations

import numpy as np

from otspec import ratios
from otspec._base.arithmetic import Array, IntArray, is_exact
from otspec.distributions import Distribution

_FEWEST = 1 << 12
"""Of fewer tokens all are sorted."""
_MOST = 2**53
"""Up to here every number of drafts is a float."""
_DROPPED = 46
"""Bits of a ratio that a bin does not tell: 64 bins from a power of two to the next."""
_LOWEST = 2.0**-20
"""Below is one bin."""


def serves(draft: Distribution, k: int) -> bool:
    """Return whether this is the way: for floats, of which a sort takes longer."""
    return len(draft) >= _FEWEST and k <= _MOST and not is_exact(draft)


def iid_acceptance(draft: Distribution, target: Distribution, k: int) -> float:
    """Return the optimum for k i.i.d. drafts, for floats.

    What is inside a prefix is taken as 1 less what is outside.
    """
    if k == 1:
        return min(float(np.minimum(draft, target).sum()), 1.0)
    keys = ratios.target_to_draft(draft, target)
    low, high = _bin(_LOWEST), _bin(float(k)) + 1
    bins = np.clip(_bins(keys), low, high)
    bins -= low
    edges = (np.arange(low, high + 1) << _DROPPED).view(np.float64)
    edges[0] = 0
    drafted, wanted = (np.bincount(bins, part, len(edges)) for part in (draft, target))
    outside = np.cumsum(drafted[::-1])[::-1]
    before = np.append(0, np.cumsum(wanted[:-1]))
    best: float = (before - _inside(outside, k)).min()
    # A prefix ends at a ratio of at most k: the last bin is never cut.
    width = edges[1:] - edges[:-1]
    meet = np.clip((edges[1:] * drafted[:-1] - wanted[:-1]) / width, 0, drafted[:-1])
    bounds = before[:-1] + edges[:-1] * meet - _inside(outside[:-1] - meet, k)
    flags = np.append(bounds < best, False)
    tokens = np.flatnonzero(flags[bins])
    tokens = tokens[ratios.order(draft[tokens], target[tokens])]
    looked = np.flatnonzero(flags)
    ends = np.searchsorted(bins[tokens], looked, side="right").tolist()
    for i, part in zip(looked.tolist(), np.split(tokens, ends)[:-1], strict=True):
        left = outside[i + 1] + drafted[i] - np.cumsum(draft[part])
        best = min(best, (before[i] + np.cumsum(target[part]) - _inside(left, k)).min())
    return min(1 + best, 1.0)


def _inside(outside: Array, k: int) -> Array:
    """Return the probability that k drafts are inside, where nothing less than 0 is outside."""
    raised: Array = np.exp(k * np.log1p(-np.clip(outside, 0, 1 - 2.0**-53)))
    return raised


def _bins(keys: Array) -> IntArray:
    """Return the leading bits of numbers from 0 to infinity, which ascend with them."""
    return keys.view(np.int64) >> _DROPPED


def _bin(key: float) -> int:
    return int(_bins(np.array([key]))[0])
