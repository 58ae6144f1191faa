"""Draft laws: which tuples, inside which sets, one draft's marginal, a sample."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import oracles
import pytest
import scipy.stats
from instances import (
    EPS,
    HEAVY_DRAFTS,
    LAWS,
    floats,
    fractions,
    law_case,
    law_cases,
    shares,
    weights,
)
from searching import enough

import otspec
from otspec.chance import law_of

QUADRATURE_ERROR = 1e-13
"""The documented absolute error of ``WithoutReplacement.inside`` in floats for k > 2."""

SUBNORMAL = 5e-324
"""The spacing of floats below the normal range."""

SUPPORT_LAWS = [otspec.WithoutReplacement, otspec.TopPlusOne, otspec.TopK]


def rounding(law):
    """Bound the relative error of a float mass.

    A mass is at most a k-fold product of sums of n rounded inputs or quotients of such: fewer
    than k (2n + 4) roundings of at most eps/2 each.
    """
    return law.k * (law.n + 2) * EPS


def absolute_error(law):
    """Bound the error of P(inside), which is at most 1."""
    by_quadrature = isinstance(law, otspec.WithoutReplacement) and law.k > 2
    return max(rounding(law), QUADRATURE_ERROR) if by_quadrature else rounding(law)


def table_of(law):
    tuples, masses = law.tuples()
    assert tuples.shape == (len(masses), law.k)
    return dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))


@pytest.mark.parametrize("name", LAWS)
def test_exact_tables_sets_and_marginals_equal_the_definition(name):
    rng = np.random.default_rng(1)
    for case, _ in law_cases(name, seed=2, count=60, most_tokens=5, most_drafts=3):
        law, n = case.exact, case.exact.n
        assert table_of(law) == case.table == law_of(law.draw)
        assert law.tuples()[1].sum() == 1
        for mask, expected in enumerate(oracles.inside_every_set(case.table, n)):
            found = law.inside(oracles.members(mask))
            assert type(found) is Fraction
            assert found == expected
        for _ in range(3):
            order = rng.permutation(n)
            expected = oracles.inside_prefixes(case.table, order)
            assert law.inside_prefixes(order).tolist() == expected
        for i in range(law.k):
            assert law.marginal(i).tolist() == oracles.marginal(case.table, i, n)


@pytest.mark.parametrize("name", LAWS)
def test_float_tables_sets_and_marginals_are_within_rounding_of_the_definition(name):
    rng = np.random.default_rng(3)
    for case, _ in law_cases(name, seed=4, count=60, most_tokens=5, most_drafts=3):
        law, n = case.float, case.float.n
        table, relative, absolute = table_of(law), rounding(law), absolute_error(law)
        assert table.keys() == case.table.keys()
        for x, mass in table.items():
            assert abs(mass - case.table[x]) <= relative * case.table[x]
        for mask, expected in enumerate(oracles.inside_every_set(case.table, n)):
            found = law.inside(oracles.members(mask))
            assert type(found) is float
            assert abs(found - expected) <= absolute
        order = rng.permutation(n)
        expected = np.array(oracles.inside_prefixes(case.table, order), dtype=float)
        assert np.abs(law.inside_prefixes(order) - expected).max() <= absolute + EPS
        for i in range(law.k):
            expected = np.array(oracles.marginal(case.table, i, n), dtype=float)
            assert np.abs(law.marginal(i) - expected).max() <= relative


@pytest.mark.parametrize(("k", "n"), [(3, 5), (3, 20), (4, 6), (5, 7), (6, 7)])
def test_without_replacement_quadrature_agrees_with_enumeration(k, n):
    rng = np.random.default_rng(n)
    draft, order = weights(rng, n, 50), rng.permutation(n)
    law = otspec.WithoutReplacement(floats(draft), k)
    expected = oracles.inside_prefixes(oracles.without_replacement_table(draft, k), order)
    for j, found in enumerate(law.inside_prefixes(order)):
        assert abs(found - expected[j]) <= QUADRATURE_ERROR
        assert abs(law.inside(order[:j]) - expected[j]) <= QUADRATURE_ERROR


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_rates_over_three_hundred_decades_lose_no_digits(k, seed):
    rng = np.random.default_rng(seed)
    exponents = np.sort(rng.choice([-300, -200, -100, -30, -16, -12, -8, -3, -1], k + 2))
    small = [Fraction(float(f"{rng.integers(1, 10)}e{exponent}")) for exponent in exponents[:-1]]
    draft = (*small, 1 - sum(small))
    table = oracles.without_replacement_table(draft, k)
    law = otspec.WithoutReplacement(floats(draft), k)
    found = table_of(law)
    for x, mass in table.items():
        allowed = rounding(law) * float(mass) + SUBNORMAL * k
        assert abs(Fraction(found.get(x, 0.0)) - mass) <= Fraction(allowed)
    order = rng.permutation(len(draft))
    for found, expected in zip(
        law.inside_prefixes(order), oracles.inside_prefixes(table, order), strict=True
    ):
        assert abs(found - expected) <= QUADRATURE_ERROR


@pytest.mark.parametrize("draft", HEAVY_DRAFTS)
@pytest.mark.parametrize(
    ("name", "k"),
    [(name, 2) for name in ("IID", "Hub", "TopPlusOne", "TopK", "WithoutReplacement")]
    + [("WithoutReplacement", 3)],
)
def test_a_token_of_nearly_all_the_mass_leaves_the_others_their_digits(name, k, draft):
    case = law_case(name, shares(draft), min(k, len(draft)))
    law, found = case.float, table_of(case.float)
    for x, mass in case.table.items():
        assert abs(found.get(x, 0) - mass) <= rounding(law) * mass + Fraction(SUBNORMAL)
    for mask, expected in enumerate(oracles.inside_every_set(case.table, law.n)):
        assert abs(law.inside(oracles.members(mask)) - expected) <= absolute_error(law)
    for i in range(law.k):
        expected = np.array(oracles.marginal(case.table, i, law.n), dtype=float)
        assert np.abs(law.marginal(i) - expected).max() <= rounding(law)


def test_without_replacement_prefixes_of_a_real_size_grow_from_zero_to_one():
    rng = np.random.default_rng(5)
    draft = rng.exponential(size=20_000) ** 4
    law = otspec.WithoutReplacement(draft, 8, normalize=True)
    prefixes = law.inside_prefixes(rng.permutation(law.n))
    assert prefixes[0] == 0
    assert prefixes[-1] == 1
    assert np.diff(prefixes).min() >= -QUADRATURE_ERROR


# One chance in a million of a false alarm, were the seed a new one; each seed is fixed.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", LAWS)
def test_samples_fit_the_law(name, k):
    draft = fractions(0, "1/10", "2/5", "1/5", "3/10")
    case = law_case(name, draft, k, seed=k)
    size = enough(20_000)
    for law in (case.exact, case.float):
        sample = law.sample(size, np.random.default_rng(6))
        assert sample.shape == (size, law.k)
        assert sample.dtype.kind == "i"
        counts = Counter(map(tuple, sample.tolist()))
        assert counts.keys() <= case.table.keys()
        # Rare tuples are lumped together: the statistic wants an expectation of at least 5.
        rare = [x for x, mass in case.table.items() if mass * size < 5]
        groups = [[x] for x in case.table if x not in rare] + ([rare] if rare else [])
        observed = [sum(counts[x] for x in group) for group in groups]
        expected = [float(size * sum(case.table[x] for x in group)) for group in groups]
        if len(groups) > 1:
            assert scipy.stats.chisquare(observed, expected).pvalue > FALSE_ALARM
        assert sum(observed) == size


class LargestUniforms(np.random.Generator):
    """A generator stuck at the largest number below 1."""

    def random(self, size=None):
        return np.full(size, np.nextafter(1, 0))


@pytest.mark.parametrize("last", [0.0, 5e-324, 1e-17])
def test_the_largest_uniform_draws_no_impossible_token(last):
    draft = [0.1] * 3 + [0.7 - last] + [last, 0.0]
    for law in (otspec.IID(draft, 2), otspec.Independent([draft, draft]), otspec.Joint(draft)):
        sample = law.sample(5, LargestUniforms(np.random.PCG64(0)))
        assert (np.array(draft)[sample] > 0).all()


def test_subnormal_rates_are_sampled_last():
    law = otspec.WithoutReplacement([5e-324, 0.0, 1.0], 2)
    assert law.sample(50, np.random.default_rng(7)).tolist() == [[2, 0]] * 50


@pytest.mark.parametrize("name", LAWS)
def test_one_token_is_drafted_every_time(name):
    k = 1 if name in ("WithoutReplacement", "TopPlusOne", "TopK") else 2
    law = law_case(name, fractions(1), k).exact
    assert table_of(law) == {(0,) * k: 1}
    assert law.inside([0]) == 1
    assert law.inside_prefixes(np.array([0])).tolist() == [0, 1]


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_a_certain_hub_is_both_drafts(arithmetic):
    law = otspec.Hub(arithmetic(fractions(0, 1, 0)))
    assert law.hub == 1
    assert table_of(law) == {(1, 1): 1}
    assert law.inside([1]) == 1
    assert law.inside([0, 2]) == 0


def test_the_first_of_equally_likely_tokens_is_the_hub_and_the_top():
    draft = ["1/5", "2/5", "2/5"]
    assert otspec.Hub(draft).hub == 1
    assert otspec.TopPlusOne(draft, 3).top.tolist() == [1, 2]
    assert otspec.TopPlusOne(draft, 2).top.tolist() == [1]
    assert otspec.TopK(draft, 2).fixed.tolist() == [1, 2]


@pytest.mark.parametrize("make", SUPPORT_LAWS)
@pytest.mark.parametrize("draft", [["1/2", "1/2", 0], [0.5, 0.5, 0.0]])
def test_more_distinct_drafts_than_likely_tokens_are_refused_with_the_support_size(make, draft):
    with pytest.raises(ValueError, match=r"draft has 2 tokens of positive probability.*lower k"):
        make(draft, 3)
    assert make(draft, 2).tuples()[1].sum() == 1


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("tokens", [[0, 3], [-1], [3, 3]])
def test_tokens_drafts_and_sizes_out_of_range_are_refused(name, tokens):
    law = law_case(name, fractions("1/2", "1/4", "1/4"), 2).exact
    with pytest.raises(ValueError, match="token ids run from 0 to 2"):
        law.inside(tokens)
    with pytest.raises(ValueError, match="drafts are numbered from 0 to 1"):
        law.marginal(2)
    with pytest.raises(ValueError, match="size must be at least 0, got -1"):
        law.sample(-1, np.random.default_rng(8))
    assert law.sample(0, np.random.default_rng(8)).shape == (0, 2)


@pytest.mark.parametrize("name", LAWS)
def test_order_repetition_and_emptiness_of_token_sets(name):
    case = law_case(name, fractions("1/2", "1/4", "1/4"), 2)
    assert case.exact.inside([2, 0, 2]) == case.exact.inside({0, 2})
    assert type(case.exact.inside([])) is Fraction
    assert type(case.float.inside([])) is float
    assert case.exact.inside([]) == case.float.inside(()) == 0


@pytest.mark.parametrize("name", ["IID", "WithoutReplacement"])
def test_tables_too_large_to_hold_are_refused_with_their_size(name):
    law = getattr(otspec, name)([1 / 1000] * 1000, 3)
    with pytest.raises(ValueError, match=r"1,000,000,000 draft tuples \(n = 1000, k = 3\)"):
        law.tuples()
    assert law.inside(range(1000)) == pytest.approx(1, rel=rounding(law))


@pytest.mark.parametrize("table", [np.full((2, 3), 1 / 6), [["1/2", "1/2"]], 1.0])
def test_a_joint_table_of_another_shape_is_refused(table):
    with pytest.raises(ValueError, match=r"table must .* has shape .*reshape it to \(n,\) \* k"):
        otspec.Joint(table)


def test_every_law_normalizes_on_request_only():
    scaled = [
        otspec.IID([3, 1], 2, normalize=True),
        otspec.Independent([[3, 1], [1, 1]], normalize=True),
        otspec.WithoutReplacement([3, 1], 2, normalize=True),
        otspec.Hub([3, 1], normalize=True),
        otspec.TopPlusOne([3, 1], 2, normalize=True),
        otspec.TopK([3, 1], 2, normalize=True),
        otspec.Joint([[3, 1], [1, 1]], normalize=True),
    ]
    assert [law.tuples()[1].sum() for law in scaled] == [1] * 7
    with pytest.raises(ValueError, match=r"drafts\[1\] sums to 2"):
        otspec.Independent([["1/2", "1/2"], [1, 1]])
    with pytest.raises(ValueError, match="table sums to 6"):
        otspec.Joint([[3, 1], [1, 1]])


@pytest.mark.parametrize(
    ("drafts", "message"),
    [
        ([], "drafts is empty"),
        ([[0.5, 0.5], [1.0]], r"drafts\[0\] has 2 tokens and drafts\[1\] has 1"),
        ([["1/2", "1/2"], [0.5, 0.5]], r"drafts\[0\] is exact but drafts\[1\] is float"),
    ],
)
def test_independent_drafts_that_do_not_match_are_refused(drafts, message):
    with pytest.raises(ValueError, match=message):
        otspec.Independent(drafts)
