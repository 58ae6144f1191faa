"""Acceptance against k on the trace, and how far each rule is below the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import otspec
from figures.contract import PAGE, Item, Numbers, Settings, legend_outside
from figures.looks import look
from otspec.rules import KSequential, NaiveSampling, PairRule, PooledSelection, RecursiveRejection
from otspec.traces.charts import against_counts
from otspec.traces.comparison import OPTIMUM

KS = (1, 2, 4, 8, 16)
RULES: tuple[type[PairRule], ...] = (
    PooledSelection,
    KSequential,
    RecursiveRejection,
    NaiveSampling,
)


@dataclass(frozen=True)
class AcceptanceGap:
    """Means over the positions of the trace at temperature 1.

    Parameters
    ----------
    ks : tuple of int
    positions : int
    optimum : tuple of float
        Mean optimum for each k.
    acceptance : dict
        Rule → mean acceptance for each k.
    gap : dict
        Rule → mean of optimum − acceptance for each k.
    """

    ks: tuple[int, ...]
    positions: int
    optimum: tuple[float, ...]
    acceptance: dict[str, tuple[float, ...]]
    gap: dict[str, tuple[float, ...]]


def compute(settings: Settings) -> AcceptanceGap:
    """Return the means."""
    optima: list[Any] = []
    accepted: dict[str, list[list[float]]] = {rule.title: [] for rule in RULES}
    for draft, target in settings.pairs():
        optima.append(otspec.optimal_acceptances(draft, target, KS))
        for rule in RULES:
            accepted[rule.title].append([float(rule(draft, target, k).acceptance()) for k in KS])
    optimum = np.array(optima)
    rows = {rule: np.array(values) for rule, values in accepted.items()}
    return AcceptanceGap(
        KS,
        len(optima),
        tuple(optimum.mean(axis=0).tolist()),
        {rule: tuple(values.mean(axis=0).tolist()) for rule, values in rows.items()},
        {rule: tuple((optimum - values).mean(axis=0).tolist()) for rule, values in rows.items()},
    )


def numbers(data: AcceptanceGap) -> Numbers:
    """Return one row for each rule and k; the optimum first."""
    rows = [(OPTIMUM, k, data.optimum[i], 0.0) for i, k in enumerate(data.ks)]
    rows += [
        (rule, k, data.acceptance[rule][i], data.gap[rule][i])
        for rule in data.acceptance
        for i, k in enumerate(data.ks)
    ]
    return Numbers(("rule", "k", "mean acceptance", "mean gap"), tuple(rows))


def draw(axes: list[Any], data: AcceptanceGap) -> None:
    """Draw acceptance to the left, the gap to the right."""
    left, right = axes
    left.plot(data.ks, data.optimum, label=OPTIMUM, **look(OPTIMUM, linewidth=2.0, markersize=7))
    for rule, values in data.acceptance.items():
        left.plot(data.ks, values, label=rule, **look(rule))
        right.plot(data.ks, [max(gap, 0.0) for gap in data.gap[rule]], label=rule, **look(rule))
    for panel in axes:
        against_counts(panel, data.ks, "number of i.i.d. drafts k")
    left.set_ylim(0, 1)
    left.set_ylabel("mean acceptance")
    right.set_ylim(-0.01, None)
    right.set_ylabel("mean gap to the optimum")
    handles, labels = left.get_legend_handles_labels()
    legend_outside(right, handles, labels)


ITEM = Item(
    name="acceptance_gap",
    title="Acceptance against the number of drafts, and the gap of each rule to the optimum",
    source="ours",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=PAGE,
    panels=(1, 2),
    traced=True,
)
