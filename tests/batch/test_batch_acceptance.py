"""Acceptance and warping, row by row, against the package's own functions for single rows."""

import itertools

import numpy as np
import pytest
from batch_paths import path  # noqa: F401 # path is a fixture

import otspec
from otspec import batch
from otspec.batch._array_api.k_sequential import safe_rho
from otspec.batch._array_api.library import library_of
from otspec.traces import warp

pytestmark = pytest.mark.usefixtures("path")

ROUNDING = 1e-13
"""Sums of a few hundred masses."""


def rows(count, n, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(n, 0.4), size=(2, count)) + 0.01 / n
    weights[0, :, 0] = 0
    weights[1, :, 1] = 0
    weights[1, 0] = weights[0, 0]
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_disjoint_supports_are_never_accepted_less_than_never(dtype):
    rng = np.random.default_rng(0)
    target = rng.random((2_000, 9)) ** rng.choice([1, 5, 20], (2_000, 1))
    target[:, 2] = 0
    target = (target / target.sum(axis=1, keepdims=True)).astype(dtype)
    draft = np.zeros_like(target)
    draft[:, 2] = 1
    found = batch.acceptance.recursive_rejection(draft, target, 2)
    assert found.min() == 0
    assert found.max() < 2 * np.finfo(dtype).eps  # the sum of a target is that near to 1


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_optimum(k):
    draft, target = rows(20, 300)
    found = batch.optimal_acceptance(draft, target, k)
    for row in range(20):
        best = otspec.optimal_acceptance(otspec.IID(draft[row], k), target[row])
        assert found[row] == pytest.approx(float(best.acceptance), abs=ROUNDING)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_rules_with_a_formula(k):
    draft, target = rows(20, 300)
    recursive = batch.acceptance.recursive_rejection(draft, target, k)
    for row in range(20):
        rule = otspec.rules.RecursiveRejection(draft[row], target[row], k)
        assert recursive[row] == pytest.approx(rule.acceptance(), abs=ROUNDING)


def test_rules_of_few_drafts():
    draft, target = rows(20, 300)
    single = batch.acceptance.maximal_coupling(draft, target)
    hub = batch.acceptance.spechub(draft, target)
    for row in range(20):
        pair = draft[row], target[row]
        coupling, pairs = otspec.rules.MaximalCoupling(*pair), otspec.rules.SpecHub(*pair)
        assert single[row] == pytest.approx(coupling.acceptance(), abs=ROUNDING)
        assert hub[row] == pytest.approx(pairs.acceptance(), abs=ROUNDING)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_k_sequential_at_a_rho_that_is_safe_and_close(k):
    draft, target = rows(20, 300)
    found = batch.acceptance.k_sequential(draft, target, k)
    rho = np.errstate(all="ignore")(safe_rho)(
        library_of(draft), draft, target, np.full((20, 1), float(k))
    )
    for row in range(20):
        smallest = otspec.rules.KSequential(draft[row], target[row], k)
        assert rho[row] >= smallest.rho - 16 * np.finfo(float).eps
        rule = otspec.rules.KSequential(draft[row], target[row], k, rho=max(rho[row], smallest.rho))
        assert found[row] == pytest.approx(float(rule.acceptance()), abs=k * ROUNDING)
        assert float(smallest.acceptance()) - found[row] < 2e-3


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_pooled_selection_approaches_the_optimum_with_its_grades(k):
    draft, target = rows(20, 300)
    best = batch.optimal_acceptance(draft, target, k)
    few, many, most = (
        best - batch.acceptance.pooled_selection(draft, target, k, grades=grades)
        for grades in (6, 24, 192)
    )
    for loss in (few, many, most):
        assert (loss > -ROUNDING).all()
    assert few.mean() < 5e-3
    assert many.mean() <= few.mean() / 4 + ROUNDING
    assert most.max() < 1e-4


