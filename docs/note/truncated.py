"""What rules accept where both models are sampled from as engines do: cut off, or colder."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from docs.note.evidence import LARGE, OTHERS, SMALL, Evidence, sampled
from docs.note.results import Results, in_words, points, scientific, short
from figures.contract import Settings
from otspec import IID, WithoutReplacement
from otspec.distributions import Distribution
from otspec.drafts import TopPlusOne
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

K = 4
LAWS = (IID, WithoutReplacement)
HEAD = ("i.i.d.", "distinct", "fixed", "k-Seq", "RRS", "RRSw")
SAMPLINGS: dict[str, dict[str, Any]] = {
    "temp. .6": {"temperature": 0.6},
    "top-k 50": {"top_k": 50},
    "top-p .9": {"top_p": 0.9},
    "both": {"temperature": 0.6, "top_p": 0.9},
}
"""What is done to draft and target alike, and what the table calls it."""
SHOWN = 2
"""Pairs of models in the table, the first ones."""


def table(results: Results, settings: Settings) -> None:
    """Add a line for each sampling, with optima and paired losses, and the losses' range."""
    rows, losses, off, below = [], [], [], 0
    for title, sampling in SAMPLINGS.items():
        cells = []
        for pairs in sampled(settings, **sampling).values():
            found = Evidence.of(pairs, (K,))
            off += [_distance(found, index, *pair) for index, pair in enumerate(pairs)]
            lost = [found.loss(rule, K) for rule in OTHERS]
            kseq, rrs, rrsw = (f"{points(mean)} ± {points(wide)}" for mean, wide in lost)
            means = [found.optima[law.name].mean() for law in (*LAWS, TopPlusOne)]
            below += bool(means[1] < means[2])
            cells.append([*map(short, means), kseq, rrs, rrsw])
            losses.append([mean for mean, _ in lost])
        rows.append([title, *chain(*cells[:SHOWN])])
    head = [f"{name}\n{cell}" for name in (LARGE, *SMALL)[:SHOWN] for cell in HEAD]
    results.add_table("truncated", ["sampled", *head], rows)
    results.add("truncated.k", K)
    results.add("truncated.cases", in_words(len(losses)))
    results.add("truncated.below", in_words(below))
    results.add("truncated.short", scientific(max(off)))
    for rule, means in zip(OTHERS, np.transpose(losses), strict=True):
        name = rule.lower().replace("-", "")
        results.add(f"truncated.{name}.least", points(means.min()))
        results.add(f"truncated.{name}.most", points(means.max()))


def _distance(found: Evidence, index: int, draft: Distribution, target: Distribution) -> float:
    """Return how far the best rules are from their optima at a position, at most."""
    few = min(K, int(np.count_nonzero(draft)))
    rules = (
        PooledSelection(draft, target, K),
        PooledSelectionWithoutReplacement(draft, target, few),
    )
    # By the law that the computed thresholds give.
    accepted = [float(np.minimum(rule.law_of_selection, target).sum()) for rule in rules]
    return max(
        abs(found.optima[law.name][index, 0] - a) for law, a in zip(LAWS, accepted, strict=True)
    )
