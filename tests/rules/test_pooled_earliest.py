"""Pooled selection of the earliest draft: the laws of pooled selection, by other drafts."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from instances import pairs

import otspec
from otspec.rules import EarliestPooledSelection, PooledSelection
from otspec.rules.base.tuples import enumerated_law


def test_laws_are_those_of_pooled_selection():
    for draft, target in pairs(260, 48, 4):
        for k in (1, 2, 3):
            rule, alike = (
                kind(draft, target, k) for kind in (EarliestPooledSelection, PooledSelection)
            )
            assert otspec.audit(rule).lossless
            assert (enumerated_law(rule) == rule.accepted_law()).all()
            assert (rule.accepted_law() == alike.accepted_law()).all()
            table = oracles.iid_table(draft, k)
            assert rule.acceptance() == oracles.optimum(table, target)
            by_draft = rule.acceptance_by_draft()
            assert by_draft.sum() == alike.acceptance_by_draft().sum()
            assert all(np.cumsum(by_draft) >= np.cumsum(alike.acceptance_by_draft()))
            assert (rule.accepted_by_draft().sum(axis=0) == rule.accepted_law()).all()
            assert (rule.counted_law().accepted == alike.counted_law().accepted).all()


def test_how_often_the_output_is_drafted():
    for draft, target in pairs(261, 16, 3):
        rule = EarliestPooledSelection(draft, target, 3)
        law = rule.counted_law().accepted * 0
        for x, mass in oracles.iid_table(draft, 3).items():
            for token, chance in enumerate(rule.kernel(x)):
                if token in x:
                    law[x.count(token) - 1, token] += mass * chance
        assert (law == rule.counted_law().accepted).all()


@pytest.mark.parametrize("pools", ["tokens", 4])
def test_samples_are_drawn_from_the_kernel(pools):
    rng = np.random.default_rng(262)
    draft, target = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
    rule = EarliestPooledSelection(draft, target, 2, pools)
    for x in ((0, 1), (1, 0), (2, 0), (1, 1)):
        drawn = [rule.sample(x, rng) for _ in range(2_000)]
        counts = np.bincount([token for token, _ in drawn], minlength=3)
        assert all(accepted == (token in x) for token, accepted in drawn)
        # Hoeffding: each of 24 frequencies is this far off with probability below 1e-10.
        assert np.abs(counts / 2_000 - rule.kernel(x)).max() < 0.08
