"""SpecTr, tables 1 and 4: block efficiency against K and L, here on Markov chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec.arithmetic import Number
from otspec.blocks import DraftSelection, random_pair, simulate
from otspec.estimate import Estimate
from otspec.rules import KSequential, PairRule, PooledSelection

PLACES = tuple((count, length) for length in (4, 8) for count in (1, 2, 4, 8))
PRINTED: dict[str, dict[tuple[int, int], str]] = {
    "table 1, PaLM 2 Gecko": {(1, 4): "2.4", (8, 4): "3.1", (1, 8): "2.9", (8, 8): "4.0"},
    **{
        f"table 4, {size}M": dict(zip(PLACES, row.split(), strict=True))
        for size, row in {
            2: "1.86±0.02 2.07±0.01 2.32±0.00 2.56±0.01 1.91±0.01 2.15±0.01 2.41±0.00 2.68±0.01",
            6: "2.21±0.01 2.43±0.01 2.74±0.01 2.99±0.02 2.33±0.01 2.61±0.02 2.96±0.03 3.27±0.02",
            20: "2.71±0.01 2.96±0.00 3.28±0.02 3.49±0.03 3.12±0.02 3.48±0.04 3.85±0.05 4.15±0.04",
        }.items()
    },
}
"""The paper's table and draft model → (K, L) → its block efficiency, as printed."""
DIVERGENCES = {
    "table 1, PaLM 2 Gecko": 0.37,
    "table 4, 2M": 0.53,
    "table 4, 6M": 0.43,
    "table 4, 20M": 0.32,
}
"""The total variation of the next tokens of our chains: about what the paper's K = 1 implies."""
TOKENS = 3
"""Vocabulary of the chains of the exact rows."""
SIMULATED = ("table 4, 6M", 8, 4)
"""The row that is also simulated, for chains over more tokens."""
MANY_TOKENS = 64
BLOCKS = 1_000
SEED = 0
RULES: tuple[type[PairRule], ...] = (KSequential, PooledSelection)

Efficiencies: TypeAlias = dict[str, Number]


@dataclass(frozen=True)
class Row:
    """One setting of the paper and of ours.

    Parameters
    ----------
    models : str
        The paper's table and draft model.
    count, length : int
        K and L.
    printed : str
        The paper's block efficiency with its models, and the error that it states.
    tokens : int
        Vocabulary size of our chains.
    efficiency : dict
        Rule → block efficiency with our chains: exact but for rounding, or an Estimate.
    """

    models: str
    count: int
    length: int
    printed: str
    tokens: int
    efficiency: Efficiencies

    @property
    def paper(self) -> float:
        """The paper's block efficiency as a number, without its error."""
        return float(self.printed.partition("±")[0])

    @property
    def exact(self) -> bool:
        """Whether the efficiencies were not simulated."""
        return not any(isinstance(value, Estimate) for value in self.efficiency.values())


def sequences(count: int, length: int) -> tuple[int, ...]:
    """Return the tree of K independent sequences of L tokens."""
    return (count, *(1,) * (length - 1))


def selections(models: str, tokens: int) -> dict[str, DraftSelection]:
    """Return both rules on the chains that stand for models of the paper."""
    pair = random_pair(tokens, DIVERGENCES[models], np.random.default_rng(SEED))
    return {rule.title: DraftSelection(*pair, (1,), rule) for rule in RULES}


def interval(value: Number) -> str:
    """Return the interval of a simulated number in words."""
    if isinstance(value, Estimate):
        return f"{value.low:.3f} to {value.high:.3f} ({value.confidence:.1%})"
    return "exact"


def gains(data: BlockEfficiencies, rule: str | None, length: int) -> Iterator[float]:
    """Yield by what factor the most sequences of each draft model beat one sequence.

    Parameters
    ----------
    data : BlockEfficiencies
    rule : str, optional
        Ours with this rule; by default the paper's.
    length : int
        L.
    """
    rows = data.exact()
    for models in PRINTED:
        found = [row for key, row in rows.items() if key[0] == models and key[2] == length]
        first, last = min(found, key=_count), max(found, key=_count)
        if last.count > first.count:
            if rule is None:
                yield last.paper / first.paper
            else:
                yield float(last.efficiency[rule]) / float(first.efficiency[rule])


