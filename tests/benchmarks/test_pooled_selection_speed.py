"""Pooled selection against a sort, and against one pass over both distributions.

In time of the processor: one thread works, and what else a machine does is not what is asked.
"""

import time

import numpy as np
import pytest

import otspec
from otspec._base import compiling
from otspec.distributions import as_distribution
from otspec.ratios import target_to_draft
from otspec.rules import PooledSelection

K = 4
BINS = 256


def real_pair():
    """The first position of the trace: distributions that are checked, as it yields them."""
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    return draft, target


def large_pair(n):
    draft, noise = np.random.default_rng(6).gumbel(scale=2, size=(2, n))
    return (
        as_distribution(np.exp(draft), normalize=True),
        as_distribution(np.exp(0.7 * draft + 0.5 * noise), normalize=True),
    )


def sizes():
    return [
        pytest.param(real_pair, id="49,152"),
        pytest.param(lambda: large_pair(262_144), id="262,144"),
    ]


def optimum(draft, target):
    return otspec.optimal_acceptance(otspec.IID(draft, K), target).acceptance


def numba_states():
    without = pytest.param(False, id="without Numba")
    missing = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")
    return [pytest.param(True, id="with Numba", marks=missing), without]


def described(what, draft, numba):
    return f"{what}, n = {len(draft):,}, k = {K}{'' if numba else ', without Numba'}"


@pytest.mark.parametrize("numba", numba_states())
@pytest.mark.parametrize(("pools", "goal"), [("tokens", "at most 25x"), ("fewest", "")])
def test_an_optimal_rule_against_one_sort(pools, goal, numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target = real_pair()
    ratios = target_to_draft(draft, target)
    rule = PooledSelection(draft, target, K, pools)
    # Sums of n masses that add up to 1, in two orders.
    rounding = (K + 2) * len(draft) * np.finfo(float).eps
    accepted = np.minimum(rule.law_of_selection, target).sum()
    assert accepted == pytest.approx(optimum(draft, target), abs=rounding)
    report_ratio(
        described(f'PooledSelection with "{pools}", its lifetimes', draft, numba),
        lambda: PooledSelection(draft, target, K, pools).lifetimes,
        "one argsort of the ratios",
        lambda: np.argsort(ratios),
        goal if goal and numba else "informational",
        rounds=30 if numba else 3,
        clock=time.process_time,
    )


@pytest.mark.parametrize("numba", numba_states())
@pytest.mark.parametrize(
    ("pools", "goal"), [("tokens", "at most 25x"), ("fewest", "at most 8x"), (BINS, "at most 1.5x")]
)
def test_a_first_draw_against_one_sort(pools, goal, numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target = large_pair(49_152)
    ratios, rng = target_to_draft(draft, target), np.random.default_rng(7)

    def first_draw():
        token, _ = PooledSelection(draft, target, K, pools).sample(drafts, rng)
        return token

    drafts = rng.choice(len(draft), K, p=draft).tolist()
    assert all(target[first_draw()] > 0 for _ in range(3))
    report_ratio(
        described(f"PooledSelection with {pools!r}, built for one draw", draft, numba),
        first_draw,
        "one argsort of the ratios",
        lambda: np.argsort(ratios),
        goal if numba else "informational",
        rounds=50 if numba else 3,
        clock=time.process_time,
    )


@pytest.mark.parametrize("numba", numba_states())
@pytest.mark.parametrize("pair", sizes())
def test_bins_against_one_pass(pair, numba, report_ratio, monkeypatch):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    draft, target = pair()
    rule = PooledSelection(draft, target, K, BINS)
    rounding = (K + 2) * len(draft) * np.finfo(float).eps
    lost = optimum(draft, target) - rule.acceptance()
    assert -rounding <= lost <= rule.loss_bound() + rounding
    assert lost < 1e-3
    report_ratio(
        described(f"PooledSelection with {BINS} bins, its lifetimes", draft, numba),
        lambda: PooledSelection(draft, target, K, BINS).lifetimes,
        "np.minimum(draft, target).sum()",
        lambda: np.minimum(draft, target).sum(),
        "at most 10x" if numba else "informational",
        rounds=100 if numba else 10,
        clock=time.process_time,
    )
