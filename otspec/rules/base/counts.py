"""How many i.i.d. drafts are the accepted token, without tuples of them (Theory, 15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, is_exact, quotient
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import NotExactError

MOST_STEPS, MOST_EXACT_STEPS = 10**9, 10**7
"""Most terms, n·k², in floats and in exact arithmetic."""


def refuse_many_counts(rule: PairRule) -> None:
    """Refuse so many drafts that counting them takes too long."""
    most = MOST_EXACT_STEPS if is_exact(rule.draft) else MOST_STEPS
    if len(rule.draft) * rule.k**2 > most:
        raise NotExactError(f"k is {rule.k}: counting how often each token is drafted takes long")


def no_counts(rule: PairRule) -> Array:
    """Return chances of 0 by the number of drafts that are y, from none to all: (k + 1, n).

    In exact arithmetic they are whole numbers, over a denominator that the caller knows.
    """
    refuse_many_counts(rule)
    return np.zeros((rule.k + 1, len(rule.draft)), dtype=rule.draft.dtype)


def with_one_more(counts: Array, drawn: Array, others: Array) -> Array:
    """Return the chances after one more draft, which is y or another with these chances."""
    more: Array = counts * others
    more[1:] += counts[:-1] * drawn
    return more


def drafted_counts(rule: PairRule, draft: Array, unit: Any) -> Array:
    """Return how likely c of the drafts are y, times unit^k, for a draft times unit."""
    counts = no_counts(rule)
    counts[0] += unit // unit
    for _ in range(rule.k):
        counts = with_one_more(counts, draft, unit - draft)
    return counts


def over(counts: Array, unit: Any) -> Array:
    """Return whole numbers divided by another one as fractions, floats divided."""
    divided: Array = np.frompyfunc(lambda count: quotient(count, unit), 1, 1)(counts)
    return divided if counts.dtype == object else divided.astype(float)