def rises(data: BlockEfficiencies, rule: str | None, axis: str) -> bool:
    """Return whether the efficiency rises from every row to the next in K or in L.

    Parameters
    ----------
    data : BlockEfficiencies
    rule : str, optional
        Ours with this rule; by default the paper's.
    axis : {"K", "L"}
    """
    rows = data.exact()
    for (models, count, length), row in rows.items():
        if axis == "K":
            more = [n for name, n, other in rows if (name, other) == (models, length) and n > count]
            key = (models, min(more, default=count), length)
        else:
            key = (models, count, 8)
        if key != (models, count, length) and _worth(rows[key], rule) <= _worth(row, rule):
            return False
    return True


def _count(row: Row) -> int:
    return row.count


def _worth(row: Row, rule: str | None) -> float:
    return row.paper if rule is None else float(row.efficiency[rule])


def _range(factors: Iterator[float]) -> str:
    found = list(factors)
    return f"{min(found):.2f} to {max(found):.2f} times" if found else "not computed"


@item("spectr_tab1", "SpecTr, tables 1 and 4", seed=SEED)
class BlockEfficiencies(Table):
    """The rows of both tables.

    Parameters
    ----------
    rows : tuple of Row
    """

    title = "Block efficiency of K independent sequences of L tokens, other models than the paper's"

    rows: tuple[Row, ...]

    def exact(self) -> dict[tuple[str, int, int], Row]:
        """Return the rows that were not simulated, by models, K and L."""
        return {(row.models, row.count, row.length): row for row in self.rows if row.exact}

    @classmethod
    def compute(cls, settings: Settings) -> BlockEfficiencies:
        """Return all rows; if quick those of at most two sequences and few simulated blocks."""
        rows = []
        for models, printed in PRINTED.items():
            selected = selections(models, TOKENS)
            for (count, length), value in printed.items():
                if settings.quick and count > 2:
                    continue
                found = {
                    rule: selection.with_branching(sequences(count, length)).efficiency()
                    for rule, selection in selected.items()
                }
                rows.append(Row(models, count, length, value, TOKENS, found))
        models, count, length = SIMULATED
        blocks = BLOCKS // 20 if settings.quick else BLOCKS
        drawn: Efficiencies = {
            rule: simulate(selection.with_branching(sequences(count, length)), blocks, SEED)
            for rule, selection in selections(models, MANY_TOKENS).items()
        }
        rows.append(Row(models, count, length, PRINTED[models][count, length], MANY_TOKENS, drawn))
        return cls(tuple(rows))

    def numbers(self) -> Numbers:
        """Return one row for each setting."""
        columns = ["paper's models", "K", "L", "paper", "our divergence d", "our tokens n"]
        columns += [part for rule in RULES for part in (f"ours: {rule.title}", "interval")]
        columns.append("ours (k-sequential) - paper")
        rows: list[tuple[Cell, ...]] = []
        for row in self.rows:
            setting = (row.models, row.count, row.length, row.printed)
            cells: list[Cell] = [*setting, DIVERGENCES[row.models], row.tokens]
            for rule in RULES:
                value = row.efficiency[rule.title]
                cells += [float(value), interval(value)]
            rows.append((*cells, float(row.efficiency[KSequential.title]) - row.paper))
        return Numbers(tuple(columns), tuple(rows))

    def notes(self) -> list[str]:
        """Return what can be compared."""
        most = max(row.count for row in self.exact().values())
        said = [
            (
                "Other models: ours are pairs of random Markov chains whose next tokens differ by "
                "the total variation d after every context, chosen so that K = 1 is near the "
                "paper's; the paper's are transformers. Only the course in K and L can be compared."
            ),
            "K = 1 is sum of (1 - d)^i over i = 0..L, for every pair of chains that differ by d.",
        ]
        for name, rule in (
            ("the paper's models", None),
            *((f"ours, {r.title}", r.title) for r in RULES),
        ):
            course = [f"in {axis}: {'yes' if rises(self, rule, axis) else 'no'}" for axis in "KL"]
            said.append(f"Does the efficiency rise in every row, {name}? {', '.join(course)}.")
        for length in (4, 8):
            parts = [f"paper {_range(gains(self, None, length))}"]
            parts += [f"ours, {r.title}, {_range(gains(self, r.title, length))}" for r in RULES]
            said.append(f"Gain of K = {most} over K = 1 at L = {length}: {'; '.join(parts)}.")
        row = self.rows[-1]
        each = [f"{rule} {interval(value)}" for rule, value in row.efficiency.items()]
        said.append(
            f"For {row.models}, K = {row.count}, L = {row.length} on {row.tokens} tokens instead "
            f"of {TOKENS}, simulated: {'; '.join(each)}; paper {row.printed}."
        )
        said.append(
            "Wall-clock speedups of the paper depend on its machines and have no counterpart."
        )
        return said
