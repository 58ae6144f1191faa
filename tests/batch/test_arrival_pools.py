"""Graded pools of distinct drafts: the batch rule against the exact one (Beyond, prop. 6 and 7)."""

from fractions import Fraction

import numpy as np
import pytest
from arrival_laws import (
    all_arrivals,
    check_heavy,
    claimed,
    pools_of,
    repeated,
    rows_with_ties,
    rung_drafts,
    shares,
    token_law,
)
from barrier_lives import lifetimes_of
from batch_laws import law_of
from hypothesis import given, settings
from hypothesis import strategies as st

import otspec
from otspec import batch
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.pooled.clock_pools import HEAVY, arrival_pools, heavy_tokens
from otspec.rules import Graded, PooledSelectionWithoutReplacement

few = st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any)
NEAR = {np.float32: 3e-6, np.float64: 1e-13}
EVERY_DTYPE = pytest.mark.parametrize("dtype", NEAR, ids=lambda dtype: dtype.__name__)
CASES = {
    "dense": ([8, 6, 4, 2], [2, 5, 6, 7], 3, 32),
    "two light": ([8, 6, 4, 2], [2, 5, 6, 7], 3, 2),
    "all light": ([8, 6, 4, 2], [2, 5, 6, 7], 2, 0),
    "zeros": ([4, 2, 1, 0], [0, 1, 2, 3], 2, 1),
    "ties": ([1, 1, 1, 1], [5, 2, 2, 1], 2, 2),
    "equal": ([6, 3, 1], [6, 3, 1], 2, 1),
    "every token": ([3, 2, 1], [1, 2, 3], 3, 32),
    "every token, light": ([3, 2, 1], [1, 2, 3], 3, 1),
    "one draft": ([3, 2, 1], [1, 2, 3], 1, 1),
    "disjoint": ([3, 2, 0, 0], [0, 0, 1, 3], 2, 32),
    "extreme": ([9_000, 999, 1], [2_000, 3_000, 5_000], 2, 32),
}


def distribution(counts):
    return [Fraction(count, sum(counts)) for count in counts]


