"""Accepted laws of MCSD's rules for i.i.d. drafts, written down once more."""

import numpy as np


def accepted_of_independent(p, q, k):
    """Return min(q, c·p) with c the sum of what is left after each rejection."""
    level = 0.0
    for _ in range(k):
        level += np.maximum(q - level * p, 0).sum()
    return np.minimum(q, level * p)


def accepted_naively(p, q, k):
    """Return q·P(the token is among k drafts)."""
    return q * -np.expm1(k * np.log1p(-p))
