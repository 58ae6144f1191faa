"""Estimates from tokens of any law have the exact mean: the draft's, the target's, another one."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from block_models import model_pairs
from drafted_trees import models
from searching import NIGHTLY

from otspec.blocks import BLOCK_RULES, DraftSelection, TraversalVerify, as_shape
from otspec.logged import LoggedBlock, dynamic_tree_on_blocks
from otspec.logged.chances import logged_chances
from otspec.models import TableModel, memoryless
from otspec.rules import (
    KSequential,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

pytestmark = pytest.mark.usefixtures("rules_made_once")

LAWS = ("draft", "target", "third")
CASES = [
    (RecursiveRejection, "2x1x1"),
    (RecursiveRejection, "[[][]][][[[]]]"),
    (KSequential, "2x1"),
    (PooledSelection, "[[]][]"),
    (PooledSelection, "2x2"),
    (RecursiveRejectionWithoutReplacement, "2x1x1"),
    (PooledSelectionWithoutReplacement, "[][[]]"),
    (SpecHub, "2x2"),
    (TargetOnly, "2x1"),
]


def sampling_of(law, draft, target):
    """The model that tokens are drawn from."""
    if law == "third":
        mean = {x: (draft(x) + 2 * target(x)) / 3 for x in prefixes(draft.n, 3)}
        return TableModel(mean)
    return {"draft": draft, "target": target}[law]


def prefixes(n, length):
    """All texts of fewer tokens than that."""
    found = [()]
    for _ in range(length - 1):
        found += [(*text, token) for text in found for token in range(n)]
    return sorted(set(found), key=len)


def logged(draft, target, sampling, text, end=()):
    heads = [text[:depth] for depth in range(len(text))]
    rows = ([model(head) for head in heads] for model in (draft, target, sampling))
    draft_rows, target_rows, sampling_rows = rows
    return LoggedBlock(draft_rows, target_rows, text, end, sampling_rows)


def over_texts(draft, target, law, length):
    """Each text of the law with its probability, as a logged block."""
    sampling = sampling_of(law, draft, target)
    for text, mass in sampling.texts(length):
        yield mass, logged(draft, target, sampling, text)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("rule", "tree"), CASES)
def test_trees_have_the_exact_mean(rule, tree, law):
    shape = as_shape(tree)
    for draft, target in models(301, 4 if NIGHTLY else 2, 3 if shape.depth < 3 else 2, shape.depth):
        exact = DraftSelection(draft, target, tree, rule, merge=False).expected()
        blocks = list(over_texts(draft, target, law, shape.depth))
        mean = sum(mass * block.expected_of_tree(tree, rule) for mass, block in blocks)
        assert type(mean.value) is Fraction
        if rule is not TargetOnly or law != "draft":  # which may draft what is never drawn
            assert mean == exact
        if not shape.widths or rule is TargetOnly:
            continue
        chances = logged_chances(
            [block for _, block in blocks], rule, sorted(shape.widths), shape.depth
        )
        masses = np.array([float(mass) for mass, _ in blocks])
        levels = chances.by_level(shape)
        assert levels.shape == (shape.depth, len(blocks))
        assert np.allclose(levels.sum(axis=0), chances.kept_of(shape), rtol=1e-12)
        assert chances.kept_of(shape) @ masses == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("merge", [True, False])
def test_traversal_has_the_exact_mean(law, merge):
    for tree in ("1x1x1", "3", "2x2", "[[][]][]"):
        for draft, target in models(302, 6, 2, 2):
            rule = TraversalVerify(draft, target, tree, merge=merge)
            mean = sum(
                mass * block.expected_of_traversal(tree, merge=merge)
                for mass, block in over_texts(draft, target, law, rule.depth)
            )
            assert mean == rule.expected()
            assert type(mean) is Fraction


def test_a_block_is_equal_to_itself_alone():
    (_, one), (_, other), *_ = (
        (mass, block)
        for _ in range(2)
        for mass, block in over_texts(memoryless([1.0]), memoryless([1.0]), "draft", 1)
    )
    assert one == one
    assert one != other
    assert len({one, other}) == 2


def test_traversal_merges_equal_children_by_default():
    draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    texts = over_texts(draft, target, "draft", 2)
    mean = sum(mass * block.expected_of_traversal("2x2") for mass, block in texts)
    apart, merged = (TraversalVerify(draft, target, "2x2", merge=each) for each in (False, True))
    assert mean == merged.expected() != apart.expected()


@pytest.mark.parametrize("law", LAWS)
def test_blocks_have_the_exact_mean_level_by_level(law):
    for case in model_pairs(303, 3, 3, 12 if NIGHTLY else 8):
        draft, target = case.exact
        blocks = list(over_texts(draft, target, law, 3))
        for rule in BLOCK_RULES.values():
            mean = sum(mass * block.by_level(rule, 3) for mass, block in blocks)
            exact = rule(draft, target, 3)
            assert list(np.cumsum(mean)) == exact.expected_up_to()
            outcomes = [(len(it.accepted), it.mass) for it in exact.outcomes()]
            for level, likely in enumerate(mean, start=1):
                assert likely == sum(mass for tau, mass in outcomes if tau >= level)


def test_no_token_of_the_target_weighs_more_than_one():
    for draft, target in models(304, 8, 3, 2):
        for _, block in over_texts(draft, target, "target", 2):
            chances = logged_chances([block], PooledSelection, [2], 2)
            assert (chances.along.led[2].sum(axis=0) <= 1 + 1e-15).all()


HALVES = ["1/2", "1/2"]
SKEWED = ["1/4", "3/4"]


def test_tokens_of_another_law_by_hand():
    """A token 1 was drawn by chance 3/4, and is accepted by chance 1/2: it weighs 2/3."""
    block = LoggedBlock([HALVES] * 2, [SKEWED] * 2, [1, 0], sampling=[SKEWED] * 2)
    assert block.expected_of_tree("1x1", RecursiveRejection) == Fraction(3, 4) * (
        1 + Fraction(2, 3)
    )
    assert block.by_level(next(iter(BLOCK_RULES.values())), 2).tolist() == [
        Fraction(3, 4),
        Fraction(1, 2),
    ]
    assert list(block.sampled[0]) == [Fraction(1, 4), Fraction(3, 4)]


def test_the_law_of_a_block_is_that_of_drafted_tokens():
    block = LoggedBlock([HALVES] * 2, [SKEWED] * 2, [1, 0], sampling=[HALVES, SKEWED])
    assert block.kept(next(iter(BLOCK_RULES.values())), 1).sum() == 1
    with pytest.raises(ValueError, match=r"sampling\[1\] is not the draft there"):
        block.kept(next(iter(BLOCK_RULES.values())), 2)


def test_what_no_estimate_would_count_is_refused():
    sampling = [HALVES, ["1", "0"]]
    with pytest.raises(
        ValueError, match=r"sampling\[1\] never draws token 1, which can be drafted"
    ):
        LoggedBlock([HALVES] * 2, [SKEWED] * 2, [1, 0], sampling=sampling)
    LoggedBlock([HALVES, ["1", "0"]], [SKEWED] * 2, [1, 0], sampling=sampling)
    LoggedBlock([HALVES] * 2, [SKEWED, ["1", "0"]], [1, 0], sampling=sampling)
    tiny = [1.0, 1e-13]
    LoggedBlock([[0.5, 0.5]], [tiny], [0], sampling=[[1.0, 0.0]])
    LoggedBlock([[0.5, 0.5]], [[1 - 1e-12, 1e-12]], [0], sampling=[[1.0, 0.0]])
    exact = [1 - Fraction(1, 10**13), Fraction(1, 10**13)]
    for draft, target in ((HALVES, exact), ([0.5, 0.5], [1 - 2e-12, 2e-12])):
        first = [1, 0] if target is exact else [1.0, 0.0]
        with pytest.raises(ValueError, match=r"sampling\[0\] never draws token 1, which can be"):
            LoggedBlock([draft], [target], [0], sampling=[first])
    thirds = ["1/3"] * 3
    with pytest.raises(ValueError, match=r"sampling\[0\] never draws token 1, which can be"):
        LoggedBlock([thirds], [thirds], [0], sampling=[["1", "0", "0"]])
    with pytest.raises(ValueError, match="sampling has 1 rows, but there are 2 tokens"):
        LoggedBlock([HALVES] * 2, [SKEWED] * 2, [1, 0], sampling=[HALVES])
    with pytest.raises(ValueError, match=r"sampling\[0\] has 3"):
        LoggedBlock([HALVES], [SKEWED], [1], sampling=[["1/2", "1/4", "1/4"]])
    with pytest.raises(ValueError, match=r"tokens\[0\] is 0, which sampling never draws there"):
        LoggedBlock([["0", "1"]], [SKEWED], [0], sampling=[["0", "1"]]).expected(
            next(iter(BLOCK_RULES.values())), 1
        )


def test_an_end_cuts_the_rows_of_the_law_too():
    block = LoggedBlock([HALVES] * 3, [SKEWED] * 3, [1, 0, 0], {0}, [HALVES, SKEWED])
    assert block.tokens == (1, 0)
    assert block.expected(next(iter(BLOCK_RULES.values())), 5) == Fraction(3, 4) * 2


@pytest.mark.parametrize("law", LAWS)
def test_dynamic_trees_have_the_mean_of_all_texts(law):
    """At a threshold below every path all is in the tree: all nodes are counted, all is kept."""
    draft = TableModel({(): [0.6, 0.4], (0,): [0.3, 0.7]})
    target = TableModel({(): [0.2, 0.8], (1,): [0.9, 0.1]})
    nodes, kept = 0.0, 0.0
    for mass, block in over_texts(draft, target, law, 2):
        found = dynamic_tree_on_blocks([block], 100, 2)
        nodes, kept = nodes + mass * found.nodes, kept + mass * found.expected
    assert (nodes, kept) == (pytest.approx(6), pytest.approx(2))
    sure = ["1", "0", "0"]
    lacking = LoggedBlock([["1/2", "1/4", "1/4"]], [sure], [0], sampling=[sure])
    with pytest.raises(ValueError, match=r"sampling\[0\] never draws token 1"):
        dynamic_tree_on_blocks([lacking], 4, 1)


def rejection_keeps(draft, target, weight, k):
    """How likely recursive rejection keeps one of k i.i.d. drafts, for a target of that weight."""
    before, rejected = 0.0, 1.0
    for _ in range(k):
        before += rejected
        left = sum(max(weight * q - before * p, 0) for p, q in zip(draft, target, strict=True))
        rejected = left + 1 - weight
    return 1 - rejected


def test_traversal_of_a_wide_tree_in_floats():
    # The logged token 0 is visited as the first child, with weight 1/5; as a later one it would
    # have been rejected before. Of the 32 others c are it, too, and have 33 children each.
    draft, target, width = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3], 33
    kept = rejection_keeps(draft, target, 1, width)
    for c in range(width):
        likely = comb(width - 1, c) / 2 ** (width - 1)
        kept += likely * rejection_keeps(draft, target, 0.2, width * (1 + c))
    block = LoggedBlock([draft] * 2, [target] * 2, [0, 1])
    assert block.expected_of_traversal("33x33") == pytest.approx(kept, abs=1e-12)
