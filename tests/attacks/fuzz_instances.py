"""Random draft and target pairs that look for trouble, exact and in floats, from a seed.

Exact pairs have zeros, ties, equal and disjoint rows, nearly certain tokens and huge denominators.
Float pairs have masses of any magnitude down to subnormal ones, and sums that are off by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from instances import KINDS, Exact, pair

MAGNITUDES = ("even", "steep", "dominant", "subnormal", "tiny", "tied", "sparse", "rounded")


@dataclass(frozen=True)
class Example:
    """A draft, a target and k, and the seed that they come from."""

    seed: int
    draft: tuple
    target: tuple
    k: int

    @property
    def n(self) -> int:
        """Vocabulary size."""
        return len(self.draft)

    @property
    def support(self) -> int:
        """How many tokens can be drafted."""
        return sum(mass > 0 for mass in self.draft)


def exact_example(seed: int, most_tokens: int = 5, most_drafts: int = 4) -> Example:
    """Draw an exact example; every third has denominators of hundreds of digits."""
    rng = np.random.default_rng([seed, 1])
    n, k = int(rng.integers(1, most_tokens + 1)), int(rng.integers(1, most_drafts + 1))
    draft, target = pair(rng, n, KINDS[int(rng.integers(len(KINDS)))])
    if rng.integers(3) == 0:
        draft, target = stretched(rng, draft), stretched(rng, target)
    return Example(seed, draft, target, k)


def stretched(rng: np.random.Generator, distribution: Exact) -> Exact:
    """Multiply the masses by powers of two of any size and make them sum to 1 again."""
    weights = [mass * Fraction(2) ** int(rng.integers(-400, 401)) for mass in distribution]
    return tuple(weight / sum(weights) for weight in weights)


def float_example(seed: int, most_tokens: int = 8, most_drafts: int = 4) -> Example:
    """Draw a float example of any magnitudes."""
    rng = np.random.default_rng([seed, 2])
    n, k = int(rng.integers(1, most_tokens + 1)), int(rng.integers(1, most_drafts + 1))
    draft = float_row(rng, n)
    kind = rng.integers(5)
    if kind == 0:
        target = draft.copy()
    elif kind == 1:  # nearly equal
        target = normalized(draft * (1 + 1e-15 * rng.integers(-8, 9, n)))
    elif kind == 2:
        target = draft[rng.permutation(n)]
    else:
        target = float_row(rng, n)
    return Example(seed, tuple(draft.tolist()), tuple(target.tolist()), k)


def float_row(rng: np.random.Generator, n: int, dtype: type = np.float64) -> np.ndarray:
    """Draw one row of a dtype, of one of the magnitudes."""
    smallest = float(np.finfo(dtype).smallest_subnormal)
    tiny = float(np.finfo(dtype).tiny)
    kind = MAGNITUDES[int(rng.integers(len(MAGNITUDES)))]
    if kind == "even":
        row = rng.random(n)
    elif kind == "steep":
        row = np.exp(rng.normal(size=n) * rng.choice([1, 5, 40]))
    elif kind == "dominant":
        row = np.exp(-rng.uniform(0, -np.log(tiny), n))
    elif kind == "subnormal":
        row = smallest * rng.integers(0, 9, n)
    elif kind == "tiny":
        row = tiny * np.exp2(rng.integers(-20, 21, n))
    elif kind == "tied":
        row = rng.integers(1, 3, n).astype(float)
    elif kind == "sparse":
        row = rng.random(n) * (rng.random(n) < 0.5)
    else:
        row = rng.integers(1, 100, n) / 7
    if kind in ("dominant", "subnormal", "tiny") or not row.any():
        row[rng.integers(n)] = 1.0
    return normalized(row).astype(dtype)


def normalized(row: np.ndarray) -> np.ndarray:
    """Scale a row to sum 1; what a model's softmax leaves of rounding stays."""
    return row / row.sum()