@EVERY_DTYPE
@settings(max_examples=settings().max_examples // 8)
@given(few, few, st.integers(1, 3), st.integers(2, 8), st.integers(0, 5))
@np.errstate(all="ignore")
def test_the_law_is_that_of_the_exact_rule(dtype, draft, target, k, m, number):
    k = min(k, sum(count > 0 for count in draft))
    pair = distribution(draft), distribution(target)
    rule = PooledSelectionWithoutReplacement(*pair, k, Graded(m, number))
    p, q = (np.array(part, dtype=dtype) for part in pair)
    library = library_of(p)
    pools = arrival_pools(library, p, q, np.full(1, float(k)), k, m, number).law
    wide = p.astype(float) * library.factor
    law = p.astype(float) * pools.over(pools.filled(wide, q.astype(float) * library.factor))
    # float32 rows are other rows, and where ratios tie the lowest cut may be another.
    near = NEAR[dtype] * (1 if dtype == np.float64 else 10)
    accepted, wanted = (np.minimum(b, pair[1]).sum() for b in (law, rule.law_of_selection))
    assert abs(float(accepted) - float(wanted)) < near
    if dtype == np.float64:
        assert np.abs(law - rule.law_of_selection.astype(float)).max() < near


@EVERY_DTYPE
@pytest.mark.parametrize("case", CASES)
def test_the_selection_has_the_law_that_is_claimed(case, dtype):
    draft, target, k, number = CASES[case]
    rule = PooledSelectionWithoutReplacement(
        distribution(draft), distribution(target), k, Graded(3, number)
    )
    row, other = (np.array(part, dtype=dtype) for part in (rule.draft, rule.target))
    tuples, masses = rule.law.tuples()
    apart, law = 0.0, np.zeros(len(draft))
    pools = pools_of(row, other, k, 3, number)
    lifetimes = lifetimes_of(pools.law)
    for x, mass in zip(tuples.tolist(), masses, strict=True):
        drafts = rung_drafts(row, other, x, pools)
        found = shares(drafts, lifetimes)
        assert found.sum() == pytest.approx(1, abs=1e-13)
        apart += float(mass) * np.abs(found - rule.shares_of(x).astype(float)).sum()
        law[x] += float(mass) * found
    b, _ = claimed(drafts, other, x)
    assert np.abs(law[x] - b / drafts.library.factor).sum() < NEAR[dtype]
    assert apart / 2 < NEAR[dtype]


@pytest.mark.parametrize("case", ["dense", "two light"])
@np.errstate(all="ignore")
def test_arrivals_are_drawn_as_likely_as_they_are(case):
    draft, target, _, number = CASES[case]
    row, other = (np.array(distribution(part), dtype=float) for part in (draft, target))
    drafts = rung_drafts(row, other, [1, 3], pools_of(row, other, 2, 2, number))
    arrivals, masses = all_arrivals(drafts)
    sizes = 2, 2, 4, 4
    codes = np.zeros(len(masses), dtype=int)

    def code(arrivals):
        total = 0
        for stage in range(2):
            parts = arrivals.before, arrivals.token, arrivals.pool, arrivals.again + 1
            for part, size in zip(parts, sizes, strict=True):
                total = total * size + part[..., stage]
        return total

    def outcome(uniforms):
        return code(repeated(drafts, len(uniforms)).arrivals(uniforms)[0])

    codes = code(arrivals)
    size = np.prod(sizes) ** 2
    wanted = np.bincount(codes, masses, size)
    np.testing.assert_allclose(law_of(outcome, 2, size), wanted, atol=1e-12)


@EVERY_DTYPE
@pytest.mark.parametrize("number", [0, 2, 32])
def test_random_rows_are_lossless(dtype, number):
    rng = np.random.default_rng(number)
    for k in (1, 2, 2, 3):
        p, q = rng.dirichlet(np.full(4, 0.5), 2).astype(dtype)
        wanted = q.astype(float) / q.astype(float).sum()
        assert np.abs(token_law(p, q, k, number) - wanted).sum() / 2 < NEAR[dtype] / 3


@pytest.mark.parametrize(
    ("draft", "target", "k"),
    [
        (
            [0.12434700601687251, 0.007769020656639399, 0.054655090603742164, 0.4603555503153641,
             0.3528733324073819],
            [0.44426244105928825, 0, 0.4077563430314551, 0.13259802901058898,
             0.015383186898667727],
            2,
        ),
        (
            [0.348526985083634, 0.25035784797178157, 0.08233533546405415, 0.29021095644462297,
             0.02856887503590738],
            [0.03786487943915155, 0, 0.459791882988785, 0.08200935056181667,
             0.42033388701024677],
            3,
        ),
    ],
    ids=["two", "three"],
)  # fmt: skip
def test_rows_with_empty_pools_are_lossless(draft, target, k):
    # A knot below an empty pool and the one above it differ by rounding only.
    draft, target = np.array(draft), np.array(target)
    law = token_law(draft, target, k, grades=8)
    assert np.abs(law - target).sum() / 2 < NEAR[np.float64] / 3


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_acceptance_is_that_of_the_exact_rule(k):
    rng = np.random.default_rng(k)
    rows = rng.dirichlet(np.full(500, 0.2), size=(2, 3))
    found = batch.acceptance.pooled_selection_without_replacement(*rows, k)
    for draft, target, accepted in zip(*rows, found, strict=True):
        rule = PooledSelectionWithoutReplacement(draft, target, k, Graded())
        assert abs(np.minimum(rule.law_of_selection, target).sum() - accepted) < 1e-12
        best = otspec.optimal_acceptance(rule.law, target).acceptance
        assert best - rule.loss_bound() - 1e-12 <= accepted <= best + 1e-12


@EVERY_DTYPE
@pytest.mark.parametrize("n", [1, 20, 32, 33, 700, 5_000])
def test_heavy_tokens_are_those_of_a_sort(n, dtype):
    draft = rows_with_ties(n, dtype)
    heavy = heavy_tokens(library_of(draft), draft, 2 * draft, HEAVY)
    for row in zip(draft, heavy.drafted, heavy.wanted, heavy.light, strict=True):
        check_heavy(*row)
