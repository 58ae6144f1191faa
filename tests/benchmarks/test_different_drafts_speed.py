"""Priority mixtures of pools at a full vocabulary: seconds, and the gap that they certify."""

import numpy as np
import pytest

import otspec
from otspec.rules import PriorityMixture, RecursiveRejectionIndependent

TEMPERATURES = (0.6, 1.5, 1.0)


def case(count):
    """Drafts at several temperatures and the target, at a position where they differ much."""
    trace = otspec.datasets.load_smollm2()
    rows = [list(trace.pairs(draft_temperature=t))[3] for t in TEMPERATURES[:count]]
    return otspec.Independent([draft for _, draft, _ in rows]), rows[0][2]


@pytest.mark.parametrize(("gap", "pools"), [(1e-3, 128), (1e-5, 256)])
@pytest.mark.parametrize("count", [2, 3])
def test_a_certified_mixture_against_one_sort(count, gap, pools, report_ratio):
    law, target = case(count)
    found = PriorityMixture(law, target, gap=gap, pools=pools).mixture
    if gap == 1e-3:
        assert found.bound - found.accepted <= gap
    certified = f"certified gap {found.bound - found.accepted:.0e}"
    report_ratio(
        f"PriorityMixture, n = {law.n:,}, {count} models, {pools} pools, {certified}",
        lambda: PriorityMixture(law, target, gap=gap, pools=pools).mixture,
        "one argsort of the target",
        lambda: np.argsort(target),
        "at most 1,000x" if gap == 1e-3 else "informational",
        rounds=3,
    )


def test_the_optimum_of_two_models_against_one_sort(report_ratio):
    law, target = case(2)
    report_ratio(
        f"optimal_acceptance, n = {law.n:,}, 2 models",
        lambda: otspec.optimal_acceptance(law, target),
        "one argsort of the target",
        lambda: np.argsort(target),
        "at most 100x",
        rounds=5,
    )


def test_recursive_rejection_of_three_models_against_one_sort(report_ratio):
    law, target = case(3)
    report_ratio(
        f"RecursiveRejectionIndependent, best order, n = {law.n:,}, 3 models",
        lambda: RecursiveRejectionIndependent(law, target).best_order(),
        "one argsort of the target",
        lambda: np.argsort(target),
        "informational",
        rounds=10,
    )
