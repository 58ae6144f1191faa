"""Exact pairs of few different masses, and what roundings change of a selection among them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from instances import KINDS, Pair, pair

ROUNDING = 2.0**-53


def tied_pair(rng: np.random.Generator, index: int) -> Pair:
    """Draw a draft and a target whose ratios and sums often tie.

    Masses are sixths, eighths, sixteenths and zeros; some targets are drafts in another order.
    """
    n = int(rng.integers(2, 7))
    if index % 4 == 0:
        return pair(rng, n, KINDS[index // 4 % len(KINDS)])
    whole = (6, 8, 16)[index % 3]
    draft = rng.multinomial(whole, np.ones(n) / n)
    target = rng.permutation(draft) if index % 2 else rng.multinomial(whole, np.ones(n) / n)
    first, second = (
        tuple(Fraction(each, whole) for each in row.tolist()) for row in (draft, target)
    )
    return first, second


def tolerance(n: int, k: int) -> float:
    """How far roundings move the law of the selected draft, and any mass of a pair.

    A stage has masses b_i p_j + b_j p_i and wants (q - b p)_+. If b is wrong by e in sum, these are
    wrong by 2e and 2(n + 4) roundings of 1. A flow moves at most n² times over n tokens, with two
    roundings each; a rounding there is one of the data. Every share is wrong by the sum of all (the
    law of shared_pairs), and so is what a token gets; b is n of these and n certain terms.
    """
    wrong = n * ROUNDING
    for _ in range(k - 1):
        wrong = (1 + 2 * n) * wrong + n * (2 * (n + 4) + 2 * n**3) * ROUNDING
    return wrong
