"""Block efficiency: simulated, over trees of one budget, on logged blocks; and the papers' claims.

MCSD's monotone rule and SpecHub's binary trees, with exact instances on both sides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from drafted_trees import RULES, as_floats, models, models_for
from instances import pairs
from searching import enough, of_all

from otspec.blocks import (
    BLOCK_RULES,
    BlockVerification,
    Configuration,
    DraftSelection,
    TokenVerification,
    compare_block_rules,
    configurations,
    simulate,
    sweep,
)
from otspec.datasets import load_smollm2
from otspec.estimate import Estimate
from otspec.logged import LoggedBlock, compare_on_blocks
from otspec.models import TableModel, memoryless, random_pair
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement, SpecHub
from validation.domains import smallest_pairs

pytestmark = pytest.mark.usefixtures("rules_made_once")

HALVES, QUARTERS = ["1/2", "1/2"], ["1/4", "3/4"]
TITLES = [rule.title for rule in BLOCK_RULES.values()]


def kept(draft, target, tree, rule=RecursiveRejection, merge=True):
    """E[τ] of a tree for models given as rows or as models."""
    pair = [memoryless(row) if isinstance(row, (list, tuple)) else row for row in (draft, target)]
    return DraftSelection(*pair, tree, rule, merge).expected()


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("budget", [1, 2, 6, 7, 8, 12])
def test_configurations_are_all_of_a_budget_in_order(budget, length):
    every = product(range(1, budget + 1), repeat=length)
    assert list(configurations(budget, length)) == [c for c in every if math.prod(c) == budget]


def test_a_configuration_names_and_counts_its_tree():
    tree = Configuration((4, 2, 1), Fraction(7, 2))
    assert (tree.name, tree.nodes, tree.efficiency) == ("4x2x1", 4 + 8 + 8, Fraction(7, 2))
    assert (Configuration((3,), 1.0).name, Configuration((3,), 1.0).nodes) == ("3", 3)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("rule", ["recursive", "naive", "pooled", "recursive-distinct"])
def test_a_sweep_is_sorted_and_says_what_draft_selection_says(rule, merge):
    made = RULES[rule][0]
    for draft, target in models(190, 4, 2, 2):
        for budget, length in ((4, 2), (4, 1), (2, 3)):
            found = sweep(draft, target, budget, length, made, merge=merge)
            assert sorted(each.branching for each in found) == list(configurations(budget, length))
            for each in found:
                alone = DraftSelection(draft, target, each.branching, made, merge)
                assert each.efficiency == alone.efficiency()
                assert type(each.efficiency.value) is Fraction
            order = [(-each.efficiency, [-width for width in each.branching]) for each in found]
            assert order == sorted(order)  # of equals the wider at the top


def test_a_simulated_sweep_covers_the_exact_one():
    draft, target = random_pair(3, 0.4, np.random.default_rng(191))
    exact = {c.branching: c.efficiency for c in sweep(draft, target, 4, 2, RecursiveRejection)}
    found = sweep(draft, target, 4, 2, RecursiveRejection, size=400, seed=192)
    assert sorted(each.efficiency for each in found)[::-1] == [each.efficiency for each in found]
    assert {each.branching for each in found} == set(exact)
    for each in found:  # each misses with probability at most 0.001
        assert isinstance(each.efficiency, Estimate)
        assert each.efficiency.low <= exact[each.branching] <= each.efficiency.high
        assert each.efficiency.size == 400
        alone = simulate(
            DraftSelection(draft, target, each.branching, RecursiveRejection), 400, 192
        )
        assert each.efficiency == alone


@pytest.mark.parametrize(
    "rule", [*BLOCK_RULES.values(), *(rule for rule in RULES if rule != "optimal")]
)
def test_a_simulation_covers_the_exact_efficiency(rule):
    name = rule if isinstance(rule, str) else "recursive"
    for draft, target in models_for(name, 193, 2, 3, 2):
        pair = as_floats(draft), as_floats(target)
        if isinstance(rule, str):
            made = DraftSelection(*pair, "1x1" if rule == "coupling" else "2x2", RULES[rule][0])
        else:
            made = rule(*pair, 2)
        estimate = simulate(made, 250, seed=194)
        assert 0 <= estimate.low <= made.efficiency() <= estimate.high <= 3  # misses: 0.001
        assert 1 <= estimate <= 3
        assert (estimate.confidence, estimate.size) == (0.999, 250)
        assert simulate(made, 20, seed=195, confidence=0.9).confidence == 0.9
        assert simulate(made, 20, seed=196) == simulate(made, 20, seed=196)


def test_a_simulation_of_equal_models_is_certain():
    model = memoryless([0.5, 0.5])
    estimate = simulate(TokenVerification(model, model, 3), 50)
    assert (estimate, estimate.high) == (4, 4)


@pytest.mark.parametrize("size", [1, 0, -1, 2.5, True])
def test_an_interval_needs_two_blocks(size):
    with pytest.raises(ValueError, match="size"):
        simulate(TokenVerification(memoryless(HALVES), memoryless(HALVES), 1), size)


@pytest.mark.parametrize(
    ("budget", "length", "says"),
    [(0, 1, "budget must be at least 1"), (2, 0, "length must be at least 1"),
     (2.0, 1, "budget must be an integer"), (2, "1", "length must be an integer")],
)  # fmt: skip
def test_budgets_and_lengths_that_are_none_are_refused(budget, length, says):
    with pytest.raises(ValueError, match=says):
        sweep(memoryless(HALVES), memoryless(HALVES), budget, length, RecursiveRejection)


def test_estimates_of_values_up_to_more_than_one():
    values = np.random.default_rng(197).random(2_000)
    unit, scaled = Estimate.of_mean(values), Estimate.of_mean(4 * values, most=4)
    for name in ("low", "high"):
        assert getattr(scaled, name) == pytest.approx(4 * getattr(unit, name), rel=1e-12)
    assert scaled == pytest.approx(4 * values.mean())
    top = Estimate.of_mean(np.full(10, 4.0), most=4)
    assert (top, top.high) == (4, 4)
    assert top.low == max(0, 4 - 7 * 4 * math.log(4_000) / 27) == 0
    assert Estimate.of_mean(np.full(2_000, 3.0), most=4).high < 4


def test_all_rules_side_by_side():
    rows = compare_block_rules(memoryless(HALVES), memoryless(QUARTERS), [2, 1])
    assert [(row.rule, row.length) for row in rows] == [(t, n) for n in (2, 1) for t in TITLES]
    expected = [Fraction(*f) for f in ((21, 16), (11, 8), (23, 16), (3, 4), (3, 4), (3, 4))]
    assert [row.expected for row in rows] == expected
    assert [row.optimum for row in rows] == [Fraction(23, 16)] * 3 + [Fraction(3, 4)] * 3
    assert [row.gap for row in rows] == [Fraction(1, 8), Fraction(1, 16), 0, 0, 0, 0]
    assert [row.efficiency for row in rows] == [each + 1 for each in expected]
    assert {row.error for row in rows} == {0.0}
    for draft, target in models(198, 8, 3, 2):
        token, published, preprint = compare_block_rules(draft, target, [2])
        assert token.expected <= published.expected <= preprint.expected == preprint.optimum
        assert published.expected == BlockVerification(draft, target, 2).expected()
    assert compare_block_rules(memoryless(HALVES), memoryless(HALVES), []) == []
    with pytest.raises(ValueError, match="draft is list"):
        compare_block_rules(HALVES, QUARTERS, [1])


def logged(*tokens):
    rows = len(tokens)
    return LoggedBlock([[0.5, 0.5]] * rows, [[0.25, 0.75]] * rows, tokens)


def test_logged_blocks_by_hand():
    """What follows 1: 3/2, 3/2 and 13/8; what follows 0: 9/8, 5/4 and 5/4."""
    rows = compare_on_blocks([logged(1, 0), logged(0, 1)], [1, 2])
    assert [row.expected for row in rows] == [0.75] * 3 + [21 / 16, 11 / 8, 23 / 16]
    assert [row.rule for row in rows] == TITLES * 2
    # Of two values half their distance.
    assert [row.error for row in rows] == pytest.approx([0, 0, 0, 3 / 16, 1 / 8, 3 / 16])
    assert [row.gap for row in rows] == pytest.approx([0, 0, 0, 1 / 8, 1 / 16, 0])
    alone = compare_on_blocks(iter([logged(0, 1)]), [2])
    assert [row.expected for row in alone] == [9 / 8, 5 / 4, 5 / 4]
    assert all(math.isnan(row.error) for row in alone)
    with pytest.raises(ValueError, match="blocks is empty"):
        compare_on_blocks([], [1])
    with pytest.raises(ValueError, match="length is 3, but the block has 2 tokens"):
        compare_on_blocks([logged(0, 1)], [3])


def test_the_bundled_trace():
    blocks = list(load_smollm2().blocks())
    rows = compare_on_blocks(blocks, [1, 4])
    for token, published, preprint in (rows[:3], rows[3:]):
        assert token.expected <= published.expected <= preprint.expected == preprint.optimum
        assert 0 < token.expected < token.length
    assert {row.expected for row in rows[:3]} == {rows[0].expected}
    for row, rule in zip(rows[3:], BLOCK_RULES.values(), strict=True):
        values = [block.expected(rule, 4) for block in blocks]
        assert row.expected == pytest.approx(np.mean(values), rel=1e-12)
        assert row.error == pytest.approx(abs(values[0] - values[1]) / 2, rel=1e-12)


@pytest.mark.parametrize("merge", [True, False])
def test_mcsds_monotone_rule_holds_if_all_tokens_are_drawn_alike(merge):
    exact = [(each["draft"], each["target"]) for each in islice(smallest_pairs(2, 2), enough(50))]
    strict = 0
    for draft, target in exact:
        for down, up in (("4x2", "2x4"), ("4x1", "1x4"), ("3x2", "2x3")):
            high, low = (kept(draft, target, tree, merge=merge) for tree in (down, up))
            assert high >= low
            strict += high > low
    assert strict >= of_all(50)
    for draft, target in pairs(199, 24, 3, fewest=3):
        down, up = (kept(draft, target, tree, merge=merge) for tree in ("2x1", "1x2"))
        assert down >= up


def test_mcsds_monotone_rule_fails_for_models_that_look_at_the_text():
    """First tokens are always kept, second ones by k drafts with probability 1 − 2^−k / 2."""
    draft = memoryless(HALVES)
    target = TableModel({(): HALVES, (0,): QUARTERS, (1,): QUARTERS})
    for tree, separate, merged in (
        ("4x1", Fraction(7, 4), Fraction(485, 256)),  # 1 + E[Bin(3, 1/2)] nodes agree
        ("1x4", Fraction(63, 32), Fraction(63, 32)),
        ("4x2", Fraction(15, 8), Fraction(8067, 4096)),
        ("2x4", Fraction(63, 32), Fraction(2031, 1024)),
    ):
        assert kept(draft, target, tree, merge=False) == separate
        assert kept(draft, target, tree) == merged
    for merge in (True, False):
        assert sweep(draft, target, 8, 2, RecursiveRejection, merge=merge)[0].name == "1x8"


def test_not_every_decreasing_tree_beats_every_increasing_one():
    """A certain target, and draws of it with probability 2/3; merging makes up for it here."""
    draft, target = ["2/3", "1/3"], ["1", "0"]
    assert kept(draft, target, "8x1", merge=False) == Fraction(32800, 19683)
    assert kept(draft, target, "2x4", merge=False) == Fraction(1288, 729) > Fraction(32800, 19683)
    assert kept(draft, target, "4x2", merge=False) == Fraction(1360, 729)
    assert kept(draft, target, "8x1") > kept(draft, target, "2x4")


def test_merging_keeps_no_less_of_two_tokens():
    for draft, target in models(200, enough(16, 8), 2, 2):
        for tree in ("2x2", "3x1", "1x3"):
            on, off = (kept(draft, target, tree, merge=merge) for merge in (True, False))
            assert on >= off
            assert tree != "1x3" or on == off


def test_spechub_on_binary_trees_against_recursive_rejection():
    """More where the hub is what the target wants, less where it wants another token only."""
    thirds, certain = ["1/3"] * 3, ["1", "0", "0"]
    assert kept(thirds, certain, "2x2", SpecHub) == 2
    assert kept(thirds, certain, "2x2", RecursiveRejectionWithoutReplacement) == Fraction(10, 9)
    assert kept(thirds, certain, "2x2", RecursiveRejection) == Fraction(650, 729)
    assert kept(thirds, certain, "2x2", RecursiveRejection, merge=False) == Fraction(70, 81)
    heavy, other = ["1/2", "1/4", "1/4"], ["0", "1", "0"]
    assert kept(heavy, other, "2x2", SpecHub) == Fraction(3, 4)
    assert kept(heavy, other, "2x2", RecursiveRejectionWithoutReplacement) == Fraction(133, 144)
    # One token of four is wanted: the hub crowds it out, 1/3 + 1/9 against 7/16 + 49/256.
    even, one = ["1/4"] * 4, ["0", "1", "0", "0"]
    assert kept(even, one, "2x2", SpecHub) == Fraction(4, 9)
    assert kept(even, one, "2x2", RecursiveRejectionWithoutReplacement) == Fraction(3, 4)
    assert kept(even, one, "2x2", RecursiveRejection, merge=False) == Fraction(161, 256)
    assert kept(even, one, "2x2", RecursiveRejection) == Fraction(2639, 4096)
