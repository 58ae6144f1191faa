"""Hierarchical Speculative Decoding: its public code is lossy, and with the cap it is published."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from block_models import model_pairs
from programs import ways
from searching import of_all

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    BlockVerification,
    HierarchicalVerification,
    compare_block_rules,
)
from otspec.logged import LoggedBlock
from otspec.models import memoryless
from validation.hsd import AS_CODED, WITH_CAP

COIN, BIASED = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
COUNTS = {(2, 1): 40, (2, 2): 160, (2, 3): 160, (3, 2): 160}
"""How many pairs of models for each alphabet and length, more than 500 in all at night."""


def follows(rule, block, branches):
    """Whether a rule keeps and corrects a block as an algorithm does, followed step by step."""
    found, kept = ways(rule, block), [Fraction(0)] * (len(block) + 1)
    for branch in branches:
        kept[branch.accepted] += branch.mass
        head = block[: branch.accepted]
        if branch.mass:
            assert list(found[head].following(())) == list(branch.following(()))
    assert rule.kept(block).tolist() == kept


@pytest.mark.parametrize(("n", "length"), COUNTS)
def test_with_the_cap_it_is_published_block_verification_exactly(n, length):
    lossy = 0
    for case in model_pairs(900, n, length, COUNTS[n, length]):
        target, draft = case.literal
        public = HierarchicalVerification(*case.exact, length)
        published = BlockVerification(*case.exact, length)
        same = True
        for block in draft.blocks(length):
            follows(public, block, AS_CODED(target, draft, block))
            follows(published, block, WITH_CAP(target, draft, block))
            same = same and public.kept(block).tolist() == published.kept(block).tolist()
        assert public.expected() >= published.expected()
        lossy += not same
        # What makes a difference in the first block makes the texts wrong.
        if length < 3 and not same:
            assert not audit_blocks(public, optimum=False).lossless
    assert lossy > of_all(20) if length > 1 else not lossy


def test_there_are_five_hundred_pairs_of_models():
    assert sum(COUNTS.values()) >= 500


def test_the_smallest_case_is_the_coin():
    report = audit_blocks(HierarchicalVerification(COIN, BIASED, 2))
    assert (report.lossless, report.witness) == (False, (1, 1, 1))
    assert report.expected == report.optimum == Fraction(23, 16)
    assert report.total_variation == Fraction(1, 16)
    assert report.error == Fraction(-1, 16)
    assert audit_blocks(HierarchicalVerification(COIN, BIASED, 1)).lossless


def test_it_is_in_no_table_of_lossless_rules():
    assert HierarchicalVerification not in BLOCK_RULES.values()
    titles = {row.rule for row in compare_block_rules(COIN, BIASED, [2])}
    assert HierarchicalVerification.title not in titles


def test_it_is_asked_like_any_rule_but_for_a_formula():
    rule = HierarchicalVerification(COIN, BIASED, 3)
    up_to = rule.expected_up_to()
    assert up_to == [
        HierarchicalVerification(COIN, BIASED, length).expected() for length in (1, 2, 3)
    ]
    assert rule.expected_after({(0,): "1/2", (1,): "1/2"}) == up_to[-1]
    assert len(rule.sample(np.random.default_rng(0)).accepted) <= 3
    logged = LoggedBlock([COIN(())] * 2, [BIASED(())] * 2, [1, 0])
    assert logged.kept(HierarchicalVerification, 2).tolist() == [0, Fraction(1, 4), Fraction(3, 4)]
    with pytest.raises(ValueError, match="has no formula of E\\[τ\\] for each token"):
        logged.expected(HierarchicalVerification, 2)
