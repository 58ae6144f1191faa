"""The figures that the papers lack: acceptance and gap, the simplex, block rules."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure
from programs_table import needs_cdd
from searching import enough

import otspec
from figures import acceptance_gap, block_rules, cut_simplex, shared_noise
from figures.contract import Settings
from otspec.blocks import BLOCK_RULES, BlockVerificationPreprint
from otspec.rules import NaiveSampling, PooledSelection

EPS = np.finfo(float).eps
QUICK = Settings(quick=True)


@pytest.fixture(scope="module")
def gap(computed):
    return computed(acceptance_gap.AcceptanceGap, quick=True)


@pytest.fixture(scope="module")
def simplex(computed):
    return computed(cut_simplex.CutSimplex, quick=True)


@pytest.fixture(scope="module")
def rules(computed):
    return computed(block_rules.TokensPerCall, quick=True)


def test_the_gap_is_what_is_missing_to_the_optimum(gap):
    assert gap.positions == 4
    positions = list(QUICK.pairs())
    for i, k in enumerate(gap.ks):
        best = [otspec.optimal_acceptance(otspec.IID(p, k), q).acceptance for p, q in positions]
        assert abs(gap.acceptance["optimum"][i] - np.mean(best)) <= 1e-12
        naive = [(q * -np.expm1(k * np.log1p(-p))).sum() for p, q in positions]
        assert abs(gap.acceptance[NaiveSampling.title][i] - np.mean(naive)) <= 1e-12
        assert abs(gap.loss[PooledSelection.title][i]) <= 1e-12
        for rule in gap.loss:
            found = gap.acceptance["optimum"][i] - gap.acceptance[rule][i]
            assert abs(gap.loss[rule][i] - found) <= 8 * EPS


def test_the_gap_is_drawn(gap):
    axes = list(Figure().subplots(1, 2))
    gap.draw(axes)
    for rule, values in gap.acceptance.items():
        (line,) = (line for line in axes[0].lines if line.get_label() == rule)
        assert list(line.get_ydata()) == list(values)


def test_shared_noise_is_between_independent_noise_and_the_optimum_of_its_drafts(computed):
    found = computed(shared_noise.SharedNoise, quick=True)
    race, lists, independent = (np.array(found.acceptance[name]) for name in shared_noise.RULES)
    distinct, iid = (np.array(found.acceptance[name]) for name in shared_noise.OPTIMA.values())
    assert (independent < lists).all()
    assert (lists[1:] < race[1:]).all()
    assert (race < distinct).all()
    assert (lists < iid).all()
    positions = list(QUICK.pairs())
    naive = [[(q * -np.expm1(k * np.log1p(-p))).sum() for p, q in positions] for k in found.ks]
    assert np.abs(independent - np.mean(naive, axis=1)).max() <= 1e-12
    for name, best in zip(shared_noise.RULES, (distinct, iid, iid), strict=True):
        assert found.loss[name] == tuple((best - found.acceptance[name]).tolist())


def test_the_regions_are_the_targets_that_lose_nothing(simplex):
    """q(A) ≥ p(A)^k for all A, with equality in two independent sets at every corner."""
    sets = [chosen for size in (1, 2) for chosen in combinations(range(3), size)]
    draft = cut_simplex.DRAFT
    for k, corners in simplex.corners.items():
        assert len(corners) == (1 if k == 1 else 6)
        for corner in corners:
            assert sum(corner) == 1
            slack = [sum(corner[i] for i in a) - sum(draft[i] for i in a) ** k for a in sets]
            assert min(slack) == 0
            assert slack.count(0) == (6 if k == 1 else 2)
            law = otspec.IID(list(draft), k)
            assert otspec.optimal_acceptance(law, list(corner)).acceptance == 1


@needs_cdd
def test_the_regions_are_those_of_double_description(simplex):
    for k in (2, 3, 4):
        polytope = otspec.cones.selection_polytope(otspec.IID(list(cut_simplex.DRAFT), k))
        assert sorted(simplex.corners[k]) == sorted(polytope.vertices)


def test_the_regions_grow_with_k(simplex):
    for k in (1, 2, 3):
        law = otspec.IID(list(cut_simplex.DRAFT), k + 1)
        for corner in simplex.corners[k]:
            assert otspec.optimal_acceptance(law, list(corner)).acceptance == 1


def test_the_cuts_prove_the_optimum(simplex):
    assert len(simplex.targets) == len(set(simplex.targets)) == 91
    draft, k = cut_simplex.DRAFT, cut_simplex.CUT_K
    seen = set()
    for target, cut in zip(simplex.targets, simplex.cuts, strict=True):
        bounds = {
            chosen: sum((target[i] for i in chosen), Fraction(0))
            + 1
            - sum((draft[i] for i in chosen), Fraction(0)) ** k
            for size in (0, 1, 2)
            for chosen in combinations(range(3), size)
        }
        assert bounds[cut] == min(bounds.values())
        seen.add(cut)
    assert seen == {(), *(c for size in (1, 2) for c in combinations(range(3), size))}


def test_the_simplex_is_drawn(simplex):
    axes = list(Figure().subplots(1, 2))
    simplex.draw(axes)
    assert len(axes[0].patches) == 3
    shown = sum(len(points.get_offsets()) for points in axes[1].collections)
    assert shown == sum(cut != () for cut in simplex.cuts)


def test_block_rules_come_in_their_order(rules):
    token, published, preprint = (rule.title for rule in BLOCK_RULES.values())
    for lines in (rules.letters, rules.coin, rules.trace):
        for i in range(len(rules.lengths)):
            slack = 16 * EPS * rules.lengths[i]
            assert lines[token][i] <= lines[published][i] + slack
            assert lines[published][i] <= lines[preprint][i] + slack
        assert lines[token][0] == pytest.approx(lines[preprint][0], abs=4 * EPS)


def test_the_coins_have_a_closed_form(rules):
    """Token: Σ (1 − 1/4)^i. Preprint: Σ (1 − total variation of binomials)."""
    from scipy.stats import binom

    token, _, preprint = (rule.title for rule in BLOCK_RULES.values())
    for i, length in enumerate(rules.lengths):
        geometric = 1 + sum(0.75**j for j in range(1, length + 1))
        assert abs(rules.coin[token][i] - geometric) <= 1e-12
        common = 1.0
        for j in range(1, length + 1):
            counts = np.arange(j + 1)
            common += np.minimum(binom.pmf(counts, j, 0.5), binom.pmf(counts, j, 0.75)).sum()
        assert abs(rules.coin[preprint][i] - common) <= 1e-12


def test_the_preprint_loses_in_the_long_run_what_it_gains_first(monkeypatch):
    monkeypatch.setattr(block_rules, "LENGTHS", (1, 8))
    monkeypatch.setattr(block_rules, "STEP", block_rules.QUICK_STEP)
    monkeypatch.setattr(block_rules, "TEXT", enough(block_rules.TEXT))
    data = block_rules.TokensPerCall.compute(Settings())
    i = data.lengths.index(8)
    published = data.coin[list(BLOCK_RULES.values())[1].title][i]
    assert data.coin[BlockVerificationPreprint.title][i] > published
    assert data.long_run[i] + 5 * data.long_run_error[i] < published
    axes = list(Figure().subplots(1, 3))
    data.draw(axes)
    drawn = {line.get_label(): line for line in axes[0].lines}
    assert list(drawn[BlockVerificationPreprint.title].get_ydata()) == list(
        data.letters[BlockVerificationPreprint.title]
    )
