"""Cuts of logged chains: unbiased over all drafted blocks, and what costs make of them."""

from __future__ import annotations

import pytest

from otspec.blocks import BlockVerification
from otspec.blocks.policies import policies
from otspec.logged import LoggedBlock, cut_chains_on_blocks
from otspec.logged.cut_chains import _drafted, _tokens
from otspec.models import markov

DRAFT = markov([["9/10", "1/10"], ["1/3", "2/3"]])
TARGET = markov([["1/2", "1/2"], ["1/4", "3/4"]])


def logged(text, end=()):
    draft = [DRAFT(text[:i]) for i in range(len(text))]
    return LoggedBlock(draft, [TARGET(text[:i]) for i in range(len(text))], text, end)


@pytest.mark.parametrize("name", ["confidence-kept", "confidence-max", "path-kept", "entropy"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_mean_over_all_blocks_is_what_the_policy_keeps(name: str, length: int) -> None:
    policy = policies("1/2", length)[name]
    rule = policy.rule(DRAFT, TARGET, BlockVerification(DRAFT, TARGET, length).verify)
    tokens = drafted = 0
    for text, mass in DRAFT.texts(3):
        block = logged(text)
        cut = _drafted(policy, block)
        tokens += float(mass) * _tokens(block)[cut]
        drafted += mass * cut
    assert tokens == pytest.approx(float(1 + rule.expected()), abs=1e-12)
    assert drafted == rule.nodes()


def test_nothing_is_drafted_behind_an_end_token() -> None:
    assert _drafted(policies("0", 3)["confidence-kept"], logged((0, 1), end=[1])) == 2


def test_drafts_get_fewer_with_load_and_none_is_an_answer() -> None:
    blocks = [logged(text) for text, _ in DRAFT.texts(3) for _ in range(2)]
    found = cut_chains_on_blocks(blocks, 0.02, "1:1,4:1,64:16", batches=(1, 8, 64))
    assert [each.batch for each in found] == [1, 8, 64]
    assert found[0].drafted >= found[1].drafted >= found[2].drafted
    assert (found[0].length, found[0].threshold) == (3, 0)
    assert (found[2].policy, found[2].drafted) == ("no draft", 0)
    assert found[2].rate.value == pytest.approx(64 / 16)
    (dear,) = cut_chains_on_blocks(blocks, 9, 1)
    assert dear.policy == "no draft"
    assert dear.rate.value == 1


def test_a_threshold_is_chosen_where_it_pays() -> None:
    # After token 0 the draft is unsure, and half of its tokens are lost.
    first = [["2/5", "3/5"]]
    draft = markov([["1/2", "1/2"], ["1/10", "9/10"]], first=first)
    target = markov([["0", "1"], ["1/10", "9/10"]], first=first)
    blocks = [
        LoggedBlock([draft(()), draft(text[:1])], [target(()), target(text[:1])], text)
        for text, mass in draft.texts(2)
        for _ in range(int(mass * 50))
    ]
    (found,) = cut_chains_on_blocks(blocks, 0.5, 1, thresholds=(0.0, 0.55))
    assert (found.threshold, found.length) == (0.55, 2)
    # 1 token, the first draft, and after token 1 the second: 1.6 drafts.
    assert found.rate.value == pytest.approx(2.6 / 1.8)
    assert found.drafted == 1.6


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks is empty"):
        cut_chains_on_blocks([], 1, 1)
    with pytest.raises(ValueError, match="batches"):
        cut_chains_on_blocks([logged((0, 1))], 1, 1, batches=(0,))
