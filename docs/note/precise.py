"""How far off the rules are in floats at full vocabulary, by an independent sum in wider floats."""

from __future__ import annotations

import numpy as np

import otspec
from docs.note.evidence import BEST, SHOWN
from docs.note.results import Results, scientific
from figures.contract import Settings
from otspec._base.arithmetic import Array
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement
from otspec.rules.pooled.base import PooledRule

WIDE = np.longdouble


def measured(results: Results, settings: Settings) -> None:
    """Add how far output and acceptance are off on the bundled trace, at most.

    The output is checked where G is known in closed form; the acceptance for all numbers of drafts
    that are shown, with the law that the computed thresholds give.
    """
    off, short = [], []
    for draft, target in settings.pairs():
        for best in BEST:
            law = best.law_class.name
            optima = otspec.optimal_acceptances(draft, target, SHOWN, law=law)
            for k, optimum in zip(SHOWN, optima, strict=True):
                rule = best(draft, target, k)
                short.append(abs(optimum - np.minimum(rule.law_of_selection, target).sum()))
                if best is PooledSelection or k == 2:
                    off.append(distance(rule))
    results.add("trace.off", scientific(float(max(off))))
    results.add("trace.short", scientific(float(max(short))))


def distance(rule: PooledRule) -> float:
    """Return the total variation of target and output of a rule with G in closed form.

    The law of the selected token is added up in wide floats, from the thresholds alone.
    """
    wide = (np.array(each, dtype=WIDE) for each in (rule.draft, rule.target))
    draft, target = (each / each.sum() for each in wide)
    selected = draft * slopes(rule.lifetimes, *_curves(rule, draft))[rule.pool]
    computed = rule.law_of_selection.astype(WIDE)
    ratios = np.divide(target, computed, out=np.ones_like(target), where=computed > 0)
    kept = selected * np.minimum(ratios, 1)
    residual = np.maximum(target - computed, 0)
    if residual.sum() > 0:
        kept = kept + (1 - kept.sum()) * residual / residual.sum()
    return float(np.abs(kept - target).sum() / 2)


def slopes(thresholds: Array, u: Array, g: Array) -> Array:
    """Return the mean slope of the chords of ``g`` before each breakpoint but the first.

    Two breakpoints are neighbors from the largest threshold between them to the smaller of theirs.
    """
    lasts = [min(float(each), 1.0) for each in thresholds]
    found: list[tuple[int, int, float, float]] = []
    open_ = [0]
    for j in range(1, len(lasts)):
        since = 0.0
        while True:
            i = open_[-1]
            until = min(lasts[i], lasts[j])
            if until > since:
                found.append((i, j, since, until))
            if lasts[i] > lasts[j] or i == 0:
                break
            since = max(since, lasts[i])
            open_.pop()
        open_.append(j)
    i, j = (np.array([each[side] for each in found]) for side in (0, 1))
    since, until = (np.array([each[side] for each in found], dtype=WIDE) for side in (2, 3))
    parts = (until - since) * (g[j] - g[i]) / (u[j] - u[i])
    changes = np.zeros(len(u), dtype=WIDE)
    np.add.at(changes, i, parts)
    np.subtract.at(changes, j, parts)
    return np.cumsum(changes)[:-1]


def _curves(rule: PooledRule, draft: Array) -> tuple[Array, Array]:
    """Return u and G at the breakpoints."""
    u = _below(rule.pool, draft)
    if isinstance(rule, PooledSelectionWithoutReplacement):
        return u, 1 - (1 - u) * (1 + _below(rule.pool, draft / (1 - draft)))
    return u, u**rule.k


def _below(pool: Array, values: Array) -> Array:
    sums = np.zeros(pool.max() + 2, dtype=WIDE)
    np.add.at(sums, pool + 1, values)
    return np.cumsum(sums)
