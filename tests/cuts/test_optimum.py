"""The optimal acceptance is the least cut, for every draft law.

Theory, 1 and 2.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import (
    CERTAIN,
    EPS,
    HEAVY_DRAFTS,
    LAWS,
    floats,
    fractions,
    law_case,
    law_cases,
    pairs,
    shares,
    turn,
    weights,
)

import otspec
from otspec.optimum.cuts import minimum

PREFIX_LAWS = ["IID", "WithoutReplacement", "Hub", "TopPlusOne", "TopK"]

# How many instances of each law, over how many tokens and drafts: what enumeration affords.
SIZES = {
    "IID": {"count": 200, "most_tokens": 7, "most_drafts": 4},
    "Independent": {"count": 300, "most_tokens": 6, "most_drafts": 3},
    "WithoutReplacement": {"count": 200, "most_tokens": 6, "most_drafts": 4},
    "Hub": {"count": 200, "most_tokens": 8, "most_drafts": 1},
    "TopPlusOne": {"count": 200, "most_tokens": 8, "most_drafts": 4},
    "TopK": {"count": 200, "most_tokens": 8, "most_drafts": 4},
    "Fixed": {"count": 200, "most_tokens": 7, "most_drafts": 4},
    "Joint": {"count": 300, "most_tokens": 5, "most_drafts": 3},
}


def float_error(law):
    """Bound the error of a float optimum.

    It is a sum of n rounded inputs and one minus a k-fold product of such sums, all at most 1:
    fewer than (k + 1)(n + 2) roundings of eps/2. Quadrature adds its documented 1e-13.
    """
    quadrature = 1e-13 if isinstance(law, otspec.WithoutReplacement) and law.k > 2 else 0.0
    return (law.k + 1) * (law.n + 2) * EPS + quadrature


@pytest.mark.parametrize("name", LAWS)
def test_the_optimum_is_the_least_cut_over_all_token_sets(name):
    for case, target in law_cases(name, seed=10, **SIZES[name]):
        best = otspec.optimal_acceptance(case.exact, target)
        values = oracles.cut_values(case.table, target)
        assert type(best.acceptance) is Fraction
        assert best.acceptance == min(values)
        assert best.acceptance == values[sum(1 << token for token in best.cut)]
        assert best.cut == tuple(sorted(set(best.cut)))
        best.check()


@pytest.mark.parametrize(("name", "k"), [(name, 2) for name in LAWS] + [("IID", 4)])
def test_the_optimum_is_the_least_cut_over_ten_tokens(name, k):
    rng = np.random.default_rng(11)
    for seed in range(3):
        draft, target = weights(rng, 10, 12, 0.1), weights(rng, 10, 12, 0.1)
        case = law_case(name, draft, k, seed)
        best = otspec.optimal_acceptance(case.exact, target)
        assert best.acceptance == oracles.optimum(case.table, target)


@pytest.mark.parametrize("name", LAWS)
def test_floats_are_within_rounding_of_the_least_cut(name):
    for case, target in law_cases(name, seed=12, **SIZES[name]):
        law = case.float
        best = otspec.optimal_acceptance(law, floats(target))
        assert type(best.acceptance) is float
        assert abs(best.acceptance - oracles.optimum(case.table, target)) <= float_error(law)
        best.check()


@pytest.mark.parametrize("draft", HEAVY_DRAFTS)
@pytest.mark.parametrize("name", LAWS)
def test_drafts_that_leave_next_to_nothing_to_some_tokens(name, draft):
    n = len(draft)
    target = fractions(*[Fraction(1, n)] * n)
    case = law_case(name, shares(draft), 2)
    best = otspec.optimal_acceptance(case.float, floats(target))
    assert abs(best.acceptance - oracles.optimum(case.table, target)) <= float_error(case.float)
    best.check()


@pytest.mark.parametrize("name", ["IID", "WithoutReplacement"])
def test_a_prefix_by_ratio_is_a_minimum_cut(name):
    for draft, target in pairs(13, 160, 6):
        for k in range(1, 5):
            case = law_case(name, draft, k)
            if case is not None:
                order = oracles.by_ratio(draft, target)
                least = oracles.optimum(case.table, target)
                assert oracles.best_prefix(case.table, target, order) == least


@pytest.mark.parametrize("name", ["Hub", "TopPlusOne"])
def test_the_fixed_drafts_and_then_a_prefix_by_ratio_are_a_minimum_cut(name):
    for index, (draft, target) in enumerate(pairs(14, 160, 7)):
        k = 2 if name == "Hub" else 1 + turn(index, 4)
        case = law_case(name, draft, k)
        if case is not None:
            ranked = sorted(range(len(draft)), key=lambda token, draft=draft: -draft[token])
            fixed, ratios = ranked[: k - 1], oracles.by_ratio(draft, target)
            order = fixed + [token for token in ratios if token not in fixed]
            least = oracles.optimum(case.table, target)
            assert oracles.best_prefix(case.table, target, order) == least


def test_with_a_hub_a_prefix_by_ratio_alone_is_not_enough():
    draft, target = (
        fractions("2/5", "1/10", "1/4", "1/4"),
        fractions("3/4", "9/50", "7/200", "7/200"),
    )
    table = oracles.hub_table(draft)
    least, order = oracles.optimum(table, target), oracles.by_ratio(draft, target)
    assert oracles.best_prefix(table, target, order) > least
    assert otspec.optimal_acceptance(otspec.Hub(draft), target).acceptance == least


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    "pair",
    [
        (fractions(1), fractions(1)),
        (fractions(1, 0), fractions(0, 1)),
        (fractions("1/2", "1/2", 0), fractions("1/2", "1/2", 0)),
        (fractions(0, "1/2", "1/2"), fractions(1, 0, 0)),
    ],
)
def test_results_keep_their_type_at_the_ends_of_the_scale(name, pair):
    draft, target = pair
    k = min(2, sum(mass > 0 for mass in draft))
    case = law_case(name, draft, k)
    exact = otspec.optimal_acceptance(case.exact, target)
    assert type(exact.acceptance) is Fraction
    assert exact.acceptance == oracles.optimum(case.table, target)
    inexact = otspec.optimal_acceptance(case.float, floats(target))
    assert type(inexact.acceptance) is float
    assert abs(inexact.acceptance - exact.acceptance) <= float_error(case.float)


@pytest.mark.parametrize("arithmetic", [list, floats])
@pytest.mark.parametrize("name", LAWS)
def test_a_certificate_that_was_tampered_with_is_refused(name, arithmetic):
    case = law_case(name, fractions("1/2", "3/10", "1/5"), 2)
    target = arithmetic(fractions("1/10", "3/5", "3/10"))
    best = otspec.optimal_acceptance(case.build(arithmetic), target)
    best.check()
    shift = Fraction(1, 10**9)
    for change in (shift, -shift):
        acceptance = best.acceptance + type(best.acceptance)(change)
        with pytest.raises(ValueError, match="one of the two was changed"):
            dataclasses.replace(best, acceptance=acceptance).check()
    values = oracles.cut_values(case.table, fractions("1/10", "3/5", "3/10"))
    worse = [mask for mask, value in enumerate(values) if value > min(values)]
    assert worse
    for mask in worse:
        with pytest.raises(ValueError, match="one of the two was changed"):
            dataclasses.replace(best, cut=tuple(oracles.members(mask))).check()


def test_targets_that_do_not_fit_the_law_are_refused():
    law = otspec.IID(["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match="law has 2 tokens and target has 1"):
        otspec.optimal_acceptance(law, [1])
    with pytest.raises(ValueError, match="law is exact but target is float"):
        otspec.optimal_acceptance(law, [0.5, 0.5])
    with pytest.raises(ValueError, match="target sums to 2"):
        otspec.optimal_acceptance(law, [1, 1])
    assert otspec.optimal_acceptance(law, [1, 1], normalize=True).acceptance == 1


def test_all_ks_at_once_equal_one_at_a_time():
    ks = [3, 1, 4, 1, 2, 9]
    for draft, target in pairs(15, 200, 7):
        together = otspec.optimal_acceptances(draft, target, ks)
        alone = [otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance for k in ks]
        assert together.shape == (6,)
        assert together.tolist() == alone
        assert all(type(value) is Fraction for value in together)
        inexact = otspec.optimal_acceptances(floats(draft), floats(target), iter(ks))
        assert inexact.dtype == np.float64
        errors = np.abs(inexact - together.astype(float))
        assert all(
            error <= float_error(otspec.IID(draft, k)) + EPS
            for error, k in zip(errors, ks, strict=True)
        )


def test_more_drafts_never_lower_the_optimum_and_tend_to_the_target_mass_on_the_support():
    for draft, target in pairs(16, 40, 7):
        ks = [*range(1, 9), 4000]
        values = otspec.optimal_acceptances(draft, target, ks).tolist()
        limit = sum(q for p, q in zip(draft, target, strict=True) if p > 0)
        assert values == sorted(values)
        assert values[-1] <= limit
        # A set A that misses a drafted token has p(A) ≤ 1 − 1/84 (7 weights of 1..12), and
        # (1 − 1/84)^4000 < 1e-20.
        assert limit - values[-1] < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("ks", "message"),
    [([], "ks is empty"), ([1, 0], r"ks\[1\] must be at least 1"), ([2.0], r"ks\[0\] must be an")],
)
def test_unusable_numbers_of_drafts_are_refused(ks, message):
    with pytest.raises(ValueError, match=message):
        otspec.optimal_acceptances([0.5, 0.5], [0.5, 0.5], ks)


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("Joint", *CERTAIN)])
def test_a_target_equal_to_the_draft_is_always_accepted(name):
    for draft, _ in pairs(17, 60, 6):
        if (case := law_case(name, draft, 2)) is not None:
            assert otspec.optimal_acceptance(case.exact, draft).acceptance == 1


@pytest.mark.parametrize("name", PREFIX_LAWS)
def test_disjoint_distributions_are_never_accepted(name):
    draft, target = fractions("2/3", "1/3", 0, 0), fractions(0, 0, "1/4", "3/4")
    case = law_case(name, draft, 2)
    assert otspec.optimal_acceptance(case.exact, target).acceptance == 0
    assert otspec.optimal_acceptance(case.float, floats(target)).acceptance == 0


def test_without_replacement_never_accepts_less_than_independent_drafts():
    for index, (draft, target) in enumerate(pairs(18, 200, 7)):
        k = 1 + turn(index, 4)
        if (case := law_case("WithoutReplacement", draft, k)) is not None:
            without = otspec.optimal_acceptance(case.exact, target).acceptance
            assert without >= otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance


@pytest.mark.parametrize("name", LAWS)
def test_no_single_draft_beats_the_optimum(name):
    for case, target in law_cases(name, seed=19, count=60, most_tokens=5, most_drafts=3):
        best = otspec.optimal_acceptance(case.exact, target).acceptance
        for i in range(case.exact.k):
            marginal = oracles.marginal(case.table, i, len(target))
            assert best >= sum(map(min, marginal, target))


@pytest.mark.parametrize(("name", "k"), [("Joint", 2), ("Joint", 3), ("Independent", 3)])
@pytest.mark.parametrize("arithmetic", [list, floats])
def test_max_flow_finds_a_minimum_cut(name, k, arithmetic):
    for index, (draft, target) in enumerate(pairs(20, 48, 4)):
        case = law_case(name, draft, k, seed=index)
        law = case.build(arithmetic)
        cut = minimum.by_max_flow(law, np.array(arithmetic(target)))
        values = oracles.cut_values(case.table, target)
        excess = values[sum(1 << int(token) for token in cut)] - min(values)
        assert excess == 0 if law.exact else excess <= float_error(law)


def test_max_flow_of_too_many_draft_sets_is_refused_with_their_number():
    n = 400
    law = otspec.IID([1 / n] * n, 2)
    with pytest.raises(ValueError, match=r"80,200 distinct draft sets.*at most 50,000"):
        minimum.by_max_flow(law, np.full(n, 1 / n))


@pytest.mark.parametrize("sign", [1, -1])
def test_an_exact_certificate_that_is_off_by_less_than_any_float_is_refused(sign):
    best = otspec.optimal_acceptance(otspec.IID(["1/2", "1/2"], 2), ["1/4", "3/4"])
    assert best.acceptance == 1
    off = dataclasses.replace(best, acceptance=1 + sign * Fraction(1, 10**400))
    with pytest.raises(ValueError, match="one of the two was changed"):
        off.check()
