"""Trees of drafts for texts that end: nothing is drafted behind an end token, or counted."""

from __future__ import annotations

import numpy as np
import pytest
from block_models import model_pairs
from ending_models import certain, kept_up_to_end, law_up_to_end
from programs import drawn

from otspec.auditing import audit_blocks
from otspec.blocks import (
    DraftSelection,
    GreedyMultiPath,
    TraversalVerify,
    UniversalTree,
    as_shape,
    decoded_law,
    simulate,
)
from otspec.blocks.base import enumerated_expected
from otspec.models import EndingModel
from otspec.rules import KSequential, PooledSelection, RecursiveRejectionWithoutReplacement

pytestmark = pytest.mark.usefixtures("rules_made_once")

TREES = ["2x1", "[[]][]", "1x2"]


def by_depth(rule):
    """A rule for one token, applied depth by depth."""
    return lambda draft, target, tree: DraftSelection(draft, target, tree, rule)


RULES = {
    "k-sequential": by_depth(KSequential),
    "pooled selection": by_depth(PooledSelection),
    "distinct": by_depth(RecursiveRejectionWithoutReplacement),
    "traversal": TraversalVerify,
    "universal": UniversalTree,
    "greedy": GreedyMultiPath,
}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", RULES)
def test_texts_and_what_is_kept_are_those_up_to_the_end_exactly(name, tree):
    served = name != "greedy" or GreedyMultiPath.serves(as_shape(tree))
    for index, case in enumerate(model_pairs(810, 2, 2, 12)):
        draft, target = case.exact
        end = {index % 2}
        if not served:
            with pytest.raises(ValueError, match="paths"):
                RULES[name](draft, target, tree)
            return
        rule = RULES[name](draft, EndingModel(target, end), tree)
        assert decoded_law(rule, 3) == law_up_to_end(target, end, 3)
        # The same rule where an end token is repeated for certain, counted up to the end.
        padded = RULES[name](certain(draft, end), certain(target, end), tree)
        kept = kept_up_to_end(padded, end)
        assert rule.expected() == enumerated_expected(rule) == kept
        assert rule.expected_after({(0,): "1/2", (1,): "1/2"}) >= 0
        over = rule.restarted(draft.after(tuple(end)), rule.target.after(tuple(end)))
        assert over.expected() == 0


@pytest.mark.parametrize("name", RULES)
def test_nothing_is_drafted_behind_an_end_token(name):
    case = list(model_pairs(811, 2, 2, 14))[-1]
    draft, target = case.exact
    rule = RULES[name](draft, EndingModel(target, {1}), "2x1")
    rng, ended = np.random.default_rng(0), 0
    for _ in range(40):
        drafts = drawn(rule, rng)
        assert all(drafts[parent] != 1 for parent in drafts.parents if parent >= 0)
        ended += 1 in drafts
        assert 1 not in rule.sample(rng).accepted[:-1]
    assert ended
    found = simulate(rule, 300, seed=1)
    assert found.low <= float(rule.efficiency()) <= found.high


def test_the_optimum_of_a_tree_counts_up_to_the_end():
    for case in model_pairs(812, 2, 2, 8):
        draft, target = case.exact
        report = audit_blocks(DraftSelection(draft, EndingModel(target, {1}), "2x1", KSequential))
        assert report.lossless
        assert report.gap >= -1e-9
