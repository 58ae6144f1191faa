"""The calls along a text of the target, against all ways in which it can be decoded."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from block_models import model_pairs
from drafted_trees import models
from text_calls import check_against, decoded, logged, of_block, of_tree

from otspec.blocks import (
    BlockVerification,
    BlockVerificationPreprint,
    DraftSelection,
    TokenVerification,
    as_shape,
)
from otspec.logged import LoggedBlock, replay
from otspec.logged.chances import levels_of_block
from otspec.logged.replay import Replay, levels_along
from otspec.models import EndingModel, memoryless
from otspec.rules import (
    KSequential,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)
from otspec.rules.lossy import Lenience

CASES = [
    (RecursiveRejection, "2x1"),
    (RecursiveRejection, "[[]][]"),
    (KSequential, "2x1"),
    (PooledSelection, "[][[]]"),
    (PooledSelection, "1x2"),
    (RecursiveRejectionWithoutReplacement, "2x1"),
    (PooledSelectionWithoutReplacement, "[[]][]"),
    (SpecHub, "2x2"),
    (TargetOnly, "2x1"),
    (RecursiveRejection, "1x1x1"),
]
BLOCKS = [(TokenVerification, "1x1"), (TokenVerification, "1x1x1"), (BlockVerification, "1x1x1")]


@pytest.mark.parametrize(("rule", "tree"), CASES)
def test_calls_along_a_text_are_those_of_decoding(rule, tree):
    for draft, target in models(411, 2, 2, 3):
        found = decoded(of_tree(rule, tree), draft, target, 3)
        check_against(found, draft, target, rule, tree)


@pytest.mark.parametrize(("rule", "tree"), BLOCKS)
def test_calls_of_blocks_along_a_text_are_those_of_decoding(rule, tree):
    for case in model_pairs(412, 2, 3, 8):
        draft, target = case.exact
        found = decoded(of_block(rule, tree), draft, target, 4)
        check_against(found, draft, target, rule, tree)


@pytest.mark.parametrize(
    ("rule", "tree"), [(RecursiveRejection, "2x1"), (BlockVerification, "1x1x1")]
)
def test_texts_that_end_are_complete_with_the_end(rule, tree):
    make = of_block if rule is BlockVerification else of_tree
    for draft, target in models(413, 4, 2, 3):
        ending = EndingModel(target, [1])
        found = decoded(make(rule, tree), draft, ending, 3)
        check_against(found, draft, ending, rule, tree, end=[1])


def test_the_mean_over_texts_is_what_decoding_keeps():
    """Of texts that were cut off the first call counts: its mean is E[τ] of the tree."""
    for draft, target in models(414, 4, 3, 2):
        exact = DraftSelection(draft, target, "2x1", PooledSelection, merge=False).expected()
        mean = sum(
            mass * replay(logged(draft, target, text), PooledSelection, "2x1", cut=True).accepted
            for text, mass in target.texts(2)
        )
        assert mean == exact


def test_a_text_that_was_cut_off_counts_calls_with_a_whole_tree_behind_them():
    draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    text = logged(draft, target, (1, 1, 0, 1))
    whole, cut = (replay(text, RecursiveRejection, "1x1", cut=cut) for cut in (False, True))
    assert cut.counted == 3
    assert cut.starts.tolist() == whole.starts.tolist()
    assert cut.calls == whole.starts[:3].sum()
    assert cut.tokens == cut.calls + cut.accepted
    assert whole.tokens == 4
    ended = logged(draft, target, (1, 1, 0, 1), end=[0])
    assert replay(ended, RecursiveRejection, "1x1", cut=True).counted == 3  # a whole text of three
    short = logged(draft, target, (1,))
    nothing = replay(short, RecursiveRejection, "1x1", cut=True)
    assert (nothing.calls, nothing.accepted, nothing.tokens) == (0, 0, 0)


def test_one_drafted_token_has_the_same_rate_along_texts_that_were_cut_off():
    """Drafts of a fixed law keep Σ min(p, q) in every call, also in the last one of a text."""
    draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    calls, tokens = 0, 0
    for text, mass in target.texts(3):
        found = replay(logged(draft, target, text), TokenVerification, "1", cut=True)
        calls, tokens = calls + mass * found.calls, tokens + mass * found.tokens
    assert tokens / calls == 1 + Fraction(3, 4)


def test_a_draft_that_is_the_target_is_kept():
    fair = memoryless(["1/2", "1/2"])
    found = replay(logged(fair, fair, (0, 1, 0, 1, 1)), TokenVerification, "1x1")
    assert found.starts.tolist() == [1, 0, 0, 1, 0]
    assert found.lengths.tolist() == [0, 0, 2]
    never = replay(logged(memoryless(["1", "0"]), fair, (1, 1, 1)), TokenVerification, "1x1")
    assert (never.calls, never.lengths.tolist()) == (3, [3, 0, 0])


def test_ratios_beyond_the_floats_are_kept_until_a_token_is_never_drafted():
    draft, target = np.array([1.0, 1.0, 0.0, 1.0]), np.array([1e-200, 1e-200, 1.0, 0.5])
    for rule in (TokenVerification, BlockVerification):
        levels = levels_of_block(rule, 4, draft, target)
        assert levels[:, 0].tolist() == [1, 1, 0, 0]
        assert levels[:, 3].tolist() == [1, 0, 0, 0]


def test_walks_follow_the_law():
    draft, target = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    text = logged(draft, target, (1, 1, 0, 1, 1, 1, 1))
    found = replay(text, RecursiveRejection, "2x1")
    rng = np.random.default_rng(5)
    walks = [found.walk(rng) for _ in range(2_000)]
    for walk in walks:
        ends = list(accumulate(walk + 1))
        assert ends[-1] >= 7 > (ends[-2] if len(ends) > 1 else 0)
        assert ends[-1] <= 8  # what is kept beyond the end is not counted
    calls = np.array([len(walk) for walk in walks])
    assert abs(calls.mean() - found.calls) < 6 * calls.std() / len(walks) ** 0.5
    counts = np.array([np.bincount(walk, minlength=3) for walk in walks])
    radius = 6 * counts.std(axis=0) / len(walks) ** 0.5
    assert (abs(counts.mean(axis=0) - found.lengths) < radius).all()


def test_a_law_that_rounding_takes_below_0_is_drawn_from_without_that():
    kept = np.array([[-0.25, 0.5, 0.75]])
    rng = np.random.default_rng(6)
    drawn = [Replay(np.ones(1), kept, 1).walk(rng).tolist() for _ in range(2_000)]
    shares = [drawn.count([tau]) / len(drawn) for tau in range(3)]
    # Six times the error of a share of 0.4 is 0.066.
    assert shares == pytest.approx([0, 0.4, 0.6], abs=0.066)


def test_what_cannot_be_followed_along_a_text_is_refused():
    draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    text = logged(draft, target, (1, 0))
    with pytest.raises(
        ValueError, match="rule is BlockVerificationPreprint, which leaves more behind"
    ):
        replay(text, BlockVerificationPreprint, "1x1")
    with pytest.raises(ValueError, match="tree is 2x1: a rule for one block verifies a chain"):
        replay(text, TokenVerification, "2x1")
    with pytest.raises(ValueError, match="tree is top2: drafts that are certain"):
        replay(text, TargetOnly, "top2")
    drafted = LoggedBlock(text.draft, text.target, (1, 0))
    with pytest.raises(ValueError, match=r"sampling\[0\] is not the target there"):
        replay(drafted, TokenVerification, "1")
    with pytest.raises(ValueError, match="rule is Lenience, whose texts are not the target's"):
        replay(text, Lenience.of_pair, "1")
    with pytest.raises(ValueError, match="text is 'x'"):
        replay("x", TokenVerification, "1")


def test_rows_that_are_read_one_by_one_refuse_a_token_that_the_target_never_draws():
    draft, target = np.array([[0.5, 0.5]] * 3), np.array([[0.5, 0.5], [1, 0], [1, 0]])
    asked = [(RecursiveRejection, as_shape("1"))]
    [levels] = levels_along((1, 0, 0), iter(draft), iter(target), asked)
    assert levels.shape == (1, 3)
    with pytest.raises(ValueError, match=r"tokens\[1\] is 1, which the target never draws there"):
        levels_along((1, 1, 0), iter(draft), iter(target), asked)
