"""Distinct drafts drawn one after the other have the law of drafts without replacement."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from scipy.stats import chisquare
from searching import enough

from otspec.drafts.without_replacement import successive

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("draft", [(0.5, 0.3, 0.1, 0.1), (0.97, 0.01, 0.015, 0.005, 0.0)])
def test_tuples_are_as_frequent_as_they_are_likely(draft):
    size, k = enough(20_000), 3
    drawn = successive(np.array(draft), k, size, np.random.default_rng(13))
    table = oracles.without_replacement_table(draft, k)
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, found.tolist()), counts.tolist(), strict=True))
    likely = {x: mass for x, mass in table.items() if mass}
    assert set(seen) <= set(likely)
    expected = np.array([float(mass) for mass in likely.values()]) * size
    observed = np.array([seen.get(x, 0) for x in likely])
    assert chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > FALSE_ALARM
