"""What the output is off by if drafts are drawn from another law than is declared (Theory, 40)."""

from __future__ import annotations

from fractions import Fraction

import oracles
import pytest
from instances import weights
from numpy.random import default_rng

import otspec
from otspec.blocks import BlockVerification, TokenVerification, TraversalVerify
from otspec.blocks.drafted_tree import DraftedTree, node_and_row
from otspec.chance import branches
from otspec.models import memoryless
from otspec.rules import RULES, KSequential, NaiveSampling, PriorityMixture, TargetOnly

TENTH = Fraction(1, 10)
OPTIMAL_IID = "pooled-selection", "earliest-pooled-selection", "planned"
IN_TURN = "recursive-rejection", "k-sequential"
IID = [
    ("maximal-coupling", 1),
    ("importance-sampling", 2),
    *((name, k) for name in OPTIMAL_IID + IN_TURN for k in (1, 2, 3)),
]
DISTINCT = "pooled-selection-without-replacement", "recursive-rejection-without-replacement"


def off(rule, drawn, target):
    """The total variation of the output from the target, if drafts are drawn from another law."""
    return otspec.audit(rule.kernel, law=drawn, target=target).total_variation


def worst_iid(wrong, k):
    """What is drawn, what is declared, and the target: statement 40 (i)."""
    missed = (1 - wrong) ** k
    return (1, 0, 0), (1 - wrong, wrong, 0), (0, 1 - missed, missed)


@pytest.mark.parametrize(("name", "k"), IID)
@pytest.mark.parametrize("wrong", [TENTH, Fraction(2, 3)])
def test_iid_drafts_attain_the_bound(name, k, wrong):
    drawn, declared, target = worst_iid(wrong, k)
    rule = RULES[name].of_pair(declared, target, k)
    assert otspec.audit(rule).lossless
    assert off(rule, otspec.IID(drawn, k), target) == 1 - (1 - wrong) ** k


def test_two_different_drafts_attain_the_bound():
    wrong = TENTH, Fraction(1, 4)
    missed = (1 - wrong[0]) * (1 - wrong[1])
    declared = otspec.Independent([(1 - each, each, 0) for each in wrong])
    drawn = otspec.Independent([(1, 0, 0)] * 2)
    target = 0, 1 - missed, missed
    for made in (PriorityMixture, otspec.rules.RecursiveRejectionIndependent):
        assert off(made(declared, target), drawn, target) == 1 - missed


@pytest.mark.parametrize("seed", range(6))
def test_no_rule_for_iid_drafts_is_off_by_more(seed):
    rng = default_rng(seed)
    n, k = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    drawn, declared, target = (weights(rng, n, 9, 0.2) for _ in range(3))
    wrong = sum(max(p - said, 0) for p, said in zip(drawn, declared, strict=True))
    for name in (*OPTIMAL_IID[:2], *IN_TURN):
        found = off(RULES[name].of_pair(declared, target, k), otspec.IID(drawn, k), target)
        assert found <= 1 - (1 - wrong) ** k


def worst_distinct(light, swapped, k):
    """k − 1 heavy tokens, and two light ones of mass ``light`` whose shares are swapped."""
    heavy = [(1 - light) / (k - 1)] * (k - 1)
    shares = 1 - swapped, swapped
    drawn, declared = ([*heavy, light * a, light * b] for a, b in (shares, shares[::-1]))
    return drawn, declared, [*[Fraction(0)] * (k - 1), *shares[::-1]]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", DISTINCT)
def test_distinct_drafts_may_be_off_by_nearly_everything(name, k):
    light, swapped = Fraction(1, 50), Fraction(1, 1000)
    drawn, declared, target = worst_distinct(light, swapped, k)
    rule = RULES[name].of_pair(declared, target, k)
    found = off(rule, otspec.WithoutReplacement(drawn, k), target)
    # Nothing but a pair of two light tokens, which may be treated in any way, is in between.
    assert 1 - 2 * swapped >= found >= 1 - 2 * swapped - 6 * light
    if name == "recursive-rejection-without-replacement":
        assert found == 1 - 2 * swapped


