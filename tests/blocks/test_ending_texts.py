"""End-of-text tokens end a block: texts up to their end, and what is kept up to there, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from block_models import within
from ending_models import certain, ending_pairs, kept_up_to_end, law_up_to_end
from programs import verified
from searching import of_all

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    BlockVerificationPreprint,
    DraftSelection,
    HierarchicalVerification,
    compare_block_rules,
    decode,
    decoded_after,
    decoded_law,
    simulate,
)
from otspec.blocks.base import enumerated_expected
from otspec.models import EndingModel, TableModel, WarpedModel, memoryless
from otspec.programs import BlockProgram
from otspec.rules import KSequential
from otspec.solvers import solve

SIZES = {(2, 2): 40, (2, 3): 30, (3, 2): 40}
"""How many pairs of models for each alphabet and length."""


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize(("n", "length"), SIZES)
def test_texts_up_to_their_end_are_the_targets_exactly(n, length, rule_class):
    strict = 0
    for draft, target, end in ending_pairs(800, n, length, SIZES[n, length]):
        ending = EndingModel(target, end)
        rule = rule_class(draft, ending, length)
        wanted = law_up_to_end(target, end, length + 1)
        assert decoded_law(rule, length + 1) == wanted == dict(ending.texts(length + 1))
        # The longest block that the old rule has, with what is certain after an end token.
        padded = rule_class(certain(draft, end), certain(target, end), length)
        kept = kept_up_to_end(padded, end)
        assert rule.expected() == enumerated_expected(rule) == kept
        assert kept <= rule_class(draft, target, length).expected()
        strict += kept < rule_class(draft, target, length).expected()
        assert sum(outcome.mass for outcome in rule.outcomes()) == 1
    assert strict > of_all(9)


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_a_block_that_ends_is_a_shorter_block_exactly(rule_class):
    for draft, target, end in ending_pairs(801, 3, 3, 20):
        ending = EndingModel(target, end)
        rule = rule_class(draft, ending, 3)
        for text, _ in draft.texts(3):
            block = ending.up_to_end(text)
            kept = rule.kept(text)
            assert kept.tolist() == rule.kept(block).tolist()
            # Nothing was known of the end: the same law of a block of that length.
            wanted = rule_class(draft, target, len(block)).kept(block)
            assert kept.tolist() == wanted.tolist()
            drawn = verified(rule, (block,), np.random.default_rng(0)).accepted
            assert drawn == block[: len(drawn)]


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_audits_follow_texts_to_their_end(rule_class):
    for draft, target, end in ending_pairs(802, 2, 2, 20):
        report = audit_blocks(rule_class(draft, EndingModel(target, end), 2), 4)
        assert report.lossless
        assert report.texts == law_up_to_end(target, end, 4)
        assert report.gap >= 0
    coin, ending = memoryless(["1/2", "1/2"]), EndingModel(memoryless(["1/4", "3/4"]), [0])
    assert not audit_blocks(HierarchicalVerification(coin, ending, 2)).lossless


def test_the_preprints_rule_attains_the_block_program_up_to_the_end():
    for draft, target, end in ending_pairs(803, 2, 2, 24):
        ending = EndingModel(target, end)
        best = solve(BlockProgram(draft, ending, 2).build(), "highs").value
        assert abs(BlockVerificationPreprint(draft, ending, 2).expected() - best) <= 1e-9


def test_the_optimum_of_a_comparison_counts_up_to_the_end():
    coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    rows = compare_block_rules(coin, EndingModel(biased, [1]), [1, 2])
    assert [str(row.expected) for row in rows] == ["3/4"] * 3 + ["15/16", "1", "1"]


def test_decoding_stops_at_the_end():
    draft = TableModel({(): ["1/2", "1/4", "1/4"]})
    ending = EndingModel(TableModel({(): ["1/4", "1/2", "1/4"], (1,): ["1/2", "0", "1/2"]}), [2])
    rng, counts, size = np.random.default_rng(0), {}, 1_500
    for _ in range(size):
        found = decode(BlockVerificationPreprint(draft, ending, 2), 3, rng)
        text = found.tokens[:3]
        assert 2 not in found.tokens[:-1]
        assert len(text) == 3 or text[-1] == 2
        assert 1 <= found.calls <= 3
        counts[text] = counts.get(text, 0) + 1
    assert within(counts, dict(ending.texts(3)), size)
    over = BlockVerificationPreprint(draft.after((2,)), ending.after((2,)), 2)
    with pytest.raises(ValueError, match="of a text that is over"):
        decode(over, 3, rng)
    assert decoded_law(over, 3) == {(): 1}
    assert over.expected() == 0


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_tokens_of_several_blocks_are_counted_up_to_the_end(rule_class):
    for draft, target, end in ending_pairs(804, 2, 2, 12):
        rule = rule_class(draft, EndingModel(target, end), 2)
        # Two blocks bring at most six tokens: more texts of six have as many.
        once, twice = (decoded_after(rule, blocks) for blocks in (1, 2))
        assert 0 < once <= rule.efficiency()
        assert once <= twice <= 6
        ends = law_up_to_end(target, end, 6)
        assert twice <= sum(len(text) * mass for text, mass in ends.items())
    exact = rule_class(memoryless(["1/2", "1/2"]), EndingModel(memoryless(["1/4", "3/4"]), [1]), 2)
    found = simulate(exact, 500, seed=1)
    assert found.low <= exact.efficiency() <= found.high


def test_texts_that_trees_decode_have_the_targets_law_up_to_their_end():
    for draft, target, end in ending_pairs(805, 2, 2, 12):
        tree = DraftSelection(draft, EndingModel(target, end), "2x1", KSequential)
        assert decoded_law(tree, 3) == law_up_to_end(target, end, 3)
        padded = DraftSelection(certain(draft, end), certain(target, end), "2x1", KSequential)
        assert enumerated_expected(tree) == kept_up_to_end(padded, end)


def test_models_know_where_their_texts_end():
    table = TableModel({(): ["1/2", "1/4", "1/4"], (1,): ["0", "1", "0"]})
    model = EndingModel(table, [2, 1])
    assert (model.ended((0,)), model.ended((0, 1)), model.ended((0, 1, 0))) == (False, True, True)
    assert model.up_to_end((0, 2, 1)) == (0, 2)
    assert not table.ended((2, 1))
    assert table.up_to_end((2, 1)) == (2, 1)
    assert model((0, 2, 1)).tolist() == [0, 0, 1]
    assert model.context((0, 0)) == table.context((0, 0))
    assert model.context((2, 1)) == model.context((0, 2)) != model.context((1,))
    for after, ended in (((0,), False), ((0, 2), True)):
        rest = model.after(after)
        assert rest.ended(()) is ended
        assert rest.ended((1,))
        assert rest((0,)).tolist() == model((*after, 0)).tolist()
        assert rest.up_to_end((0, 1, 1)) == (() if ended else (0, 1))
    assert list(model.after((2,)).texts(3)) == [((), 1)]
    warped = WarpedModel(model, temperature="1/2")
    assert warped.ended((1,))
    assert warped((1,)).tolist() == [0, 1, 0]
    assert EndingModel(lambda _: [0.5, 0.5], [1])((1,)).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="end"):
        EndingModel(table, [3])
    with pytest.raises(ValueError, match="end"):
        EndingModel(table, 2)
    rule = BlockVerificationPreprint(table, model, 3)
    with pytest.raises(ValueError, match="block has 2 tokens, but the length is 3"):
        rule.kept((0, 0))
    assert rule.kept((0, 1)).sum() == 1
