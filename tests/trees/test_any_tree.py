"""Trees of any shape: the target's text exactly, and E[τ] as of every drafted tree by itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from any_trees import check_frequencies, drawn, expected, ordered_trees, with_top
from drafted_trees import IID_RULES, RULES, as_floats, models_for, pair_for, takes
from searching import NIGHTLY

from otspec.auditing import audit_blocks
from otspec.blocks import TREE_RULES as NAMED
from otspec.blocks import DraftSelection
from otspec.chance import Drawn
from otspec.models.tables import random_pair

pytestmark = pytest.mark.usefixtures("rules_made_once")

NAMES = [name for name, (rule, _) in RULES.items() if rule in NAMED.values()]
QUICK = [name for name in NAMES if name not in ("k-sequential", "spechub")]
"""The rules without long fractions of an irrational root that take any tree."""
SMALL = [tree for nodes in range(1, 5) for tree in ordered_trees(nodes)]
LARGE = [*ordered_trees(5), *ordered_trees(6)[:: 1 if NIGHTLY else 6]]


def check(rule, tree, seed, n, *merging, audited=True):
    """Hold E[τ] against the enumeration, and the text against the target, with merging or not."""
    made, draws = RULES[rule]
    draft, target = pair_for(rule, seed, n, tree.depth if n == 2 else min(tree.depth, 2))
    law = drawn(draws, draft, tree)
    for merge in merging if rule in IID_RULES else merging[:1]:
        selection = DraftSelection(draft, target, tree, made, merge)
        kept = selection.expected()
        assert kept == expected(law, made, draft, target, merge and rule in IID_RULES)
        assert type(kept) is Fraction
        if audited:
            report = audit_blocks(selection, optimum=False)
            assert report.lossless
            assert report.total_variation == 0
            assert report.expected == kept
    if rule not in IID_RULES:
        for merge in merging[1:]:
            assert DraftSelection(draft, target, tree, made, merge).expected() == kept


def test_there_are_catalan_many_trees():
    assert [len(set(ordered_trees(nodes))) for nodes in range(7)] == [1, 1, 2, 5, 14, 42, 132]


@pytest.mark.parametrize("rule", NAMES)
def test_every_rule_on_every_tree_of_four_nodes(rule):
    few = 8 if rule == "k-sequential" else len(SMALL)
    for index, tree in enumerate([tree for tree in SMALL if takes(rule, tree)][:few]):
        check(rule, tree, 300 + index, 3 if tree.size < 3 else 2, True, False)


@pytest.mark.parametrize("rule", QUICK)
@pytest.mark.parametrize("merge", [True, False])
def test_trees_of_five_and_six_nodes(rule, merge):
    """Each of them, of six nodes a sixth but at night, with one of the rules."""
    start = 2 * QUICK.index(rule) + merge
    for index, tree in enumerate(LARGE[start :: 2 * len(QUICK)]):
        check(rule, tree, 8 * index + start, 2, merge, audited=tree.depth < 4)


@pytest.mark.parametrize("rule", NAMES)
def test_some_children_are_the_likeliest_tokens(rule):
    rng = np.random.default_rng(500)
    trees = [tree for tree in (*SMALL, *LARGE[::9]) if takes(rule, tree)]
    for index, tree in enumerate(trees[:8] if rule == "k-sequential" else trees[::2]):
        mixed = with_top(tree, rng)
        check(rule, mixed, 500 + index, 3 if tree.size < 3 else 2, bool(index % 3))


def test_all_likeliest_is_target_only_verification():
    for index, tree in enumerate(SMALL):
        draft, target = pair_for("target-only", 510 + index, 2, 4)
        certain = with_top(tree, Certain())
        for rule in ("recursive", "pooled-distinct"):
            found = DraftSelection(draft, target, certain, RULES[rule][0])
            alone = DraftSelection(draft, target, tree, RULES["target-only"][0])
            assert found.expected() == alone.expected()
            assert found.candidates() == alone.candidates()


class Certain:
    """Chance that makes all children the likeliest tokens."""

    def integers(self, _):
        return 1


@pytest.mark.parametrize("rule", QUICK)
def test_nothing_keeps_more_than_the_best_coupling_of_whole_trees(rule):
    rng = np.random.default_rng(520)
    for index, tree in enumerate(SMALL[:8] + [with_top(tree, rng) for tree in SMALL[3:8]]):
        draft, target = pair_for(rule, 520 + index, 2, 3)
        report = audit_blocks(DraftSelection(draft, target, tree, RULES[rule][0]))
        assert report.gap >= 0
        if tree.depth == 1 and rule.startswith("pooled"):
            assert report.gap == 0


@pytest.mark.parametrize(
    "text", ["[[]][]", "[[][]][[]][]", "[top[][[]]][top[][]][[]]", "top[[][]][]"]
)
@pytest.mark.parametrize("rule", ["recursive", "pooled-distinct"])
def test_drawn_trees_are_verified_as_outcomes_say(text, rule):
    for merge in (True, False):
        draft, target = map(as_floats, next(islice(models_for(rule, 530, 8, 2, 4), 3, 4)))
        selection = DraftSelection(draft, target, text, RULES[rule][0], merge)
        law = {outcome.accepted: outcome.mass for outcome in selection.outcomes()}
        rng, counts = np.random.default_rng(531), Counter()
        for _ in range(150):
            drafts = selection.draw(Drawn(rng))
            assert len(drafts) <= selection.tree.size
            counts[selection.outcome(drafts, Drawn(rng)).accepted] += 1
        check_frequencies(counts, law)


def test_floats_are_the_exact_numbers_rounded():
    for index, tree in enumerate(SMALL):
        pair = pair_for("recursive", 540 + index, 3, 2)
        for rule in ("recursive", "pooled", "recursive-distinct"):
            exact, rounded = (
                DraftSelection(*models, tree, RULES[rule][0]).expected()
                for models in (pair, tuple(map(as_floats, pair)))
            )
            assert type(rounded) is float
            assert rounded == pytest.approx(float(exact), abs=1e-12)


def test_models_that_remember_little_are_summed_over_it():
    """A chain with a branch at each of its 60 nodes: states are few, texts and trees are not."""
    draft, target = random_pair(3, "1/3", np.random.default_rng(550))
    comb = "[" * 60 + "]" * 60
    comb = comb.replace("]", "[]]")
    for merge in (True, False):
        kept = DraftSelection(draft, target, comb, RULES["recursive"][0], merge).expected()
        chain = DraftSelection(draft, target, (1,) * 60, RULES["recursive"][0], merge).expected()
        assert chain < kept < 61
