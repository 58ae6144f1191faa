"""Rejection of distinct drafts where nearly nothing is left, or nothing is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from instances import EPS

from otspec.rules import RecursiveRejectionWithoutReplacement as Distinct
from otspec.rules.rejection import without_replacement


def test_three_distinct_drafts_of_equal_distributions_are_accepted():
    draft = np.random.default_rng(3).dirichlet(np.ones(40))  # too many tuples to enumerate
    assert abs(Distinct(draft, draft, 3).acceptance() - 1) <= 40 * EPS
    assert abs(Distinct(draft, draft, 4).acceptance() - 1) <= 40 * EPS


@pytest.mark.parametrize(("heavy", "k"), [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4)])
def test_many_distinct_drafts_off_a_few_heavy_tokens(heavy, k):
    draft = np.full(40, 5e-324)
    draft[:heavy] = 1 / heavy
    # Once the heavy tokens are rejected, the others are wanted alike and drafted alike: the next
    # draft is accepted for sure.
    found = Distinct(draft, np.full(40, 1 / 40), k).acceptance()
    assert abs(found - 1) <= 40 * EPS


def test_second_drafts_are_not_summed_first_draft_by_first_draft(monkeypatch):
    removed, without = [], without_replacement._without
    monkeypatch.setattr(
        without_replacement, "_without", lambda *given: removed.append(given[1]) or without(*given)
    )
    draft = np.arange(1, 41) / 820
    assert 0 < Distinct(draft, draft[::-1], 2).acceptance() < 1
    assert removed == [39]  # the heaviest alone
