"""Distinct drafts inside every prefix of a full vocabulary, against one sort."""

import numpy as np
import pytest

import otspec
from otspec import ratios
from otspec._base import compiling
from otspec.drafts.race.increments import inside_of_prefixes, inside_rises

GOALS = {4: "at most 40x", 16: "at most 150x"}
NUMBA = sorted({compiling.HAS_NUMBA, False}, reverse=True)


def case():
    """The first position of the trace, its ratios, and the draft in their order."""
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    keys = ratios.target_to_draft(draft, target)
    return draft, target, keys, draft[np.argsort(keys, kind="stable")]


def described(what, n, k, numba):
    return f"{what}, n = {n:,}, k = {k}{'' if numba else ', without Numba'}"


@pytest.mark.parametrize("numba", NUMBA)
@pytest.mark.parametrize("k", [4, 16, 64])
def test_a_sweep_of_the_prefixes_against_one_sort(k, numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    _, _, keys, rates = case()
    assert inside_rises(rates, k).sum() == pytest.approx(1, abs=1e-13)
    report_ratio(
        described("inside_rises", len(rates), k, numba),
        lambda: inside_rises(rates, k),
        "one argsort of the ratios",
        lambda: np.argsort(keys),
        GOALS.get(k, "informational") if numba else "informational",
        rounds=20 if numba else 3,
    )


@pytest.mark.parametrize("numba", NUMBA)
def test_one_pass_for_many_k_against_one_sort(numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    _, _, keys, rates = case()
    ks = [1, 2, 4, 8, 16]
    assert inside_of_prefixes(rates, ks)[:, -1] == pytest.approx(1, abs=1e-13)
    report_ratio(
        described("inside_of_prefixes", len(rates), "1, 2, 4, 8, 16", numba),
        lambda: inside_of_prefixes(rates, ks),
        "one argsort of the ratios",
        lambda: np.argsort(keys),
        "informational",
        rounds=10 if numba else 3,
    )


@pytest.mark.parametrize("numba", NUMBA)
def test_the_optimum_of_distinct_drafts_against_one_sort(numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target, keys, _ = case()
    k = 4
    law = otspec.WithoutReplacement(draft, k)
    otspec.optimal_acceptance(law, target).check()
    report_ratio(
        described("optimal_acceptance, without replacement", law.n, k, numba),
        lambda: otspec.optimal_acceptance(law, target),
        "one argsort of the ratios",
        lambda: np.argsort(keys),
        "at most 60x" if numba else "informational",
        rounds=20 if numba else 3,
    )


@pytest.mark.parametrize("numba", NUMBA)
def test_pooled_selection_of_distinct_drafts_against_one_sort(numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target, keys, _ = case()
    k = 4

    def accepted():
        return otspec.rules.PooledSelectionWithoutReplacement(draft, target, k).acceptance()

    best = otspec.optimal_acceptance(otspec.WithoutReplacement(draft, k), target).acceptance
    assert accepted() == pytest.approx(best, abs=1e-10)
    report_ratio(
        described("PooledSelectionWithoutReplacement, build and acceptance", len(draft), k, numba),
        accepted,
        "one argsort of the ratios",
        lambda: np.argsort(keys),
        "at most 60x" if numba else "informational",
        rounds=20 if numba else 3,
    )


@pytest.mark.parametrize("numba", NUMBA)
@pytest.mark.parametrize("rule_class", [otspec.rules.GumbelCoupling, otspec.rules.GumbelLists])
def test_shared_noise_for_all_k_against_one_sort(rule_class, numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target, keys, _ = case()
    ks = range(1, 17)
    found = rule_class.acceptances(draft, target, ks)
    assert found == sorted(found)
    pair = ratios.Pair(draft, target)
    report_ratio(
        described(f"{rule_class.__name__}.acceptances", len(draft), "1 to 16", numba),
        lambda: rule_class.acceptances_of(pair, ks),
        "one argsort of the ratios",
        lambda: np.argsort(keys),
        "at most 30x",
        rounds=10,
    )
