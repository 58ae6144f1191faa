"""Canonical, tables 1, 2 and 4: how many drafts, how many free tokens, and truncated sampling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

import otspec
from figures.contract import Cell, Numbers, Settings, Table
from figures.means import CHANCE, mean_in_words
from figures.on_letters import LetterTrees, Warping, letter_pair
from figures.registry import item
from otspec._base.arithmetic import Array
from otspec.distributions import Distribution
from otspec.rules import (
    ImportanceSampling,
    KSequential,
    PairRule,
    PooledSelection,
    RecursiveRejection,
)
from otspec.traces.comparison import OPTIMUM

SAMPLING, SPECTR, SPECINFER = (
    rule.title for rule in (ImportanceSampling, KSequential, RecursiveRejection)
)
RULES = (OPTIMUM, SAMPLING, SPECTR, SPECINFER)
HOT = 1.2
"""The drafts' temperature for table 1."""
TOP_P = 0.95
LENGTH = 5
"""Tokens of each drafted sequence."""
COUNTS, QUICK_COUNTS = (2, 3, 4, 5, 6), (2,)
TABLE_1 = {
    SAMPLING: "2.13±0.05 2.22±0.05 2.26±0.05 2.27±0.05 2.28±0.06",
    SPECTR: "1.77±0.04 1.89±0.05 1.96±0.05 2.03±0.06 2.08±0.04",
    SPECINFER: "1.76±0.04 1.86±0.05 1.95±0.05 2.00±0.04 2.04±0.05",
}
"""Scheme → block efficiencies of 2 to 6 drafts, as printed."""
TABLE_2 = {
    ("alphabet", 10): "1.98±0.03",
    ("alphabet", 20): "2.00±0.04",
    ("alphabet", 40): "2.05±0.04",
    ("alphabet", 50): "2.03±0.05",
    ("free tokens", 5): "2.05±0.04",
    ("free tokens", 10): "2.04±0.05",
    ("free tokens", 15): "2.04±0.04",
}
"""Block efficiencies of importance sampling, as printed."""
ALPHABET, FREE = 40, 5
"""The paper's own choice of both, and of these the other one in each row."""
TOP_PS = (0.5, 0.8, 0.95, 1.0)


class Row(NamedTuple):
    """One setting.

    Parameters
    ----------
    table : str
    setting : str
        What is varied.
    value : number
    paper : dict
        Rule → the paper's block efficiency.
    calls : dict
        Rule → tokens per call of so many sequences on the letters, where they were computed.
    letters : dict
        Rule → mean acceptance at a random place of the letters.
    trace : dict
        Rule → acceptance at each position of the trace.
    """

    table: str
    setting: str
    value: float
    paper: dict[str, str]
    calls: dict[str, float]
    letters: dict[str, float]
    trace: dict[str, tuple[float, ...]]


Pairs = list[tuple[Distribution, Distribution]]


def acceptances(draft: Distribution, target: Distribution, k: int) -> dict[str, float]:
    """Return what the rules without parameters accept of k drafts."""
    return {
        OPTIMUM: float(otspec.optimal_acceptances(draft, target, [k])[0]),
        SPECTR: float(KSequential(draft, target, k).acceptance()),
        SPECINFER: float(RecursiveRejection(draft, target, k).acceptance()),
    }


def sampled(
    draft: Distribution, target: Distribution, alphabet: int, free: int
) -> dict[str, float]:
    """Return what importance sampling accepts of two drafts, and the optimum."""
    rule = ImportanceSampling(draft, target, 2, alphabet=alphabet, free=free)
    best = float(otspec.optimal_acceptances(draft, target, [2])[0])
    return {OPTIMUM: best, SAMPLING: float(rule.acceptance())}


