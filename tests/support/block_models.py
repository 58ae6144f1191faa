"""Exact pairs of language models, as tables and as literal models that share no code with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from instances import KINDS, Exact, floats, pair
from scipy.stats import binom
from searching import NIGHTLY, enough

from otspec.blocks import BlockVerification, BlockVerificationPreprint, TokenVerification
from otspec.models import TableModel
from validation import block_algorithms as printed
from validation.models import LanguageModel

Prefix = tuple[int, ...]
Rows = dict[Prefix, Exact]

FALSE_ALARM = 1e-9
"""Of each statistical test, by a union bound over its cells."""

STRUCTURES = ("table", "markov", "memoryless")
SIZES = {(2, 1): 16, (2, 2): 24, (2, 3): 24, (2, 4): 24, (3, 1): 16, (3, 2): 24, (3, 3): 24}
"""How many pairs of models for each alphabet and length."""
ALGORITHMS = {
    TokenVerification: printed.token_verify,
    BlockVerification: printed.block_verify_one_token,
    BlockVerificationPreprint: printed.block_verify,
}
"""The rules and their algorithms, followed step by step."""


@dataclass(frozen=True)
class Pair:
    """A draft and a target model by their rows, and the length of a block."""

    draft_rows: Rows
    target_rows: Rows
    length: int

    @property
    def exact(self) -> tuple[TableModel, TableModel]:
        """Draft and target in rational arithmetic."""
        return TableModel(self.draft_rows), TableModel(self.target_rows)

    @property
    def float(self) -> tuple[TableModel, TableModel]:
        """Draft and target in floats."""
        rows = self.draft_rows, self.target_rows
        return tuple(TableModel({x: floats(row) for x, row in each.items()}) for each in rows)

    @property
    def literal(self) -> tuple[LanguageModel, LanguageModel]:
        """Target and draft, in this order, for the literal algorithms of the validation."""
        return literal(self.target_rows), literal(self.draft_rows)


def literal(rows: Rows) -> LanguageModel:
    """The model of a table: the row of the longest listed ending."""

    def rule(prefix: Prefix) -> Exact:
        endings = (prefix[start:] for start in range(len(prefix) + 1))
        return next(rows[ending] for ending in endings if ending in rows)

    return LanguageModel(rule, len(rows[()]))


def model_pairs(seed: int, n: int, length: int, count: int) -> Iterator[Pair]:
    """:func:`enough` of ``count`` pairs: rows of all kinds in all structures, and in one model.

    From the ninth pair on a draft and a target also differ in structure.
    """
    rng = np.random.default_rng((seed, n, length))
    for index in range(enough(count)):
        kind, turn = KINDS[index % len(KINDS)], index // len(KINDS)
        mixed = turn % 2 and kind not in ("equal", "disjoint")
        shift = turn if kind != "equal" else 0
        depths = [_depth(STRUCTURES[(index + more) % 3], length) for more in (0, shift)]
        rows: tuple[Rows, Rows] = {}, {}
        for depth in range(max(depths)):
            for prefix in product(range(n), repeat=depth):
                each = str(rng.choice(KINDS)) if mixed and prefix else kind
                both = pair(rng, n, each)
                for side in (0, 1):
                    if depth < depths[side]:
                        rows[side][prefix] = both[side]
        yield Pair(*rows, length)


def every_other(seed: int, n: int, length: int, count: int, turn: int) -> list[Pair]:
    """All of the pairs at night; by day every other one, the others at the next turn or length."""
    found = list(model_pairs(seed, n, length, count))
    return found if NIGHTLY else found[(turn + n + length) % 2 :: 2]


def _depth(structure: str, length: int) -> int:
    return {"table": length, "markov": min(length, 2), "memoryless": 1}[structure]


def capped_mass(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Σ_s a(s) over texts of 1 to L tokens, a(∅) = 1, a(sx) = min(a(s) M_b(x | s), M_s(sx))."""
    level, total = {(): Fraction(1)}, Fraction(0)
    for _ in range(length):
        level = {
            (*s, x): min(a * target(s)[x], draft.mass((*s, x)))
            for s, a in level.items()
            for x in range(draft.n)
        }
        total += sum(level.values())
    return total


def within(counts: dict, law: dict, size: int) -> bool:
    """Whether all counts are likely: each one fails with probability FALSE_ALARM / cells."""
    rate = FALSE_ALARM / (2 * len(law))
    return set(counts) <= set(law) and all(
        binom.ppf(rate, size, chance) <= counts.get(cell, 0) <= binom.isf(rate, size, chance)
        for cell, chance in ((cell, min(1.0, float(mass))) for cell, mass in law.items())
    )
