"""Logged texts that end, on the table of ending models: means over all texts are exact."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from drafted_trees import path_mass
from ending_models import ENDINGS, calls_of_texts, each_ending
from tree_search import all_trees, kept_of, text

from otspec.blocks import (
    BLOCK_RULES,
    BlockVerification,
    DraftSelection,
    TokenVerification,
    TraversalVerify,
    as_shape,
    best_trees,
)
from otspec.logged import (
    LoggedBlock,
    best_trees_on_blocks,
    compare_on_blocks,
    compare_trees_on_blocks,
    dynamic_tree_on_blocks,
    lengths_on_blocks,
    lengths_on_texts,
    replay,
)
from otspec.logged.comparison import shared_length
from otspec.models import EndingModel
from otspec.rules import PooledSelection, RecursiveRejection, RecursiveRejectionWithoutReplacement

pytestmark = pytest.mark.usefixtures("rules_made_once")

RULES = (PooledSelection, RecursiveRejection, RecursiveRejectionWithoutReplacement)


def logged(draft, target, end, length, sampled="draft"):
    """All texts of one of the models as logged blocks, with their probabilities."""
    model = draft if sampled == "draft" else target
    for said, mass in model.texts(length):
        tokens = said + said[-1:] * (length - len(said))  # of a draft that ends
        drafts, targets = ([each(tokens[:i]) for i in range(length)] for each in (draft, target))
        sampling = targets if sampled == "target" else None
        yield LoggedBlock(drafts, targets, tokens, end, sampling), mass


def repeated(*args):
    """Blocks of which each is there as often as it is likely: their mean is the expectation."""
    pairs = list(logged(*args))
    whole = math.lcm(*(mass.denominator for _, mass in pairs))
    return [block for block, mass in pairs for _ in range(int(mass * whole))]


@each_ending()
@pytest.mark.parametrize("sampled", ["draft", "target"])
def test_means_of_blocks_count_up_to_the_end(sampled, draft, target, end):
    ending = EndingModel(target, end)
    pairs = list(logged(draft, target, end, 3, sampled))
    for rule in BLOCK_RULES.values():
        for length in (1, 2, 3):
            wanted = rule(draft, ending, length).expected()
            assert sum(mass * block.expected(rule, length) for block, mass in pairs) == wanted
            if sampled == "draft":
                kept = [block.kept(rule, length) for block, _ in pairs]
                assert wanted == sum(
                    mass * sum(tau * chance for tau, chance in enumerate(law))
                    for (_, mass), law in zip(pairs, kept, strict=True)
                )


@each_ending()
@pytest.mark.parametrize("sampled", ["draft", "target"])
def test_means_of_trees_count_up_to_the_end(sampled, draft, target, end):
    pairs = list(logged(draft, target, end, 3, sampled))
    for rule in RULES:
        kept = kept_of(draft, target, rule, end)
        chances = best_trees_on_blocks([block for block, _ in pairs], rule, 3, 3).chances
        for tree in all_trees(3, 3):
            shape = as_shape(text(tree))
            wanted = kept(tree, ())
            assert sum(mass * each.expected_of_tree(shape, rule) for each, mass in pairs) == wanted
            rounded = sum(float(mass) * one for (_, mass), one in zip(
                pairs, chances.kept_of(shape).tolist(), strict=True
            ))  # fmt: skip
            assert rounded == pytest.approx(float(wanted), abs=1e-12)
    for tree in ("2x1", "[[]][]", "1x1x1"):
        for merge in (True, False):
            wanted = TraversalVerify(draft, EndingModel(target, end), tree, merge=merge).expected()
            found = sum(
                mass * each.expected_of_traversal(tree, merge=merge) for each, mass in pairs
            )
            assert found == wanted


@each_ending()
def test_comparisons_of_logged_blocks_count_up_to_the_end(draft, target, end):
    ending = EndingModel(target, end)
    blocks = repeated(draft, target, end, 2)
    for row in compare_on_blocks(blocks, [1, 2]):
        rule = next(rule for rule in BLOCK_RULES.values() if rule.title == row.rule)
        exact = float(rule(draft, ending, row.length).expected())
        assert row.expected == pytest.approx(exact, abs=1e-12)
    rows = {row.rule: row.expected for row in compare_trees_on_blocks(blocks, ["2x1"])}
    for rule in RULES:
        exact = DraftSelection(draft, ending, "2x1", rule, merge=False).expected()
        assert rows[rule.title] == pytest.approx(float(exact), abs=1e-12)
        lengths = lengths_on_blocks(blocks, rule, "2x1")
        assert lengths.accepted.value == pytest.approx(float(exact), abs=1e-12)


@each_ending()
def test_dynamic_trees_have_no_node_behind_the_end(draft, target, end):
    found = dynamic_tree_on_blocks(repeated(draft, target, end, 2), 3, 2)
    paths = [(x,) for x in range(target.n)]
    paths += [(x, y) for x in range(target.n) if x not in end for y in range(target.n)]
    inside = [path for path in paths if _in_floats(draft, path) >= found.threshold]
    assert found.nodes == pytest.approx(len(inside), abs=1e-12)
    kept = sum((path_mass(target, path) for path in inside), start=Fraction(0))
    assert found.expected == pytest.approx(float(kept), abs=1e-12)


def _in_floats(model, path):
    """The probability of a text, multiplied as it is there."""
    return math.prod(float(model(path[:depth])[token]) for depth, token in enumerate(path))


@pytest.mark.parametrize(
    "name",
    ["a fair coin", "a biased coin", "the text ends at once", "every token ends", "no end"],
)
@pytest.mark.parametrize("rule", RULES)
def test_of_models_that_remember_nothing_mean_chances_find_the_best_tree(name, rule):
    """There all positions have one chance, and the share of end tokens is that of the models."""
    draft, target, end = ENDINGS[name]
    exact = best_trees(draft, EndingModel(target, end), rule, 5, 3)
    found = best_trees_on_blocks(repeated(draft, target, end, 3), rule, 5, 3)
    for nodes in range(1, 6):
        for depth in range(1, 4):
            assert found.trees.at(nodes, depth).expected == pytest.approx(
                float(exact.at(nodes, depth).expected), abs=1e-12
            )
    kept = found.chances.averaged.of(2)[0]
    assert kept.sum() == pytest.approx(float(rule(draft(()), target(()), 2).acceptance()))


@pytest.mark.parametrize("tree", ["1x1", "2x1", "[[]][]"])
def test_replays_of_whole_texts_have_the_calls_of_decoding(tree):
    draft, target, end = ENDINGS["at most three tokens"]
    ending = EndingModel(target, end)
    pairs = list(logged(draft, target, end, 3, "target"))
    assert all(each.ended for each, _ in pairs)
    rules = [RecursiveRejection, PooledSelection]
    if tree == "1x1":
        rules += [TokenVerification, BlockVerification]
    for rule in rules:
        verifier = (
            DraftSelection(draft, ending, tree, rule, merge=False)
            if rule in RULES
            else rule(draft, ending, 2)
        )
        tokens, calls = calls_of_texts(verifier)
        replays = [(replay(each, rule, tree, cut=True), mass) for each, mass in pairs]
        assert sum(mass * each.calls for each, mass in replays) == calls
        assert sum(mass * each.tokens for each, mass in replays) == tokens
        found = lengths_on_texts(repeated(draft, target, end, 3, "target"), rule, tree, cut=True)
        assert found.tokens_per_call.value == pytest.approx(float(tokens / calls), abs=1e-12)


@pytest.mark.parametrize(
    ("texts", "most", "shared"),
    [
        ([[0, 0, 0], [0, 0]], 8, 2),
        ([[0, 0, 0], [0, 0]], 1, 1),
        # A block that is over has as much as anybody asks for.
        ([[0, 0, 0], [0, 1]], 8, 3),
        ([[1]], 8, 8),
    ],
)
def test_a_length_is_shared_by_the_blocks_that_are_not_over(texts, most, shared):
    rows = [["1/2", "1/2"]] * 3
    blocks = [LoggedBlock(rows[: len(x)], rows[: len(x)], x, end=[1]) for x in texts]
    assert shared_length(blocks, most) == shared
