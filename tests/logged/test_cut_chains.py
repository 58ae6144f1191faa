"""Cuts of logged chains: unbiased over all drafted blocks, and what costs make of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from otspec.blocks import BlockVerification
from otspec.blocks.policies import policies
from otspec.logged import LoggedBlock, cut_chains_on_blocks
from otspec.logged.comparison import CHAINS, _drafted, _tokens
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


def cut_by_hand(name, threshold, length, block):
    """Return how many of the first tokens are drafted, as the policies are stated."""
    path, drafted = 1, 0
    for token, row in list(zip(block.tokens, block.draft, strict=True))[:length]:
        if name == "confidence-max" and max(row) < threshold:
            break
        drafted += 1
        path *= row[token]
        if {"confidence-kept": row[token], "path-kept": path}.get(name, 1) < threshold:
            break
    return drafted


@pytest.mark.parametrize("batch", [1, 3, 16])
def test_the_best_cut_is_the_best_of_all_by_hand(batch) -> None:
    blocks = [logged(text) for text, _ in DRAFT.texts(3)]
    blocks += [logged((1,), end=[1]), logged((0, 1), end=[1])]
    kept = [
        [1, *(1 + block.kept(BlockVerification, n) @ range(n + 1) for n in range(1, m + 1))]
        for block in blocks
        for m in [len(block.tokens)]
    ]
    found = {}
    for cut in product(CHAINS, (0, Fraction(2, 5), Fraction(7, 10)), range(4)):
        drafted = [cut_by_hand(*cut, block) for block in blocks]
        tokens = np.array([batch * own[n] for own, n in zip(kept, drafted, strict=True)], float)
        seconds = np.array([n / 20 + max(1, batch * (1 + n) / 8) for n in drafted])
        found[cut] = tokens.sum() / seconds.sum(), tokens, seconds, np.mean(drafted)
    best = max(found, key=lambda each: found[each][0])
    rate, tokens, seconds, drafted = found[best]
    (cut,) = cut_chains_on_blocks(
        blocks, 0.05, "1:1,8:1,64:8", batches=[batch], thresholds=(0, "2/5", "7/10")
    )
    assert cut.rate.value == pytest.approx(rate, rel=1e-12)
    assert (cut.batch, cut.length, cut.drafted) == (batch, best[2], drafted)
    assert cut.threshold == best[1]
    # The t interval of a ratio of means of 10 blocks; 2.262 is the quantile of Student's table.
    off = (tokens - rate * seconds) / seconds.sum()
    radius = 2.262157 * np.sqrt(10 / 9 * (off**2).sum())
    assert cut.rate.high - rate == pytest.approx(radius, rel=1e-6)
    assert rate - cut.rate.low == pytest.approx(radius, rel=1e-6)


def test_chains_are_as_long_as_the_shortest_block_that_goes_on() -> None:
    blocks = [logged((0, 0, 0)), logged((0, 0)), logged((1,), end=[1])]
    (found,) = cut_chains_on_blocks(blocks, 1e-9, 1)
    assert (found.length, found.drafted) == (2, 5 / 3)


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks is empty"):
        cut_chains_on_blocks([], 1, 1)
    with pytest.raises(ValueError, match="batches"):
        cut_chains_on_blocks([logged((0, 1))], 1, 1, batches=(0,))
    for given in ((0, -0.1), (0, 1.1)):
        with pytest.raises(ValueError, match=r"thresholds\[1\] is .*: it must be between 0 and 1"):
            cut_chains_on_blocks([logged((0, 1))], 1, 1, thresholds=given)
