"""How many of k i.i.d. drafts are the one that pooled selection selects (Theory, 15)."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from otspec.arithmetic import Array, as_whole, over_one_denominator, quotient
from otspec.selection.barriers import Barriers


def selected_counts(barriers: Barriers, k: int) -> Array:
    """Return the probability that y is selected and c of the drafts are y.

    Parameters
    ----------
    barriers : Barriers
        Those that select.
    k : int
        Number of drafts.

    Returns
    -------
    ndarray, shape (k, n)
        Entry (c − 1, y).
    """
    pools = barriers.pools
    draft, knots, unit = over_one_denominator(pools.tokens, pools.knots)
    spans, whole = as_whole(barriers.spans.tolist())
    counts = np.zeros((k, len(draft)), dtype=draft.dtype)
    for start, end, span in zip(barriers.starts, barriers.ends, spans, strict=True):
        inside = (pools.index >= start) & (pools.index < end) & (draft > 0)
        if span and inside.any():
            tokens = draft[inside]
            others = np.maximum(knots[end] - knots[start] - tokens, 0)
            counts[:, inside] += span * _in_group(tokens, others, knots[start], k)
    divided = np.frompyfunc(lambda count: quotient(count, whole * unit**k), 1, 1)(counts)
    return np.asarray(divided, dtype=draft.dtype)


def _in_group(tokens: Array, others: Array, below: Any, k: int) -> Array:
    """Return the same for the tokens of a group that has no draft above: (k, tokens).

    If m drafts are in the group and c of them are y, y is selected with probability c/m; in
    C(k, m) C(m, c) orders, which makes C(k, m) C(m − 1, c − 1).
    """
    counts = np.zeros((k, len(tokens)), dtype=tokens.dtype)
    for m in range(1, k + 1):
        ways = comb(k, m) * below ** (k - m)
        for c in range(1, m + 1):
            counts[c - 1] += ways * comb(m - 1, c - 1) * tokens**c * others ** (m - c)
    return counts
