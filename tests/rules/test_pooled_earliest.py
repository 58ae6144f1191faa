"""Pooled selection of the earliest draft: the laws of pooled selection, by other drafts."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from instances import pairs

import otspec
from otspec.rules import EarliestPooledSelection, PooledSelection
from otspec.rules.base.accepted import enumerated_law


def test_laws_are_those_of_pooled_selection():
    for draft, target in pairs(260, 48, 4):
        for k in (1, 2, 3):
            rule, alike = (
                kind(draft, target, k) for kind in (EarliestPooledSelection, PooledSelection)
            )
            assert otspec.audit(rule).lossless
            assert (enumerated_law(rule) == rule.accepted().by_token).all()
            assert (rule.accepted().by_token == alike.accepted().by_token).all()
            table = oracles.iid_table(draft, k)
            assert rule.acceptance() == oracles.optimum(table, target)
            by_draft = rule.accepted().by_position
            assert by_draft.sum() == alike.accepted().by_position.sum()
            assert all(np.cumsum(by_draft) >= np.cumsum(alike.accepted().by_position))
            assert (
                rule.accepted().by_position_and_token.sum(axis=0) == rule.accepted().by_token
            ).all()
            assert (rule.accepted().counted.accepted == alike.accepted().counted.accepted).all()


def test_how_often_the_output_is_drafted():
    for draft, target in pairs(261, 16, 3):
        rule = EarliestPooledSelection(draft, target, 3)
        law = rule.accepted().counted.accepted * 0
        for x, mass in oracles.iid_table(draft, 3).items():
            for token, chance in enumerate(rule.kernel(x)):
                if token in x:
                    law[x.count(token) - 1, token] += mass * chance
        assert (law == rule.accepted().counted.accepted).all()


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