def lowest_cut(draft, target, k, distinct):
    """min over A of q(A) + 1 − P(all drafts in A), token by token and draft by draft."""
    cuts = [np.ones(len(draft))]
    for r in range(1, draft.shape[-1]):
        for tokens in itertools.combinations(range(draft.shape[-1]), r):
            inside = draft[:, tokens].sum(axis=-1) ** k
            if distinct:
                inside = 0
                for x in itertools.permutations(tokens, k):
                    before = np.cumsum(draft[:, x[:-1]], axis=-1)
                    inside = inside + draft[:, x].prod(axis=-1) / (1 - before).prod(axis=-1)
            cuts.append(target[:, tokens].sum(axis=-1) + 1 - inside)
    return np.min(cuts, axis=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", ["pooled_selection", "pooled_selection_without_replacement"])
def test_pools_without_tokens_do_not_raise_the_acceptance(name, k, dtype):
    # Of 16 pools few have a token, and knots next to each other differ by rounding only.
    rng = np.random.default_rng(k)
    draft, target = rng.random((2, 4_000, 4))
    target *= rng.random(target.shape) < 0.7
    target[:, 0] += 1e-3
    draft, target = (part / part.sum(axis=-1, keepdims=True) for part in (draft, target))
    draft, target = draft.astype(dtype), target.astype(dtype)
    found = getattr(batch.acceptance, name)(draft, target, k, grades=16)
    wide = draft.astype(float), target.astype(float)
    exact = [part / part.sum(axis=-1, keepdims=True) for part in wide]
    best = lowest_cut(*exact, k, name.endswith("replacement"))
    # Sums of 4 masses are off by 4 roundings each, and a knot is two of them over a step of the
    # grades, which is at least 1/10; the probability that all drafts are below grows k times as
    # fast, and rows sum to 1 up to 4 roundings.
    assert (found - best).max() < (80 * k + 8) * np.finfo(dtype).eps


@pytest.mark.parametrize("k", [2, 4, 8])
def test_losses_on_a_language_model_are_as_documented(k):
    pairs = [pair[1:] for pair in otspec.datasets.load_smollm2().pairs()]
    draft, target = (np.stack(part) for part in zip(*pairs, strict=True))
    best = batch.optimal_acceptance(draft, target, k)
    lost = best - batch.acceptance.pooled_selection(draft, target, k)
    assert lost.mean() < 5e-4
    at_rho = [float(otspec.rules.KSequential(*pair, k).acceptance()) for pair in pairs]
    excess = at_rho - batch.acceptance.k_sequential(draft, target, k)
    assert excess.mean() < 8e-5
    assert excess.max() < 5e-4


def test_distinct_drafts_average_to_the_rule_s_acceptance():
    draft, target = (part[3][1:8] / part[3][1:8].sum() for part in rows(4, 9))
    for k in (1, 2, 3):
        rule = otspec.rules.RecursiveRejectionWithoutReplacement(draft, target, k)
        tuples, masses = rule.law.tuples()
        pair = (np.tile(part, (len(tuples), 1)) for part in (draft, target))
        found = batch.acceptance.recursive_rejection_without_replacement(*pair, tuples)
        assert masses @ found == pytest.approx(float(rule.acceptance()), abs=ROUNDING)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.3},
        {"top_k": 7},
        {"top_k": 1},
        {"top_p": 0.6},
        {"top_p": 1.0},
        {"temperature": 1.5, "top_k": 40, "top_p": 0.9},
    ],
)
def test_warping_is_that_of_traces(options):
    logits = np.random.default_rng(0).normal(scale=2, size=(6, 200))
    logits[:, 3] = -np.inf
    logits[0] = np.round(logits[0])  # ties
    logits[1, 1:] = -np.inf
    found = batch.warp(logits, **options)
    single = batch.warp(logits.astype(np.float32), **options)
    assert single.dtype == np.float32
    for row in range(6):
        wanted = warp(logits[row], **options)
        np.testing.assert_allclose(found[row], wanted, atol=1e-15)
        np.testing.assert_allclose(single[row], wanted, atol=2e-6)


@pytest.mark.parametrize(
    "options", [{"temperature": -0.5}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}]
)
def test_unusable_options_are_named(options):
    (name,) = options
    with pytest.raises(ValueError, match=rf"{name} (is|must be)"):
        batch.warp(np.zeros((2, 3)), **options)
