"""An optimum proves itself from both sides, and nothing in it can be changed unnoticed.

Theory, 1 and 3.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import networkx
import numpy as np
import oracles
import pytest
from instances import (
    EPS,
    LAWS,
    extreme_pairs,
    floats,
    fractions,
    law_case,
    law_cases,
    pairs,
    weights,
)
from searching import of_all

import otspec
from otspec.optimum.cuts import minimum

# How many tokens and drafts: what enumeration of all token sets affords.
SIZES = {
    "IID": {"count": 120, "most_tokens": 6, "most_drafts": 4},
    "Independent": {"count": 120, "most_tokens": 5, "most_drafts": 3},
    "WithoutReplacement": {"count": 120, "most_tokens": 6, "most_drafts": 4},
    "Hub": {"count": 120, "most_tokens": 7, "most_drafts": 1},
    "TopPlusOne": {"count": 120, "most_tokens": 7, "most_drafts": 4},
    "TopK": {"count": 120, "most_tokens": 7, "most_drafts": 4},
    "Fixed": {"count": 120, "most_tokens": 7, "most_drafts": 4},
    "Joint": {"count": 120, "most_tokens": 4, "most_drafts": 3},
}
DRAFT, TARGET = fractions("1/2", "1/4", "1/4", 0), fractions("1/20", "1/20", "4/5", "1/10")


def missing(table, law):
    """The largest P(all drafts inside A) − b(A), over all token sets."""
    return 1 - min(oracles.cut_values(table, law))


def with_selection(best, law):
    """The optimum with another selection law in its certificate."""
    changed = dataclasses.replace(best)
    vars(changed)["selection"] = law
    return changed


@pytest.mark.parametrize("name", LAWS)
def test_the_selection_is_feasible_at_every_token_set_and_attains_the_optimum(name):
    for case, target in law_cases(name, seed=820, **SIZES[name]):
        best = otspec.optimal_acceptance(case.exact, target)
        law = best.selection
        assert law.shape == (len(target),)
        assert all(type(mass) is Fraction and mass >= 0 for mass in law)
        assert law.sum() == 1
        assert missing(case.table, law.tolist()) == 0
        assert sum(map(min, law, target)) == oracles.optimum(case.table, target)
        best.check()
        assert not law.flags.writeable


@pytest.mark.parametrize("name", LAWS)
def test_a_float_selection_is_that_within_rounding(name):
    for case, target in law_cases(name, seed=821, **SIZES[name]):
        best = otspec.optimal_acceptance(case.float, floats(target))
        law, error = best.selection, best.law.accuracy
        assert law.dtype == np.float64
        assert (law >= 0).all()
        exactly = list(map(Fraction, law.tolist()))
        assert abs(sum(exactly) - 1) <= error
        # The floats of the law are each off by a rounding as well.
        assert missing(case.table, exactly) <= 2 * error
        accepted = sum(map(min, exactly, target))
        assert abs(accepted - oracles.optimum(case.table, target)) <= 2 * error
        best.check()


@pytest.mark.parametrize("name", LAWS)
def test_a_shortfall_is_that_of_the_worst_token_set(name):
    rng = np.random.default_rng(822)
    feasible = short = 0
    for case, target in law_cases(name, seed=823, **SIZES[name]):
        optimal = otspec.optimal_acceptance(case.exact, target).selection
        anything = np.array(weights(rng, len(target), 12, 0.3), dtype=object)
        for law in (anything, (anything + 9 * optimal) / 10, (anything + 99 * optimal) / 100):
            found = minimum.shortfall(case.exact, law)
            assert found == missing(case.table, law.tolist())
            feasible, short = feasible + (found == 0), short + (found > 0)
    assert feasible > of_all(20)
    assert short > of_all(100)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["IID", "WithoutReplacement"])
def test_what_is_inside_is_convex_over_draft_mass_in_every_order_of_the_tokens(name, k):
    """Per draft mass a token adds less to the sets inside than the next one does."""
    compared = 0
    for draft, _ in pairs(824, 40, 5, fewest=2):
        case = law_case(name, draft, k)
        if case is None:
            continue
        inside = oracles.inside_every_set(case.table, len(draft))
        drafted = [y for y, mass in enumerate(draft) if mass > 0]
        for mask in range(len(inside)):
            for x in drafted:
                for y in drafted:
                    if x != y and not mask >> x & 1 and not mask >> y & 1:
                        one, both = mask | 1 << x, mask | 1 << x | 1 << y
                        first = (inside[one] - inside[mask]) / draft[x]
                        assert first <= (inside[both] - inside[one]) / draft[y]
                        compared += 1
    assert compared > 500


@pytest.mark.parametrize("arithmetic", [list, floats])
@pytest.mark.parametrize("name", LAWS)
def test_cut_and_acceptance_changed_together_are_refused(name, arithmetic):
    case = law_case(name, DRAFT, 2)
    best = otspec.optimal_acceptance(case.build(arithmetic), arithmetic(TARGET))
    values = oracles.cut_values(case.table, TARGET)
    worse = [mask for mask, value in enumerate(values) if value > min(values)]
    assert worse
    for mask in worse:
        cut = oracles.members(mask)
        bound = otspec.optimum.cut_bound(best.law, best.target, cut)
        lie = dataclasses.replace(best, acceptance=bound, cut=tuple(cut))
        with pytest.raises(ValueError, match=r"selection accepts .* one of the two was changed"):
            lie.check()


@pytest.mark.parametrize("arithmetic", [list, floats])
@pytest.mark.parametrize("name", LAWS)
def test_another_selection_is_refused(name, arithmetic):
    case = law_case(name, DRAFT, 2)
    best = otspec.optimal_acceptance(case.build(arithmetic), arithmetic(TARGET))
    best.check()
    law = best.selection
    unit = law[0] * 0 + 1
    heavier, lighter = law.copy(), law.copy()
    heavier[0] += unit / 10**9
    lighter[0] -= law[0] + unit / 10**9
    for changed in (heavier, lighter, law * 0, law / 2):
        with pytest.raises(ValueError, match="no distribution"):
            with_selection(best, changed).check()
    # The target would accept everything, but no selection has it; drafts alone accept too little.
    with pytest.raises(ValueError, match="no law of a selected draft"):
        with_selection(best, best.target).check()
    first = best.law.marginal(0)
    assert np.minimum(first, best.target).sum() < best.acceptance
    with pytest.raises(ValueError, match=r"selection accepts .* one of the two was changed"):
        with_selection(best, first).check()
    for unlike in (law[:-1], np.array(floats(DRAFT) if best.law.exact else DRAFT)):
        with pytest.raises(ValueError, match=r"target has 4 tokens|is exact but"):
            with_selection(best, unlike).check()


@pytest.mark.parametrize("name", LAWS)
def test_another_law_or_target_is_refused(name):
    best = otspec.optimal_acceptance(law_case(name, DRAFT, 2).exact, TARGET)
    other = law_case(name, fractions("1/7", "2/7", "3/7", "1/7"), 2, seed=1).exact
    for change in ({"law": other}, {"target": np.array(TARGET[::-1])}):
        changed = dataclasses.replace(best, **change)
        with pytest.raises(ValueError, match="was changed"):
            changed.check()


def test_two_independent_drafts_have_a_selection_as_long_as_their_table_is_small():
    rng = np.random.default_rng(825)
    for n in (100, 101):
        first, second, target = rng.dirichlet(np.full(n, 0.3), 3)
        best = otspec.optimal_acceptance(otspec.Independent([first, second]), target)
        assert (best.selection is None) == (n == 101)
        best.check()
        # One side is still proved.
        with pytest.raises(ValueError, match=r"the bound is .*, but the acceptance"):
            dataclasses.replace(best, acceptance=best.acceptance + 1e-9).check()


def test_a_flow_that_is_none_proves_nothing(monkeypatch):
    law = otspec.Joint([["1/2", "0"], ["0", "1/2"]])
    wanted = np.array(fractions("1/4", "3/4"))
    assert minimum.shortfall_by_max_flow(law, wanted) == Fraction(1, 4)

    honest = networkx.maximum_flow

    def twice(*network):
        value, flows = honest(*network)
        return 2 * value, {
            start: {end: 2 * carried for end, carried in ends.items()}
            for start, ends in flows.items()
        }

    monkeypatch.setattr(networkx, "maximum_flow", twice)
    assert minimum.shortfall_by_max_flow(law, wanted) == 1


@pytest.mark.parametrize("k", [1, 2, 16])
def test_both_sides_hold_at_a_real_vocabulary(k):
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    laws = [otspec.IID(draft, k), otspec.TopPlusOne(draft, k), otspec.TopK(draft, k)]
    if k <= 2:
        laws.append(otspec.WithoutReplacement(draft, k))
    if k == 2:
        laws.append(otspec.Hub(draft))
    for law in laws:
        best = otspec.optimal_acceptance(law, target)
        best.check()
        assert best.selection is not None
        lie = dataclasses.replace(best, acceptance=best.acceptance + 1e-8)
        assert best.law.accuracy < 1e-9
        with pytest.raises(ValueError, match="was changed"):
            lie.check()


@pytest.mark.parametrize("name", ["IID", "WithoutReplacement", "Hub", "TopPlusOne", "TopK"])
def test_both_sides_hold_for_extreme_drafts(name):
    for draft, target in extreme_pairs(826, 200, 8):
        for k in (1, 2, 3):
            if sum(mass > 0 for mass in draft) >= k and (name != "Hub" or k == 2):
                law = otspec.Hub(draft) if name == "Hub" else getattr(otspec, name)(draft, k)
                best = otspec.optimal_acceptance(law, target)
                best.check()
                assert abs(best.selection.sum() - 1) <= 4 * len(draft) * EPS + law.accuracy
