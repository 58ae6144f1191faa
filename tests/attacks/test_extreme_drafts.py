"""Draft masses down to the smallest subnormal, against the fractions that the floats are."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import oracles
import pytest
from command_line import run
from instances import EPS, HEAVY_DRAFTS, extreme_pairs, shares

import otspec

NAMES = ["IID", "Independent", "WithoutReplacement", "Hub", "TopPlusOne", "TopK", "Joint"]
DRAFT, TARGET = [1, 1e-310, 3e-310, 6e-310], [0.1, 0.6, 0.2, 0.1]


def cases(name, draft, other):
    """The law and its exact table for every k; the second draft of ``Independent`` is other."""
    mine, theirs = shares(draft), shares(other)
    if name == "Hub":
        yield otspec.Hub(draft), oracles.hub_table(mine)
    elif name == "Independent":
        table = oracles.independent_table([mine, theirs])
        yield otspec.Independent([draft, other]), table
        yield otspec.Joint(np.multiply.outer(draft, other)), table  # its masses may underflow
    elif name == "Joint":
        table = {(y, y): mass for y, mass in enumerate(mine) if mass}
        yield otspec.Joint(np.diag(draft)), table
    for k in (1, 2, 3):
        if name == "IID":
            yield otspec.IID(draft, k), oracles.iid_table(mine, k)
        elif sum(mass > 0 for mass in draft) >= k:
            if name == "TopPlusOne":
                yield otspec.TopPlusOne(draft, k), oracles.top_plus_one_table(mine, k)
            elif name == "TopK":
                yield otspec.TopK(draft, k), oracles.fixed_table(oracles.likeliest(mine, k))
            elif name == "WithoutReplacement":
                table = oracles.without_replacement_table(mine, k)
                yield otspec.WithoutReplacement(draft, k), table


@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_that_of_the_fractions(name):
    pairs = [(DRAFT, TARGET), *((draft, [1 / len(draft)] * len(draft)) for draft in HEAVY_DRAFTS)]
    for draft, target in [*pairs, *extreme_pairs(810, 150, 5)]:
        for law, table in cases(name, draft, target):
            best = otspec.optimal_acceptance(law, target)
            wanted = oracles.optimum(table, shares(target))
            # The floats sum to 1 within rounding, and are taken as they are.
            assert abs(Fraction(best.acceptance) - wanted) <= law.accuracy
            best.check()


def test_the_command_line_prints_that_optimum(capsys):
    wanted = {"iid": 0.1, "without-replacement": 0.5, "hub": 0.5, "top-plus-one": 0.5}
    wanted["top"] = 0.2
    for name, acceptance in wanted.items():
        args = ["1,1e-310,3e-310,6e-310", ".1,.6,.2,.1", "-k", "2", "--drafts", name, "--json"]
        found = json.loads(run(capsys, "accept", *args))["results"][0]
        assert found["acceptance"] == pytest.approx(acceptance, abs=20 * EPS)


@pytest.mark.parametrize("name", ["WithoutReplacement", "Hub", "TopPlusOne", "IID"])
def test_masses_after_a_heavy_token_keep_their_digits(name):
    for draft, other in extreme_pairs(811, 150, 5):
        for law, table in cases(name, draft, other):
            tuples, masses = law.tuples()
            found = dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True))
            assert set(found) <= set(table)
            for x, mass in table.items():
                # Sums of n masses and their quotients, k of each; the total is 1 within as much.
                error = 3 * (law.k + 1) * (law.n + 2) * EPS * mass + 3 * Fraction(5e-324)
                assert abs(Fraction(found.get(x, 0.0)) - mass) <= error


@pytest.mark.parametrize("name", ["WithoutReplacement", "Hub", "TopPlusOne", "IID"])
def test_what_is_inside_a_set_is_that_of_the_fractions(name):
    for draft, other in extreme_pairs(812, 100, 5):
        for law, table in cases(name, draft, other):
            for mask, inside in enumerate(oracles.inside_every_set(table, law.n)):
                found = law.inside(oracles.members(mask))
                assert abs(Fraction(found) - inside) <= law.accuracy


def test_pooled_selection_of_two_distinct_drafts_is_optimal():
    for draft, target in [(DRAFT, TARGET), *extreme_pairs(813, 250, 6)]:
        if sum(mass > 0 for mass in draft) < 2:
            continue
        rule = otspec.rules.PooledSelectionWithoutReplacement(draft, target)
        table = oracles.without_replacement_table(shares(draft), 2)
        wanted = oracles.optimum(table, shares(target))
        # The law's n masses are differences of what is inside the prefixes.
        error = 2 * len(draft) * rule.law.accuracy
        assert abs(Fraction(float(rule.acceptance())) - wanted) <= error
        accepted = np.minimum(rule.law_of_selection, target).sum()
        assert abs(Fraction(float(accepted)) - wanted) <= error
        report = otspec.audit(rule)
        assert report.lossless
        assert abs(Fraction(float(report.acceptance)) - wanted) <= error
        assert (rule.knots >= 0).all()
        assert abs(rule.knots[-1] - 1) <= len(draft) * EPS


def test_the_rule_of_hub_drafts_is_optimal():
    for draft, target in [(DRAFT, TARGET), *extreme_pairs(814, 150, 6)]:
        rule = otspec.rules.SpecHub(draft, target)
        best = otspec.optimal_acceptance(rule.law, target)
        assert abs(rule.acceptance() - best.acceptance) <= 2 * rule.law.accuracy


@pytest.mark.parametrize("pools", ["tokens", "fewest"])
def test_pooled_selection_of_independent_drafts_is_optimal(pools):
    for draft, target in [(DRAFT, TARGET), *extreme_pairs(815, 60, 6)]:
        for k in (1, 2, 5):
            rule = otspec.rules.PooledSelection(draft, target, k, pools)
            best = otspec.optimal_acceptance(rule.law, target)
            assert abs(rule.acceptance() - best.acceptance) <= 2 * rule.law.accuracy
            assert abs(rule.law_of_selection.sum() - 1) <= rule.law.accuracy
