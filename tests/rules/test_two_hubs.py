"""SpecHub with two hubs: its drafts, and that no rule for them accepts more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import extreme_pairs, fractions, pairs, shares
from searching import of_all

import otspec
from otspec.blocks import DraftSelection
from otspec.chance import law_of
from otspec.models import memoryless
from otspec.rules import SpecHub, SpecTwoHubs


def two_tokens(seed, count, **options):
    for draft, target in pairs(seed, count, **options):
        if sum(mass > 0 for mass in draft) > 1:
            yield draft, target


def test_the_drafts_are_those_of_the_definition():
    for draft, _ in two_tokens(1_910, 200, most_tokens=6):
        law = otspec.TwoHubs(draft)
        tuples, masses = law.tuples()
        by_tuple = dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))
        assert law_of(law.draw) == by_tuple
        table = {tuple(x): mass for x, mass in zip(tuples.tolist(), masses, strict=True)}
        assert table == oracles.two_hubs_table(draft)
        assert law.marginal(0).tolist() == list(draft)
        for tokens in ([0], [0, 1], range(len(draft))):
            inside = sum(mass for x, mass in table.items() if set(x) <= set(tokens))
            assert law.inside(tokens) == inside


def test_the_rule_is_lossless_and_optimal():
    accepted = set()
    for draft, target in two_tokens(1_911, 800, most_tokens=5):
        rule = SpecTwoHubs(draft, target)
        table = oracles.two_hubs_table(draft)
        kernels = {x: rule.kernel(x).tolist() for x in table}
        assert oracles.output(table, kernels.__getitem__, len(draft)) == list(target)
        assert oracles.acceptance(table, kernels.__getitem__) == rule.acceptance()
        assert rule.acceptance() == oracles.optimum(table, list(target))
        assert rule.accepted().by_position.sum() == rule.acceptance()  # no residual hits
        accepted.add(rule.acceptance())
    assert len(accepted) > of_all(100)


def test_floats_of_any_size_accept_the_optimum():
    for draft, target in extreme_pairs(1_912, 100, 6):
        if np.count_nonzero(draft) < 2:
            continue
        rule = SpecTwoHubs(draft, target)
        wanted = oracles.optimum(oracles.two_hubs_table(shares(draft)), shares(target))
        assert abs(Fraction(rule.acceptance()) - wanted) <= 4 * rule.law.accuracy
        assert otspec.audit(rule).lossless


def test_real_drafts_lose_less_than_with_one_hub():
    gains = []
    for _, draft, target in otspec.datasets.load_smollm2().pairs():
        best = otspec.optimal_acceptance(otspec.WithoutReplacement(draft, 2), target).acceptance
        two, one = SpecTwoHubs(draft, target).acceptance(), SpecHub(draft, target).acceptance()
        gains.append((one, two, best))
    one, two, best = np.mean(gains, axis=0)
    assert one < two < best
    assert [round(mean, 4) for mean in (one, two, best)] == [0.6168, 0.6492, 0.6596]


def test_trees_select_with_it():
    models = memoryless(["1/2", "3/10", "1/5"]), memoryless(["1/10", "3/5", "3/10"])
    report = otspec.audit_blocks(DraftSelection(*models, "2x2", SpecTwoHubs), optimum=False)
    assert report.lossless
    assert report.expected == 2


def test_drafts_without_a_hub_and_other_ks():
    rule = SpecTwoHubs(fractions("2/5", "3/10", "1/5", "1/10"), fractions(0, 0, "1/2", "1/2"))
    assert rule.joint_kernel([2, 3])[:2].sum() == 0
    assert rule.joint_kernel([0, 0])[1].sum() == 0
    with pytest.raises(ValueError, match="come in pairs"):
        otspec.TwoHubs(["1/2", "1/2"], 3)
    with pytest.raises(ValueError, match="too few for 2 distinct drafts"):
        SpecTwoHubs(["1", "0"], ["1/2", "1/2"])
