"""Below which uniform number each knot is a barrier, as the code says that is asked for numbers."""

import numpy as np
from thresholds import thresholds

FOR_EVER = 2.0
"""The lifetime of a knot that is always a barrier."""


def lifetimes_of(pools):
    """(..., m + 2) numbers for :class:`GradedPools` of one row, 2 at both ends and at the cut."""
    with np.errstate(all="ignore"):
        last = pools.widths.shape[-1]
        inner = np.arange(1, last)

        def alive(moments):
            # Each knot has a uniform number of its own, and only its own answer counts.
            barriers = pools.barriers(moments.reshape(-1, 1))
            return barriers.reshape(*moments.shape, -1)[:, np.arange(last - 1), np.arange(last - 1)]

        _, high = thresholds(alive, inner.shape, 60)
        lives = np.concatenate([[FOR_EVER], high, [FOR_EVER]])
        lives[inner[inner == pools.tight.ravel()]] = FOR_EVER
        return lives
