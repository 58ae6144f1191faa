"""Global Resolution is what its authors say, and its cost beside one sort."""

from itertools import product

import numpy as np
import pytest
from bench_resolution import pair_of
from global_resolution import FailedError, System, global_resolution, likely_sets

import otspec
from otspec.rules import PooledSelection


def test_what_the_weights_select_is_what_enumeration_says():
    draft, lower, k = np.array([0.3, 0.2, 0.1]), 0.4, 3
    weights = np.array([0.3, -1.0, 2.0])
    for spare in (0.0, 1.0):
        system = System(np.arange(3), likely_sets(draft, lower, k), np.zeros(3), spare)
        found = np.zeros(3)
        for x in product(range(4), repeat=k):
            mass = np.prod([(*draft, lower)[y] for y in x])
            some = sorted({y for y in x if y < 3})
            if some:
                shares = np.exp(weights[some])
                found[some] += mass * shares / (shares.sum() + spare)
        assert system.function(weights)[1] == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_plans_keep_what_the_paper_promises(k, tolerance):
    for seed in range(5):
        draft, target = np.random.default_rng(seed).dirichlet(np.ones(8), 2)
        plan = global_resolution(draft, target, k, tolerance)
        assert abs(plan.gap) <= 10 * tolerance
        assert 2 * plan.total_variation <= 15 * tolerance


def test_equal_and_disjoint_distributions_have_plans():
    draft = np.array([0.5, 0.25, 0.25, 0, 0])
    assert global_resolution(draft, draft, 2, 1e-4).acceptance == pytest.approx(1, abs=1e-3)
    assert global_resolution(draft, draft[::-1], 2, 1e-4).gap == pytest.approx(0, abs=1e-3)
    apart = np.array([0, 0, 0, 0.5, 0.5])
    assert global_resolution(draft, apart, 2, 1e-4).acceptance == pytest.approx(0, abs=1e-3)


def test_a_full_vocabulary_is_too_much():
    draft, target = pair_of(0, 49_152)
    with pytest.raises(FailedError, match="too many sets"):
        global_resolution(draft, target, 2, 1e-3)


def test_the_cost_beside_one_sort(report_ratio):
    draft, target = pair_of(0, 10)
    plan = global_resolution(draft, target, 4, 1e-3)
    assert PooledSelection(draft, target, 4).acceptance() == pytest.approx(
        otspec.optimal_acceptance(otspec.IID(draft, 4), target).acceptance, abs=1e-12
    )
    report_ratio(
        f"Global Resolution, top 10, k = 4, tolerance 1e-3: gap {plan.gap:.0e}",
        lambda: global_resolution(draft, target, 4, 1e-3),
        "pooled selection, gap 0",
        lambda: PooledSelection(draft, target, 4).acceptance(),
        "informational",
        rounds=3,
    )