@item("canonical_tab1", "Canonical, tables 1, 2 and 4", traced=True)
class Sweeps(Table):
    """All rows.

    Parameters
    ----------
    rows : tuple of Row
    """

    title = "Number of drafts, truncated importance sampling, top-p sampling"

    rows: tuple[Row, ...]

    @classmethod
    def compute(cls, settings: Settings) -> Sweeps:
        """Return all rows; of two drafts, and with one setting of each kind if quick."""
        rows = [*_by_count(settings), *_by_truncation(settings), *_by_top_p(settings)]
        return cls(tuple(rows))

    def numbers(self) -> Numbers:
        """Return one row for each setting."""
        columns = ["table", "setting", "value", *(f"paper: {rule}" for rule in TABLE_1)]
        columns += [f"letters, tokens per call: {rule}" for rule in (OPTIMUM, SPECTR, SPECINFER)]
        columns += [f"letters, accepted: {rule}" for rule in RULES]
        columns += [part for rule in RULES for part in (f"trace, accepted: {rule}", "95% interval")]
        rows = []
        for row in self.rows:
            cells: list[Cell] = [row.table, row.setting, str(row.value)]
            cells += [row.paper.get(rule, "") for rule in TABLE_1]
            cells += [row.calls.get(rule, "") for rule in (OPTIMUM, SPECTR, SPECINFER)]
            cells += [row.letters.get(rule, "") for rule in RULES]
            for rule in RULES:
                found = row.trace.get(rule)
                cells += ("", "") if found is None else mean_in_words(found, CHANCE)
            rows.append(tuple(cells))
        return Numbers(tuple(columns), tuple(rows))

    def notes(self) -> list[str]:
        """Say what more drafts, free tokens and truncation change."""
        said = [
            (
                "Other models: ours are the letters at a random place, exact but for rounding, and "
                "the positions of the trace. The target is at temperature 1. Tokens per call are "
                f"those of sequences of {LENGTH} tokens. Token rates depend on the paper's machine."
            ),
            (
                f"Table 1: the drafts are at temperature {HOT}. Table 2: both models are at 1 and "
                f"cut to top-p {TOP_P}, two drafts; {FREE} free tokens where the alphabet varies, "
                f"an alphabet of {ALPHABET} where the free tokens vary. Table 4's numbers are not "
                "in the text that we have; ours are for two drafts and top-p as stated."
            ),
        ]
        counted = [row for row in self.rows if row.setting == "drafts"]
        first, last = counted[0], counted[-1]
        for rule, cells in TABLE_1.items():
            paper = [float(cell.partition("±")[0]) for cell in cells.split()]
            ours = [row.calls[rule if rule != SAMPLING else OPTIMUM] for row in (first, last)]
            name = rule if rule != SAMPLING else f"{SAMPLING} (ours: {OPTIMUM})"
            said.append(
                f"{name}, {last.value} over {first.value} drafts, times: paper "
                f"{paper[int(last.value) - 2] / paper[0]:.2f}, letters {ours[1] / ours[0]:.2f}."
            )
        return said


def _by_count(settings: Settings) -> Iterable[Row]:
    hot = letter_pair(Warping(draft_temperature=HOT))
    rules: dict[str, type[PairRule]] = {
        OPTIMUM: PooledSelection,
        SPECTR: KSequential,
        SPECINFER: RecursiveRejection,
    }
    trees = {name: LetterTrees(hot, rule, merge=True) for name, rule in rules.items()}
    pairs = list(settings.pairs(1.0, HOT))
    for i, k in enumerate(QUICK_COUNTS if settings.quick else COUNTS):
        calls = {
            name: each.tokens_per_call((k, *(1,) * (LENGTH - 1))) for name, each in trees.items()
        }
        letters = {name: each.tokens_per_call((k,)) - 1 for name, each in trees.items()}
        paper = {rule: cells.split()[i] for rule, cells in TABLE_1.items()}
        trace = _by_rule([acceptances(*pair, k) for pair in pairs])
        yield Row("table 1", "drafts", k, paper, calls, letters, trace)


def _by_truncation(settings: Settings) -> Iterable[Row]:
    weights, letters = _letter_places(settings, TOP_P)
    pairs = _trace_places(settings, TOP_P)
    for (setting, value), printed in list(TABLE_2.items())[:: 5 if settings.quick else 1]:
        sizes = (value, FREE) if setting == "alphabet" else (ALPHABET, value)
        found = _by_rule([sampled(*pair, *sizes) for pair in letters])
        trace = _by_rule([sampled(*pair, *sizes) for pair in pairs])
        yield Row("table 2", setting, value, {SAMPLING: printed}, {}, _mean(weights, found), trace)


def _by_top_p(settings: Settings) -> Iterable[Row]:
    for top_p in TOP_PS[:1] if settings.quick else TOP_PS:
        weights, letters = _letter_places(settings, top_p)
        found = _by_rule([acceptances(*pair, 2) for pair in letters])
        trace = _by_rule([acceptances(*pair, 2) for pair in _trace_places(settings, top_p)])
        yield Row("table 4", "top-p", top_p, {}, {}, _mean(weights, found), trace)


def _letter_places(settings: Settings, top_p: float) -> tuple[Array, Pairs]:
    """Return how often each place occurs, and both models there; of a few places if quick."""
    pair = letter_pair(Warping(top_p=top_p))
    which = np.flatnonzero(pair.places)[:: 10 if settings.quick else 1]
    weights = pair.places[which] / pair.places[which].sum()
    return weights, list(zip(pair.draft[which], pair.target[which], strict=True))


def _trace_places(settings: Settings, top_p: float) -> Pairs:
    """Return both models at the positions, without tokens that neither of them has."""
    pairs = settings.logged().pairs(top_p=top_p)
    found = []
    for _, (_, draft, target) in zip(settings.pairs(), pairs, strict=False):
        possible = (draft > 0) | (target > 0)
        found.append((draft[possible], target[possible]))
    return found


def _by_rule(rows: list[dict[str, float]]) -> dict[str, tuple[float, ...]]:
    return {rule: tuple(row[rule] for row in rows) for rule in rows[0]}


def _mean(weights: Array, found: dict[str, tuple[float, ...]]) -> dict[str, float]:
    return {rule: float(weights @ np.array(values)) for rule, values in found.items()}
