"""Which draft is the first that is the output: formulas against every tuple and kernel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import floats, pairs

from otspec.drafts import IID
from otspec.rules import (
    Bins,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    NotExactError,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionIndependent,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)
from otspec.rules.pooled import selection


def inflated(draft, target, k):
    """K-Seq with a ρ above ρ*, whose residual may hit a draft."""
    return KSequential(draft, target, k, rho=Fraction(k) if type(draft) is tuple else float(k))


def binned(draft, target, k):
    return PooledSelection(draft, target, k, Bins(2))


def independent(draft, target, k):
    return RecursiveRejectionIndependent(IID(draft, k), target)


EVERY_K = {
    "recursive": RecursiveRejection,
    "k-sequential": KSequential,
    "inflated": inflated,
    "naive": NaiveSampling,
    "pooled": PooledSelection,
    "binned": binned,
    "independent": independent,
    "recursive-distinct": RecursiveRejectionWithoutReplacement,
    "pooled-distinct": PooledSelectionWithoutReplacement,
    "target-only": TargetOnly,
}
CASES = [(name, rule, k) for name, rule in EVERY_K.items() for k in (1, 2, 3)]
CASES += [("spechub", SpecHub, 2), ("coupling", MaximalCoupling, 1)]


def made_of_distinct(rule):
    return getattr(rule, "law_class", IID) is not IID


def enumerated(rule):
    """The probability that y is the output and draft i the first that it equals."""
    law = [[Fraction(0)] * len(rule.target) for _ in range(rule.k)]
    for x, mass in zip(*rule.law.tuples(), strict=True):
        for y, chance in enumerate(rule.kernel(x)):
            if y in x:
                law[x.tolist().index(y)][y] += mass * chance
    return law


@pytest.mark.parametrize(("name", "rule", "k"), CASES, ids=[f"{name}-{k}" for name, _, k in CASES])
def test_formulas_are_every_tuple_and_kernel(name, rule, k):
    count = 6 if k == 3 else 16
    for draft, target in pairs(3_100 + k, count, 3, fewest=3):
        if made_of_distinct(rule) and sum(mass > 0 for mass in draft) < k:
            continue
        made = rule(draft, target, k) if name != "coupling" else rule(draft, target)
        found = made.accepted().by_position_and_token
        assert found.tolist() == enumerated(made)
        assert found.sum(axis=0).tolist() == made.accepted().by_token.tolist()
        rounded = rule(floats(draft), floats(target), k).accepted().by_position_and_token
        assert rounded.dtype == np.float64
        assert rounded == pytest.approx(found.astype(float), abs=1e-9)


@pytest.mark.parametrize("rule", [RecursiveRejection, KSequential, PooledSelection, NaiveSampling])
def test_many_drafts_at_full_vocabulary_add_up(rule):
    draft, target = np.random.default_rng(3_110).dirichlet(np.ones(300), 2)
    made = rule(draft, target, 12)
    placed = made.accepted().by_position_and_token
    assert (placed >= -1e-15).all()
    assert placed.sum(axis=0) == pytest.approx(made.accepted().by_token, abs=1e-12)


def test_a_certain_hub_is_the_first_draft():
    rule = SpecHub(["1", "0"], ["1/3", "2/3"])
    assert rule.accepted().by_position_and_token.tolist() == [[Fraction(1, 3), 0], [0, 0]]


def test_more_than_can_be_enumerated_is_refused():
    pair = np.random.default_rng(3_111).dirichlet(np.ones(40), 2)
    with pytest.raises(NotExactError, match="2,560,000 tuples of k = 4 drafts are too many to say"):
        _ = PooledSelection(*pair, 4, Bins(4)).accepted().by_position_and_token


@pytest.mark.parametrize("rule_class", [RecursiveRejectionWithoutReplacement, KSequential])
def test_estimates_are_near(rule_class):
    rng = np.random.default_rng(7)
    draft, target = rng.dirichlet(np.ones(6), 2)
    rule = rule_class(draft, target, 3)
    found, size = rule.estimate(20_000).by_position_and_token.value, 20_000
    assert np.allclose(
        found, rule.accepted().by_position_and_token, rtol=0, atol=6 * 0.5 / np.sqrt(size)
    )
    assert np.allclose(found.sum(axis=0), rule.estimate(20_000).by_token.value, rtol=0, atol=1e-12)


def test_bounds_of_light_tokens_hold_whichever_drafts_they_are():
    """Token 0 has the mass ε = 2^-13: of three drafts it is the first of one, two or three."""
    draft, target = [2**-13, 0.5, 0.5 - 2**-13], [2**-12, 0.25, 0.75 - 2**-12]
    rule = PooledSelection(draft, target, 3)
    exact = PooledSelection(list(map(Fraction, draft)), list(map(Fraction, target)), 3)
    assert float(exact.acceptance()) == pytest.approx(rule.acceptance())
    found, wanted = rule.estimate().by_position_and_token, exact.accepted().by_position_and_token
    accepted = rule.accepted_selection()[0]
    # At most 3 ε² is it drafted twice; then it is accepted at any of the drafts.
    twice = 3 * 2**-26
    assert found.low[:, 0] == pytest.approx([(accepted - twice) / 3] * 3, rel=1e-12)
    assert found.high[:, 0] == pytest.approx([accepted / 3 + twice * 2 / 3] * 3, rel=1e-12)
    assert found.value[:, 0] == pytest.approx([accepted / 3] * 3, rel=1e-12)
    rounding = 1e-15
    assert (found.low - rounding <= wanted.astype(float)).all()
    assert (wanted.astype(float) <= found.high + rounding).all()


def test_light_tokens_are_as_good_as_never_drafted_twice(monkeypatch):
    rng = np.random.default_rng(8)
    draft, target = rng.dirichlet(np.full(2_000, 0.05), 2)
    for k in (1, 2, 5):
        rule = PooledSelection(draft, target, k)
        wanted = rule.accepted().by_position_and_token
        found = rule.estimate().by_position_and_token.value
        assert np.allclose(found.sum(axis=0), wanted.sum(axis=0), rtol=0, atol=1e-12)
        assert np.allclose(found, wanted, rtol=1e-3, atol=1e-12)
        monkeypatch.setattr(selection, "MOST_COUNTED", 1_999)
        with pytest.raises(NotExactError, match="counts the likeliest"):
            _ = rule.accepted().by_position_and_token
        monkeypatch.undo()


def test_which_distinct_draft_is_selected_is_simulated_and_how_often_is_exact():
    rng = np.random.default_rng(9)
    for alpha in (0.3, 3.0):
        draft, target = rng.dirichlet(np.full(20, alpha), 2)
        rule = PooledSelectionWithoutReplacement(draft, target, 3)
        wanted, found = (
            rule.accepted().by_position_and_token,
            rule.estimate(4_000).by_position_and_token.value,
        )
        assert found.sum(axis=0) == pytest.approx(rule.accepted().by_token, abs=1e-12)
        # Of a share of the tuples, and what is added to it for each token.
        assert np.allclose(found.sum(axis=1), wanted.sum(axis=1), rtol=0, atol=0.04)
        assert np.allclose(found, wanted, rtol=0, atol=0.04)


@pytest.mark.parametrize("name", [name for name, rule in EVERY_K.items() if isinstance(rule, type)])
def test_a_rule_is_nested_if_its_first_drafts_are_accepted_as_without_the_others(name):
    """As the first of three drafts, or of two, a token is accepted as if they were all."""
    rule, alike = EVERY_K[name], []
    for draft, target in pairs(1_204, 12, 3, fewest=3):
        if sum(mass > 0 for mass in draft) < 3:
            continue
        three, two, one = (
            rule(draft, target, k).accepted().by_position_and_token.tolist() for k in (3, 2, 1)
        )
        alike.append(three[:2] == two and two[:1] == one)
    assert len(alike) >= 4
    assert rule.nested == all(alike)
