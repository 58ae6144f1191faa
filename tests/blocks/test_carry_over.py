"""Block verification that hands over one distribution (Theory, 47): lossless, and its rates."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from block_models import model_pairs

from otspec.blocks import (
    BlockVerification,
    CarryOverVerification,
    decode,
    decoded_after,
    decoded_law,
    long_run,
)
from otspec.blocks.base import enumerated_expected
from otspec.blocks.block_verification import ChainedResiduals
from otspec.blocks.carry_over import KeptTarget, split_law
from otspec.blocks.trees.verifiers.greedy_multi_path import GreatestPath
from otspec.models import EndingModel, TableModel, markov, memoryless

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
FAR = memoryless([Fraction(4, 5), Fraction(1, 5)]), memoryless([Fraction(1, 5), Fraction(4, 5)])
CHAINS = markov([["2/5", "3/5"], ["1/2", "1/2"]]), markov([["3/4", "1/4"], ["1/5", "4/5"]])

DEEP = 700  # tokens: a step inside the one before takes one call of Python, of a thousand


@pytest.mark.parametrize(
    "law",
    [
        lambda coin: ChainedResiduals(coin, coin, DEEP + 1),
        lambda coin: KeptTarget(coin, coin, 1, None),
        lambda coin: GreatestPath(coin, coin, 1),
    ],
)
def test_a_long_text_is_asked_for_at_once(law):
    # Draft and target are equal: nothing is left over, so that all laws are the target's.
    assert list(law(memoryless([0.5, 0.5]))((1,) * DEEP)) == [0.5, 0.5]


def rows(rng, n, parts=12):
    return np.array(
        [Fraction(int(c), parts) for c in np.bincount(rng.integers(0, n, parts), minlength=n)]
    )


def test_a_split_target_is_the_target_and_close_to_the_draft():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 6))
        draft, target = rows(rng, n), rows(rng, n)
        share = Fraction(int(rng.integers(1, 12)), 12)
        kept, corrected = split_law(draft, target, share, share)
        assert (share * kept + (1 - share) * corrected == target).all()
        assert kept.sum() == corrected.sum() == 1
        assert min(kept) >= 0 <= min(corrected)
        most = np.minimum(draft, target / (1 - share)).sum()
        assert np.minimum(draft, corrected).sum() == most
        assert (corrected[draft <= target] <= target[draft <= target]).all()
        assert (corrected[draft > target] >= target[draft > target]).all()
        # A share that is rounded down leaves the same target.
        kept, corrected = split_law(draft, target, share, share / 2)
        assert (share * kept + (1 - share) * corrected == target).all()


@pytest.mark.parametrize("models", list(model_pairs(4, 2, 2, 3)))
@pytest.mark.parametrize(("length", "first"), [(1, None), (2, 0), (2, None), (3, 0)])
def test_texts_are_the_targets_block_after_block(models, length, first):
    draft, target = models.exact
    rule = CarryOverVerification(draft, target, length, first)
    assert decoded_law(rule, 4) == dict(target.texts(4))
    assert rule.expected() == enumerated_expected(rule)


def test_shares_may_be_rounded():
    for parts, first in product((1, 2, 3), (0, 1)):
        rule = CarryOverVerification(*CHAINS, 2, first, parts)
        assert decoded_law(rule, 5) == dict(CHAINS[1].texts(5))
    nothing = CarryOverVerification(*CHAINS, 2, 0, parts=1)  # a share below 1 becomes 0
    assert nothing.rate() == CarryOverVerification(*CHAINS, 2, 2).rate()


def test_without_splits_it_is_block_verification():
    for length in (1, 2, 3):
        plain = BlockVerification(*COIN, length)
        rule = CarryOverVerification(*COIN, length, first=length)
        assert rule.rate() == plain.efficiency()
        assert {o.accepted: o.mass for o in rule.outcomes()} == {
            o.accepted: o.mass for o in plain.outcomes()
        }


def test_the_rates_of_the_coin_are_exact():
    # Length 1: after a correction, always token 1, which has 1/4, the coin itself is handed over.
    # A block that is handed it keeps its draft: of five blocks four decode 7/4 and one decodes 2.
    assert CarryOverVerification(*COIN, 1).rate() == Fraction(4 * 7, 5 * 4) + Fraction(2, 5)
    # Length 2: what the linear program finds over residuals of one token.
    best = long_run(*COIN, 2, reach=1, past=2)
    assert CarryOverVerification(*COIN, 2, 0).rate() == best.rate == Fraction(47, 19)
    rates = [CarryOverVerification(*COIN, 2, first).rate() for first in (1, 2)]
    assert rates == [Fraction(17, 7), Fraction(19, 8)]
    rates = [CarryOverVerification(*COIN, 3, first).rate() for first in (0, 1, 3)]
    assert rates == [Fraction(97, 32), Fraction(205, 68), Fraction(187, 64)]


def test_the_rate_is_where_many_blocks_lead():
    rule = CarryOverVerification(*COIN, 1)
    after = [decoded_after(rule, blocks) for blocks in (4, 5)]
    # A block is handed the coin with chance 1/4 unless it began so: the eigenvalues are 1 and -1/4.
    assert abs(after[1] - after[0] - rule.rate()) <= Fraction(1, 4**4)
    floats = [TableModel({(): [0.5, 0.5]}), TableModel({(): [0.25, 0.75]})]
    assert CarryOverVerification(*floats, 2, 0).rate() == pytest.approx(47 / 19, abs=1e-12)


def test_splits_after_the_last_draft_alone_never_lose_without_memory():
    rng = np.random.default_rng(3)
    for _ in range(25):
        n, length = rng.integers([2, 1], [4, 4]).tolist()
        draft, target = (memoryless(rows(rng, n)) for _ in range(2))
        plain = BlockVerification(draft, target, length).efficiency()
        assert CarryOverVerification(draft, target, length, length - 1, 4).rate() >= plain


def test_early_splits_may_lose():
    rates = [float(CarryOverVerification(*FAR, 4, first, 16).rate()) for first in (0, 2, 4)]
    assert rates[0] < rates[2] < rates[1]


def test_sampled_texts_have_the_rate():
    decoded = decode(CarryOverVerification(*COIN, 2, 0), 1_500, np.random.default_rng(0))
    # The tokens of 600 calls are 1 to 3: a standard error of at most 0.041.
    assert decoded.efficiency == pytest.approx(47 / 19, abs=0.16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CarryOverVerification(*COIN, 2, 3), "first must be at most 2, got 3"),
        (lambda: CarryOverVerification(*COIN, 2, parts=0), "parts"),
        (lambda: CarryOverVerification(*CHAINS, 3, 0).rate(most=5), "more than 5 ways"),
        (
            lambda: CarryOverVerification(COIN[0], EndingModel(COIN[1], [0]), 2).rate(),
            "target has texts that end",
        ),
        (
            lambda: CarryOverVerification(
                COIN[0], TableModel({(): ["1/2", "1/2"], (0,): [1, 0], (1,): [0, 1]}), 1
            ).rate(),
            "more than|never meet",
        ),
    ],
)
def test_bad_input_says_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()
