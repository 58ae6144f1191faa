"""Draft selection by chance, with stated error rates; and what it refuses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from any_trees import check_frequencies
from drafted_trees import IID_RULES, RULES, answered, as_floats, models_for, trees
from programs import drawn, given, verified

from otspec.blocks import DraftSelection, TokenTree, as_branching, decode
from otspec.chance import Drawn
from otspec.models import TableModel, memoryless
from otspec.rules import (
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)

pytestmark = pytest.mark.usefixtures("rules_made_once")

HALVES, QUARTERS = ("1/2", "1/2"), ("1/4", "3/4")


def tree_of(rule):
    return "1x1" if rule == "coupling" else "2x2"


def nested(drafted, node=-1):
    """A drafted tree as its children and what is below each."""
    return tuple((drafted[child], nested(drafted, child)) for child in drafted.children(node))


def agreeing(tree, merges):
    """The same of a tree whose equal drafts are apart: they are one node, or the first counts."""
    below = {}
    for token, subtree in tree:
        if merges or token not in below:
            below[token] = (*below.get(token, ()), *subtree)
    return tuple((token, agreeing(below[token], merges)) for token, _ in tree)


@pytest.mark.parametrize("rule", ["recursive", "recursive-distinct", "spechub", "coupling"])
def test_trees_are_drawn_from_their_law(rule):
    made, draws = RULES[rule]
    rng = np.random.default_rng(161)
    for draft, target in models_for(rule, 160, 2, 3, 2):
        tree = as_branching(tree_of(rule))
        selection = DraftSelection(as_floats(draft), as_floats(target), tree, made)
        counts, law = Counter(nested(drawn(selection, rng)) for _ in range(600)), Counter()
        for apart, mass in trees(draws, draft, tree).items():
            law[agreeing(apart, rule in IID_RULES)] += mass
        check_frequencies(counts, law)


@pytest.mark.parametrize(
    ("rule", "merge"),
    [(rule, True) for rule in RULES if rule != "optimal"] + [("recursive", False)],
)
def test_samples_have_the_law_of_the_outcomes(rule, merge):
    for draft, target in models_for(rule, 162, 2, 2, 2):
        pair = as_floats(draft), as_floats(target)
        selection = DraftSelection(*pair, tree_of(rule), RULES[rule][0], merge)
        rng = np.random.default_rng(163)
        counts = Counter()
        for _ in range(800 if rule == "recursive" else 400):
            outcome = selection.sample(rng)
            assert type(outcome.mass) is float
            assert outcome.mass == 1
            counts[outcome.accepted, selection.next_token(outcome, rng)] += 1
        check_frequencies(counts, answered(selection))


def test_exact_models_are_sampled_too():
    rng = np.random.default_rng(165)
    for rule in RULES:
        draft, target = next(models_for(rule, 164, 1, 2, 2))
        selection = DraftSelection(draft, target, tree_of(rule), RULES[rule][0])
        law = answered(selection)
        counts = Counter()
        for _ in range(20 if rule == "optimal" else 60):
            outcome = selection.sample(rng)
            assert outcome.mass == 1
            counts[outcome.accepted, selection.next_token(outcome, rng)] += 1
        check_frequencies(counts, law)


@pytest.mark.parametrize("rule", RULES)
def test_a_given_tree_is_verified_along_its_own_tokens(rule):
    rng = np.random.default_rng(166)
    for draft, target in models_for(rule, 167, 4, 3, 3):
        selection = DraftSelection(draft, target, tree_of(rule), RULES[rule][0])
        for _ in range(5):
            drafted = drawn(selection, rng)
            outcome = selection.outcome(drafted, Drawn(rng))
            head = outcome.accepted
            below = [nested(drafted)]
            for token in head:
                below = [tree for level in below for drawn, tree in level if drawn == token]
                assert below
            follows = outcome.following(())
            assert sum(follows) == 1
            if len(head) == selection.depth:
                assert (follows == target(head)).all()
                continue
            token = selection.next_token(outcome, rng)
            assert target(head)[token] > 0
            after = outcome.following.after((token,))
            for more in ((), (0,), (2, 1)):
                assert (outcome.following((token, *more)) == target((*head, token, *more))).all()
                assert (after(more) == target((*head, token, *more))).all()
            if rule in ("recursive", "coupling", "spechub"):
                assert token not in {drawn for level in below[:1] for drawn, _ in level}


def test_the_order_of_the_nodes_does_not_matter():
    """The same tree, depth by depth and branch by branch."""
    draft, target = TableModel({(): HALVES}), TableModel({(): QUARTERS, (1,): HALVES})
    selection = DraftSelection(draft, target, "2x2", RecursiveRejection)
    by_level = TokenTree((-1, -1, 0, 0, 1, 1)), (0, 1, 0, 0, 1, 1)
    by_branch = TokenTree((-1, 0, 0, -1, 3, 3)), (0, 0, 0, 1, 1, 1)
    assert nested(given(selection, *by_level)) == nested(given(selection, *by_branch))
    for seed in range(30):
        first, second = (
            verified(selection, tree, np.random.default_rng(seed)) for tree in (by_level, by_branch)
        )
        assert first.accepted == second.accepted
        assert (first.following(()) == second.following(())).all()


def test_merged_nodes_go_on_with_the_children_of_all():
    """Two equal first tokens: the second token is among the children of the second one only."""
    draft = memoryless(HALVES)
    target = TableModel({(): ("1", "0"), (0,): ("0", "1")})
    drafted = TokenTree.of_branching("2x1"), (0, 0, 0, 1)
    for merge, kept in ((True, (0, 1)), (False, (0,))):
        selection = DraftSelection(draft, target, "2x1", RecursiveRejection, merge)
        outcome = verified(selection, drafted, np.random.default_rng(0))
        assert outcome.accepted == kept
        assert selection.next_token(outcome, np.random.default_rng(0)) == (0 if merge else 1)


def test_a_text_is_decoded_with_trees():
    for rule in RULES:
        draft, target = next(models_for(rule, 169, 1, 2, 3))
        selection = DraftSelection(
            as_floats(draft), as_floats(target), tree_of(rule), RULES[rule][0]
        )
        rng, counts = np.random.default_rng(170), Counter()
        for _ in range(30 if rule == "optimal" else 200):
            text = decode(selection, 3, rng)
            assert 3 <= len(text.tokens) <= 5
            assert 1 <= text.calls <= 3
            counts[text.tokens[:3]] += 1
        check_frequencies(counts, dict(target.texts(3)))


@pytest.mark.parametrize(
    "rule", [RecursiveRejectionWithoutReplacement, PooledSelectionWithoutReplacement]
)
def test_of_one_certain_token_there_is_one_distinct_draft(rule):
    selection = DraftSelection(memoryless(["1", "0"]), memoryless(HALVES), "2", rule)
    assert selection.expected() == Fraction(1, 2)
    assert drawn(selection, np.random.default_rng(0)).tokens == (0,)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((HALVES, QUARTERS), r"draft is tuple: .*use memoryless\(row\)"),
        (({(): HALVES}, TableModel({(): QUARTERS})), "draft is dict"),
        ((lambda _: HALVES, lambda _: ("1/3",) * 3), "both must be over the same vocabulary"),
        ((lambda _: HALVES, lambda _: (0.5, 0.5)), "is exact but"),
    ],
)
def test_models_that_cannot_be_used_are_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        DraftSelection(*arguments, "2x1", RecursiveRejection)


def test_what_is_no_tree_or_no_rule_is_refused():
    pair = (lambda _: HALVES, lambda _: QUARTERS)
    with pytest.raises(ValueError, match="write the children by depth, such as 4x2x1"):
        DraftSelection(*pair, "2*2", RecursiveRejection)
    with pytest.raises(ValueError, match="tree is empty"):
        DraftSelection(*pair, (), RecursiveRejection)
    with pytest.raises(ValueError, match=r"rule is 'recursive'.*must be a class of otspec\.rules"):
        DraftSelection(*pair, "2x2", "recursive")
    with pytest.raises(ValueError, match="k is 3, but SpecHub verifies exactly 2 drafts"):
        DraftSelection(*pair, "3", RULES["spechub"][0]).expected()


def test_every_answer_of_a_users_model_is_checked():
    def wrong(prefix):
        return ("1/2", "1/3") if prefix == (1,) else HALVES

    selection = DraftSelection(wrong, lambda _: QUARTERS, "2x1", RecursiveRejection)
    with pytest.raises(ValueError, match=r"draft\(\(1,\)\) sums to 5/6"):
        selection.expected()
