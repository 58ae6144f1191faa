"""The best tree by logged blocks, and dynamic trees on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from otspec.blocks import DraftSelection, TraversalVerify, as_shape, best_trees
from otspec.datasets import load_smollm2
from otspec.logged import (
    LoggedBlock,
    best_trees_on_blocks,
    compare_trees_on_blocks,
    dynamic_tree_on_blocks,
)
from otspec.logged.chances import logged_chances
from otspec.models import memoryless, random_pair
from otspec.rules import (
    KSequential,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

RULES = (RecursiveRejection, KSequential, PooledSelection, TargetOnly)


def every_block(draft, target, length):
    """All texts that the draft may draft, each with its probability and what was logged of it."""
    for tokens in product(range(draft.n), repeat=length):
        heads = [tokens[:depth] for depth in range(length)]
        rows = ([model(head) for head in heads] for model in (draft, target))
        yield float(draft.mass(tokens)), LoggedBlock(*rows, tokens)


@pytest.mark.parametrize("rule", [*RULES, RecursiveRejectionWithoutReplacement])
def test_what_is_kept_of_a_tree_is_unbiased(rule):
    draft, target = random_pair(3, 0.4, np.random.default_rng(11))
    masses, blocks = zip(*every_block(draft, target, 3), strict=True)
    found = best_trees_on_blocks(blocks, rule, 9, 3, widest=3)
    for text in ("2x2", "[[[]][]][]", "[][[][]]"):
        tree = as_shape(text)
        mean = np.array(masses) @ found.chances.kept_of(tree)
        exact = DraftSelection(draft, target, tree, rule, merge=False).expected()
        assert mean == pytest.approx(exact, abs=1e-12)
        each = [float(block.expected_of_tree(tree, rule)) for block in blocks]
        assert found.chances.kept_of(tree) == pytest.approx(each, abs=1e-12)
        # A text is begun at the first position of any block.
        along = found.chances.along
        assert along.start @ along.expected(tree) == pytest.approx(np.mean(each), abs=1e-12)


@pytest.mark.parametrize("rule", [*RULES, SpecHub])
def test_where_texts_do_not_matter_the_best_tree_is_that_of_the_models(rule):
    draft, target = memoryless([0.5, 0.3, 0.2]), memoryless([0.1, 0.6, 0.3])
    blocks = [LoggedBlock([draft(())] * 4, [target(())] * 4, x) for x in [(0, 1, 1, 2), (1,) * 4]]
    found = best_trees_on_blocks(blocks, rule, 10, 4)
    wanted = best_trees(draft, target, rule, 10, 4)
    assert found.trees.best.expected == pytest.approx(wanted.best.expected, abs=1e-12)
    assert wanted.expected(found.trees.best.tree) == pytest.approx(wanted.best.expected, abs=1e-12)
    assert found.trees.at(6, 2).expected == pytest.approx(wanted.at(6, 2).expected, abs=1e-12)
    assert (found.chain is None) == (rule is SpecHub)


@pytest.mark.parametrize("rule", RULES)
def test_behind_the_last_position_nothing_is_kept(rule):
    block = LoggedBlock([[0.6, 0.4], [0.7, 0.3]], [[0.5, 0.5], [0.2, 0.8]], (0, 0))
    found = best_trees_on_blocks([block], rule, 6, 2)
    deep, flat = (found.on_blocks(as_shape(text)).expected for text in ("2x1x1", "2x1"))
    assert deep == flat > 0


def test_a_mean_is_over_the_positions_that_there_are():
    fair, sure = [0.5, 0.5], [0.25, 0.75]
    long = LoggedBlock([fair, fair], [fair, sure], (0, 0), end=[1])
    short = LoggedBlock([fair], [sure], (1,), end=[1])
    found = logged_chances([long, short], RecursiveRejection, [1], 2)
    # 1, 3/4 and 3/4 are kept, 1/2 of each as the token that ends the text.
    assert found.averaged.kept[1].tolist() == [[2.5 / 3]]
    assert found.averaged.led[1].tolist() == [[[1 / 3]]]


def test_trees_on_blocks_are_compared_with_equal_children_apart():
    draft, target = random_pair(2, 0.4, np.random.default_rng(13))
    blocks = [block for _, block in every_block(draft, target, 2)]
    found = {row.rule: row.expected for row in compare_trees_on_blocks(blocks, ["2x1"])}
    apart, together = (
        np.mean([block.expected_of_traversal("2x1", merge=merge) for block in blocks])
        for merge in (False, True)
    )
    assert found[TraversalVerify.title] == pytest.approx(apart)
    assert abs(apart - together) > 1e-3


def test_the_bundled_trace_has_a_best_tree():
    blocks = list(load_smollm2().blocks())
    found = best_trees_on_blocks(blocks, RecursiveRejection, 16, 4)
    assert found.best.tree.size == 16
    assert found.trees.best.expected >= found.trees.branching.expected
    each = [block.expected_of_tree(found.best.tree, RecursiveRejection).value for block in blocks]
    assert found.best.expected == pytest.approx(np.mean(each))
    assert found.best.error > 0
    for simple, text in ((found.branching, found.trees.branching.tree), (found.chain, "1x1x1x1")):
        kept = [float(block.expected_of_tree(text, RecursiveRejection)) for block in blocks]
        assert simple.tree == as_shape(text)
        assert simple.expected == pytest.approx(np.mean(kept))
        assert simple.error == pytest.approx(np.std(kept, ddof=1) / np.sqrt(len(kept)))
    assert found.chain.tree.text == "1x1x1x1"


def test_dynamic_trees_of_a_threshold_are_unbiased():
    draft, target = random_pair(3, 0.4, np.random.default_rng(12))
    masses, blocks = map(list, zip(*every_block(draft, target, 3), strict=True))
    # As often as they are drafted, so that the mean over blocks is that over texts.
    often = np.round(np.array(masses) * 1_000).astype(int)
    drawn = [block for block, count in zip(blocks, often, strict=True) for _ in range(count)]
    found = dynamic_tree_on_blocks(drawn, 6, 3)
    paths = [x for depth in (1, 2, 3) for x in product(range(3), repeat=depth)]
    grown = [path for path in paths if draft.mass(path) >= found.threshold]
    assert found.nodes == pytest.approx(len(grown), rel=0.05)
    assert found.nodes <= 6
    assert found.expected == pytest.approx(sum(map(target.mass, grown)), rel=0.05)


@pytest.mark.parametrize(
    ("most", "threshold", "nodes", "kept"),
    [
        # The paths have 0.6, 0.4 and, behind the logged token, 0.42 and 0.18 over its 0.6.
        (1, 0.42, 1.0, 0.5),
        (3, 0.4, 1 + 1 / 0.6, 0.5 + 0.5 / 0.6 * 0.2),
        (4, 0.18, 2 + 1 / 0.6, 1.0 + 0.5 / 0.6 * 0.2),
        (6, np.exp(-60), 2 + 2 / 0.6, 1.0 + 0.5 / 0.6),  # all nodes fit: the least there is
    ],
)
def test_a_threshold_is_the_least_with_so_few_nodes(most, threshold, nodes, kept):
    block = LoggedBlock([[0.6, 0.4], [0.7, 0.3]], [[0.5, 0.5], [0.2, 0.8]], (0, 0))
    found = dynamic_tree_on_blocks([block], most, 2)
    assert found.threshold == pytest.approx(threshold, rel=1e-12, abs=0)
    assert (found.nodes, found.expected) == pytest.approx((nodes, kept))


def test_bad_blocks_are_refused():
    block = LoggedBlock([[0.5, 0.5]], [[0.5, 0.5]], (0,))

    def best(blocks, nodes, depth):
        return best_trees_on_blocks(blocks, RecursiveRejection, nodes, depth)

    for search in (best, dynamic_tree_on_blocks):
        with pytest.raises(ValueError, match="blocks is empty"):
            search([], 4, 1)
        with pytest.raises(ValueError, match="length is 2, but the block has 1 tokens"):
            search([block], 4, 2)
