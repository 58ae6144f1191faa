"""The optimum of i.i.d. drafts in 60 digits, by every prefix, and targets with many minima."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]


def least(draft: Floats, target: Floats, k: int) -> float:
    """1 + min over prefixes by ascending q/p of q(A) − (1 − p outside A)^k."""
    pairs = [
        (Fraction(p), Fraction(q)) for p, q in zip(draft.tolist(), target.tolist(), strict=True)
    ]
    pairs.sort(key=lambda pair: (pair[0] == 0, pair[1] / pair[0] if pair[0] else 0))
    wanted, outside = Fraction(0), sum(p for p, _ in pairs)
    with localcontext(prec=60):
        found = [-(decimal(max(1 - outside, 0)) ** k)]
        for p, q in pairs:
            wanted, outside = wanted + q, outside - p
            found.append(decimal(wanted) - decimal(max(1 - outside, Fraction(0))) ** k)
        return float(1 + min(0, *found))


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def touching(draft: Floats, k: int, depth: float, dents: Floats) -> Floats:
    """A target of which every prefix is a minimum up to small dents, where its mass is not 0."""
    inside = np.append(np.cumsum(draft[:-1]), 1)
    wanted = np.maximum(inside ** float(k) - depth, 0)
    wanted[wanted > 0] -= dents[: (wanted > 0).sum()]
    wanted[-1] = 1
    return np.diff(wanted, prepend=0)
