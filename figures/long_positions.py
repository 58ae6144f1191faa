"""What is accepted at one position of each text of the long trace: a record, and how it is made.

``python -m figures.record_long_trace long.npz`` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import otspec
from figures.contract import Settings
from figures.greedy import Greedy
from figures.long_trace import KeptByTree, recorded
from figures.tree_starts import PATHS, SEED
from otspec import WithoutReplacement, ratios
from otspec.distributions import Distribution
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.rejection.rejected_paths import DistinctPaths
from otspec.traces import Trace

RECORD = Path(__file__).with_name("long_trace_drafts.csv")
KS = (1, 2, 4, 8, 16, 32, 64)
RRS, RRSW, POOLED, BEST = (
    rule.title
    for rule in (
        RecursiveRejection,
        RecursiveRejectionWithoutReplacement,
        PooledSelection,
        PooledSelectionWithoutReplacement,
    )
)
"""Rules for i.i.d. and for distinct drafts, and the optimum of either law."""

Pair: TypeAlias = tuple[Distribution, Distribution]
Accepted: TypeAlias = dict[str, list[float]]
"""Title of a rule → what is accepted of each number of drafts."""


def column(temperature: int, k: int) -> str:
    """Return the name of a column of the record."""
    return f"T={temperature} k={k}"


def of_each_text(trace: Trace) -> Iterator[Pair]:
    """Yield draft and target of text i at depth i mod m, where texts have m positions."""
    length = trace.shape[-2] if len(trace.shape) > 2 else 1
    for number, (_, draft, target) in enumerate(trace.pairs()):
        text, depth = divmod(number, length)
        if depth == text % length:
            yield draft, target


def accepted_in_texts(settings: Settings) -> KeptByTree:
    """Return for each column and rule what is accepted: of the long trace unless one is given."""
    if settings.trace is not None:
        return computed(of_each_text(settings.logged()))
    return recorded(RECORD)


def computed(pairs: Iterable[Pair], ks: tuple[int, ...] = KS) -> KeptByTree:
    """Return for each column and rule what is accepted at each position."""
    kept: dict[str, dict[str, list[float]]] = {}
    for pair in pairs:
        for temperature, lines in enumerate((_greedy(*pair, ks), _sampled(*pair, ks))):
            for rule, values in lines.items():
                for k, value in zip(ks, values, strict=True):
                    of_rules = kept.setdefault(column(temperature, k), {})
                    of_rules.setdefault(rule, []).append(value)
    return {
        name: {rule: tuple(values) for rule, values in rules.items()}
        for name, rules in kept.items()
    }


def _greedy(
    draft: Distribution, target: Distribution, ks: tuple[int, ...]
) -> dict[str, list[float]]:
    """Return what is accepted at temperature 0, where i.i.d. drafts all are the likeliest token."""
    alone = Greedy(draft, target, 1).acceptance()
    distinct = [Greedy(draft, target, k).acceptance() for k in ks]
    same = [alone] * len(ks)
    return {RRS: same, RRSW: distinct, POOLED: same, BEST: distinct}


def _sampled(draft: Distribution, target: Distribution, ks: tuple[int, ...]) -> Accepted:
    """Return what is accepted at temperature 1, of more than two distinct drafts in simulation."""
    rejection = RecursiveRejection.acceptances(draft, target, ks)
    distinct, _ = DistinctPaths(ratios.Pair(draft, target), max(ks), PATHS, SEED).acceptances()
    distinct[2] = RecursiveRejectionWithoutReplacement(draft, target, 2).acceptance()
    best = otspec.optimal_acceptances(draft, target, ks, law=WithoutReplacement.name)
    pooled = otspec.optimal_acceptances(draft, target, ks)
    return {
        RRS: [float(each) for each in rejection],
        RRSW: [float(distinct[k]) for k in ks],
        POOLED: [float(each) for each in pooled],
        BEST: [float(each) for each in best],
    }
