"""Below which uniform number each knot is a barrier, by bisection of the code that says it."""

import numpy as np

from otspec.batch._kernels.library import quiet

FOR_EVER = 2.0
"""The lifetime of a knot that is always a barrier."""


@quiet
def lifetimes_of(pools):
    """(..., m + 2) numbers for :class:`GradedPools` of one row, 2 at both ends and at the cut."""
    last = pools.widths.shape[-1]
    inner = np.arange(1, last)
    low, high = np.zeros(last - 1), np.ones(last - 1)
    for _ in range(60):
        middle = (low + high) / 2
        # Each knot has a uniform number of its own, and only its own answer counts.
        alive = np.diagonal(pools.barriers(middle[:, None]))
        low, high = np.where(alive, middle, low), np.where(alive, high, middle)
    lives = np.concatenate([[FOR_EVER], high, [FOR_EVER]])
    lives[inner[inner == pools.tight.ravel()]] = FOR_EVER
    return lives