@pytest.mark.parametrize(
    ("name", "law", "k"),
    [
        ("spechub", otspec.Hub, 2),
        ("drawn-draft", otspec.TopPlusOne, 2),
        ("drawn-draft", otspec.TopPlusOne, 3),
    ],
)
def test_one_drawn_draft_may_be_off_by_nearly_everything(name, law, k):
    light, swapped = Fraction(1, 50), Fraction(1, 1000)
    drawn, declared, target = worst_distinct(light, swapped, k)
    rule = RULES[name].of_pair(declared, target, k)
    assert off(rule, law(drawn, k), target) == 1 - 2 * swapped


def test_rules_that_only_look_drafts_up_are_never_off():
    drawn, declared, target = worst_iid(TENTH, 2)
    assert off(NaiveSampling(declared, target, 2), otspec.IID(drawn, 2), target) == 0
    assert off(TargetOnly(declared, target, 2), otspec.Fixed([2, 0], 3), target) == 0


def test_k_sequential_above_the_least_rho_is_off_by_less():
    drawn, declared, target = worst_iid(TENTH, 2)
    slow = KSequential(declared, target, 2, rho=2)
    assert 0 < off(slow, otspec.IID(drawn, 2), target) < 1 - (1 - TENTH) ** 2


@pytest.mark.parametrize("rule", [TokenVerification, BlockVerification, TraversalVerify])
def test_a_block_is_off_by_as_much_as_so_many_drafts(rule):
    declared = memoryless([1 - TENTH, TENTH])
    made = rule(declared, declared, "1x1x1" if rule is TraversalVerify else 3)
    drawn = DraftedTree.chain((0, 0, 0), declared, declared)  # from (1, 0)
    for mass, found in branches(lambda chance: made.verify(drawn, chance)):
        # The text begins with 000 for certain, as (9/10)³ of the target's do.
        assert (mass, node_and_row(found)[0]) == (1, 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_given_pair_is_off_by_its_law_at_most_and_some_rule_is(k):
    drawn, declared = (weights(default_rng(k), 3, 9) for _ in range(2))
    laws = [oracles.iid_table(each, k) for each in (drawn, declared)]
    tuples = set(laws[0]) | set(laws[1])
    more = {x: laws[0].get(x, 0) - laws[1].get(x, 0) for x in tuples}

    def kernel(x):
        return [1, 0, 0] if more[tuple(x)] > 0 else [0, 1, 0]

    target = oracles.output(laws[1], kernel, 3)
    assert otspec.audit(kernel, law=otspec.IID(declared, k), target=target).lossless
    found = otspec.audit(kernel, law=otspec.IID(drawn, k), target=target).total_variation
    assert found == sum(max(mass, 0) for mass in more.values())


@pytest.mark.parametrize("seed", range(4))
def test_acceptance_of_one_draft_costs_robustness(seed):
    rng = default_rng(seed)
    declared, target = weights(rng, 3, 9), weights(rng, 3, 9)
    for wanted in (target, declared):
        rule = RULES["maximal-coupling"].of_pair(declared, wanted, 1)
        laws = [rule.kernel([x]) for x in range(3)]
        share = max(
            sum(max(a - b, 0) for a, b in zip(one, other, strict=True))
            for one in laws
            for other in laws
        )
        looked_up = sum(p * q for p, q in zip(declared, wanted, strict=True))
        most = looked_up + share * (1 - sum(p * p for p in declared))
        assert rule.acceptance() <= most
        if wanted is declared:
            assert rule.acceptance() == most == 1
            # A share of the time the draft is kept, else the target is drawn.
            for part in (Fraction(1, 3), Fraction(3, 4)):
                mixed = [
                    [part * (x == y) + (1 - part) * declared[y] for y in range(3)] for x in range(3)
                ]
                accepted = sum(declared[x] * mixed[x][x] for x in range(3))
                assert accepted == looked_up + part * (1 - looked_up)
