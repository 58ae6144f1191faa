"""Distinct drafts drawn one after the other: few tuples of many tokens, quickly (Theory, 2)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.drafts.base import inverted

_TIMES = 4
"""How many times k tokens are drawn at once for k distinct ones."""


def successive(draft: Array, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw tuples without replacement, in time of the drafts rather than of the vocabulary.

    The tokens of i.i.d. draws in the order in which they come for the first time are draws without
    replacement. Where they are too few, more are drawn off them one by one.

    Parameters
    ----------
    draft : ndarray of float, shape (n,)
    k : int
        At most the tokens of positive probability.
    size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (size, k)
    """
    drawn = inverted(np.cumsum(draft), rng.random((size, _TIMES * k)))
    rows = [list(dict.fromkeys(row))[:k] for row in drawn.tolist()]
    for row in rows:
        while len(row) < k:
            left = draft.copy()
            left[row] = 0.0
            row.append(int(inverted(np.cumsum(left), rng.random(1))[0]))
    return np.array(rows, dtype=np.intp)
