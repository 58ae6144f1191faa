"""Drafted blocks that were logged: an unbiased estimate of E[τ], and the blocks of a trace."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from block_models import SIZES, model_pairs
from instances import EPS
from searching import NIGHTLY

from otspec.blocks import BLOCK_RULES, BlockVerificationPreprint, TokenVerification
from otspec.datasets import load_smollm2
from otspec.logged import LoggedBlock, compare_on_blocks
from otspec.models import EndingModel
from otspec.models.derived import LoggedModel
from otspec.rules import RecursiveRejection
from otspec.traces import Trace, Warp, Warping

pytestmark = pytest.mark.usefixtures("rules_made_once")

DRAFT, TARGET = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], [[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]]
LOGGED = LoggedBlock(DRAFT, TARGET, [0, 1])


def logged(draft, target, block, rows):
    heads = [block[:depth] for depth in range(rows)]
    return LoggedBlock([draft(x) for x in heads], [target(x) for x in heads], block)


@pytest.mark.parametrize(("n", "length"), SIZES)
def test_over_all_blocks_the_estimates_have_the_exact_mean(n, length):
    for index, case in enumerate(model_pairs(704, n, length, 16 if NIGHTLY else 8)):
        draft, target = case.exact
        blocks = [
            (mass, logged(draft, target, block, length + index % 2))
            for block, mass in draft.texts(length)
        ]
        for shorter in range(1, length + 1):
            means = [Fraction(0)] * 3
            for mass, block in blocks:
                found = [block.expected(rule, shorter) for rule in BLOCK_RULES.values()]
                assert {type(value) for value in found} == {Fraction}
                assert 0 <= found[0] <= found[1] <= found[2] <= shorter
                means = [mean + mass * value for mean, value in zip(means, found, strict=True)]
            taus = np.arange(shorter + 1)
            for rule_class, mean in zip(BLOCK_RULES.values(), means, strict=True):
                assert mean == rule_class(draft, target, shorter).expected()
                kept = [mass * (block.kept(rule_class, shorter) @ taus) for mass, block in blocks]
                assert sum(kept) == mean


def test_floats_estimate_what_fractions_do_to_rounding():
    for case in model_pairs(705, 3, 3, 24 if NIGHTLY else 10):
        draft, target = case.exact
        for block, _ in draft.texts(3):
            exact = logged(draft, target, block, 3)
            rough = logged(*case.float, block, 3)
            for rule_class in BLOCK_RULES.values():
                found = rough.expected(rule_class, 3)
                assert type(found) is float
                # 3 sums of 3 products of at most 12 rounded factors.
                assert abs(found - exact.expected(rule_class, 3)) <= 9 * 16 * EPS
                assert rough.kept(rule_class, 3).shape == (4,)


@pytest.mark.parametrize(("n", "length"), [(2, 3), (3, 2), (3, 3)])
def test_blocks_that_end_have_the_exact_mean_up_to_their_end(n, length):
    for case in model_pairs(706, n, length, 14):
        draft, target = case.exact
        ending = EndingModel(target, [0])
        blocks = []
        for text, mass in draft.texts(length):
            rows = [[model(text[:i]) for i in range(length)] for model in (draft, target)]
            blocks.append((mass, LoggedBlock(*rows, text, end={0})))
        for rule_class in BLOCK_RULES.values():
            wanted = rule_class(draft, ending, length).expected()
            assert sum(mass * each.expected(rule_class, length) for mass, each in blocks) == wanted
            laws = [(mass, each.kept(rule_class, length)) for mass, each in blocks]
            assert sum(mass * (law @ np.arange(len(law))) for mass, law in laws) == wanted
        # A tree that is a chain, by maximal coupling, is token verification.
        tree = [
            mass * each.expected_of_tree((1,) * length, RecursiveRejection) for mass, each in blocks
        ]
        assert sum(tree) == TokenVerification(draft, ending, length).expected()


def test_a_block_that_ends_is_one_of_any_greater_length():
    ended = LoggedBlock(DRAFT, TARGET, [1, 0], end=[1])
    assert (ended.tokens, ended.ended, LOGGED.ended) == ((1,), True, False)
    assert (
        ended.kept(TokenVerification, 5).tolist()
        == ended.kept(TokenVerification, 1).tolist()
        == [0, 1]
    )
    assert ended.expected(BlockVerificationPreprint, 5) == ended.expected(
        BlockVerificationPreprint, 1
    )
    assert compare_on_blocks([ended], [4])[0].expected == 0.5
    with pytest.raises(ValueError, match="end holds 3"):
        LoggedBlock(DRAFT, TARGET, [1], end=[3])


def test_a_logged_block_by_hand():
    assert LOGGED.tokens == (0, 1)
    # 0.5 = min(1, 0.25 / 0.5) for token 0, then 0.25 / 0.5 for token 1.
    assert LOGGED.kept(TokenVerification, 2).tolist() == [0.5, 0.25, 0.25]
    assert LOGGED.kept(TokenVerification, 1).tolist() == [0.5, 0.5]
    # 0.25 + 0.25 of the first tokens, and 0.5 of min(0.25, 0.5) + 0.25 + 0.25 of the second.
    assert LOGGED.expected(TokenVerification, 1) == 0.5
    assert LOGGED.expected(TokenVerification, 2) == 0.5 + 0.5 * 0.75
    # Ratios: 1/2, then 1, 1/4 and 1/2 for the second tokens.
    assert LOGGED.expected(BlockVerificationPreprint, 2) == 0.5 + 0.25 * 1 + 0.5 * 0.25 + 0.25 * 0.5
    never = LoggedBlock(DRAFT, TARGET, [2, 1])
    assert (
        never.expected(BlockVerificationPreprint, 2) == never.expected(TokenVerification, 2) == 0.5
    )
    assert never.kept(TokenVerification, 2).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LoggedBlock(DRAFT, TARGET[:1], [0]), r"draft has 2 rows and target 1"),
        (lambda: LoggedBlock(DRAFT, TARGET, []), r"tokens has 0 tokens"),
        (lambda: LoggedBlock(DRAFT, TARGET, [0, 1, 0]), r"tokens has 3 tokens, .* rows for 2"),
        (lambda: LoggedBlock([], [], []), r"tokens has 0 tokens"),
        (lambda: LoggedBlock([], [], [1]), r"tokens has 1 tokens, but there are rows for 0"),
        (lambda: LoggedBlock([[0.5, 0.6]], [[0.5, 0.5]], [0]), r"draft\[0\] sums to 1.1"),
        (lambda: LoggedBlock([[0.5, 0.5]], [[1.0]], [0]), r"draft has 2 tokens and target has 1"),
        (lambda: LoggedBlock([["1/2", "1/2"]], [[0.5, 0.5]], [0]), r"draft is exact but target"),
        (
            lambda: LoggedBlock([[0.5, 0.5], [1.0]], [[0.5, 0.5], [1.0]], [0, 0]),
            r"draft\[0\] has 2 tokens and draft\[1\] has 1",
        ),
        (
            lambda: LoggedBlock([[1.0], ["1"]], [[1.0], ["1"]], [0, 0]),
            r"draft\[1\] is exact but draft\[0\] is float",
        ),
        (lambda: LOGGED.kept(TokenVerification, 3), r"length is 3, but the block has 2 tokens"),
        (
            lambda: LOGGED.expected(BlockVerificationPreprint, 3),
            r"length is 3, but the block has 2 tokens",
        ),
        (lambda: LOGGED.expected(BlockVerificationPreprint, 0), r"length must be at least 1"),
        (lambda: LOGGED.kept(BlockVerificationPreprint, 1.5), r"length must be an integer"),
        (lambda: compare_on_blocks([], [1]), r"blocks is empty"),
        (lambda: compare_on_blocks([LOGGED], [3]), r"length is 3"),
    ],
)
def test_unusable_logs_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("token", [-1, 1, 2])
def test_a_token_that_is_never_drafted_is_refused(token):
    def block():
        return LoggedBlock([[1.0, 0.0]], [[0.5, 0.5]], [token])

    for ask in (
        lambda: block().kept(TokenVerification, 1),
        lambda: block().expected(BlockVerificationPreprint, 1),
        lambda: compare_on_blocks([block()], [1]),
    ):
        says = rf"tokens\[0\] is {token}, (which the draft model never|but token ids run)"
        with pytest.raises(ValueError, match=says):
            ask()


def test_a_logged_model_answers_along_its_text_only():
    model = LoggedModel(LOGGED.draft, (0, 1), "draft")
    assert model((0,)).tolist() == DRAFT[1]
    assert (model.n, model.exact) == (3, False)
    for prefix in [(1,), (0, 1), (0, 1, 2)]:
        with pytest.raises(ValueError, match=r"the draft model was not logged after \("):
            model(prefix)


def test_comparisons_are_means_with_their_standard_errors():
    other = LoggedBlock(DRAFT, TARGET, [1, 0])
    rows = compare_on_blocks(iter([LOGGED, other]), [1, 2])
    assert [row.length for row in rows] == [1] * 3 + [2] * 3
    for row, rule_class in zip(rows, [*BLOCK_RULES.values()] * 2, strict=True):
        values = [block.expected(rule_class, row.length) for block in (LOGGED, other)]
        assert row.rule == rule_class.title
        assert row.expected == sum(values) / 2
        assert row.error == pytest.approx(abs(values[0] - values[1]) / 2, abs=4 * EPS)
        best = [block.expected(BlockVerificationPreprint, row.length) for block in (LOGGED, other)]
        assert row.optimum == sum(best) / 2
        assert row.gap == row.optimum - row.expected
        assert row.efficiency == row.expected + 1
    assert all(np.isnan(row.error) for row in compare_on_blocks([LOGGED], [1]))


@pytest.fixture(scope="module")
def bundled():
    return list(load_smollm2().blocks())


def test_blocks_of_a_sample_are_those_that_were_drafted(bundled):
    drafted = load_smollm2().drafted
    assert [list(block.tokens) for block in bundled] == drafted.draft_tokens.tolist()
    for (text, position), draft, target in drafted.pairs():
        assert (bundled[text].draft[position] == draft).all()
        assert (bundled[text].target[position] == target).all()


def test_on_the_bundled_trace_the_rules_are_ordered_block_by_block(bundled):
    for block in bundled:
        for length in (1, 4, 8):
            token, published, preprint = (
                block.expected(rule, length) for rule in BLOCK_RULES.values()
            )
            # Pairwise sums over 49,152 < 2^16 tokens and a few more roundings, at each depth.
            rounding = length * 20 * EPS
            assert 0 < token <= published + rounding
            assert published <= preprint + rounding
            assert preprint <= length
            for rule in BLOCK_RULES.values():
                kept = block.kept(rule, length)
                assert abs(kept.sum() - 1) <= 20 * EPS
                assert kept.min() >= 0
    first = compare_on_blocks(bundled, [1])
    assert max(row.expected for row in first) - min(row.expected for row in first) <= 20 * EPS


def test_traces_of_any_shape_give_a_block_for_each_text():
    rng = np.random.default_rng(3)
    draft, target = (np.log(rng.dirichlet(np.ones(4), (2, 3, 3))) for _ in range(2))
    tokens = rng.integers(0, 4, (2, 3, 2), dtype=np.int32)
    found = list(Trace(draft, target, tokens).blocks())
    assert [list(block.tokens) for block in found] == tokens.reshape(6, 2).tolist()
    assert [len(block.draft) for block in found] == [2] * 6
    wanted = np.exp(target.reshape(6, 3, 4))[:, :2]
    assert np.abs(np.array([block.target for block in found]) - wanted).max() <= 16 * EPS
    single = list(Trace(draft[0, 0], target[0, 0], np.array([1, 2, 3])).blocks())
    assert [block.tokens for block in single] == [(1, 2, 3)]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (None, r"the trace has no draft_tokens: log"),
        (np.zeros((2, 3), int), r"draft_tokens has shape \(2, 3\) and type int.*\(2, 2, 4\)"),
        (np.zeros((1, 2), int), r"draft_tokens has shape \(1, 2\)"),
        (np.zeros((2, 0), int), r"draft_tokens has shape \(2, 0\)"),
        (np.zeros(2, int), r"draft_tokens has shape \(2,\)"),
        (np.zeros((2, 2)), r"draft_tokens has shape \(2, 2\) and type float64"),
    ],
)
def test_traces_without_usable_tokens_have_no_blocks(tokens, message):
    logits = np.zeros((2, 2, 4))
    with pytest.raises(ValueError, match=message):
        next(Trace(logits, logits, tokens).blocks())


def test_blocks_are_read_at_other_temperatures_with_the_rows_that_they_were_drawn_from():
    rng = np.random.default_rng(4)
    draft, target = (np.log(rng.dirichlet(np.ones(4), (2, 3))) for _ in range(2))
    tokens = rng.integers(0, 4, (2, 2))
    trace = Trace(draft, target, tokens)
    for block, as_drawn in zip(
        trace.blocks(Warping(0.5, draft=Warp(2.0))), trace.blocks(), strict=True
    ):
        assert as_drawn.sampling is None
        assert np.array_equal(block.sampled, as_drawn.draft)
        for side, temperature in (("draft", 2.0), ("target", 0.5)):
            powers = np.array(getattr(as_drawn, side)) ** (1 / temperature)
            wanted = powers / powers.sum(axis=1, keepdims=True)
            assert np.allclose(getattr(block, side), wanted, rtol=1e-12)
    assert next(trace.blocks(Warping(0.5, draft=Warp()))).kept(TokenVerification, 2).size == 3
    beside = Trace(draft, target, drafted=trace)
    assert [block.tokens for block in beside.blocks(Warping(0.7))] == [
        block.tokens for block in trace.blocks()
    ]


def test_texts_of_the_target_are_those_of_its_own_temperature():
    rng = np.random.default_rng(5)
    draft, target = (np.log(rng.dirichlet(np.ones(4), (2, 3))) for _ in range(2))
    tokens = rng.integers(0, 4, (2, 3))
    trace = Trace(draft, target, target_tokens=tokens)
    for text in trace.texts(Warping(0.5, top_k=4, draft=Warp(1.0, top_k=4))):
        assert np.array_equal(text.sampled, text.target)
    for text, block in zip(trace.texts(), trace.blocks(Warping(0.5)), strict=True):
        assert text.tokens == block.tokens
        assert np.array_equal(block.sampled, text.target)
    with pytest.raises(ValueError, match="the trace has no target_tokens"):
        next(Trace(draft, target, tokens).texts())
    with pytest.raises(ValueError, match=r"target_tokens has shape \(2, 4\)"):
        next(Trace(draft, target, target_tokens=np.zeros((2, 4), int)).texts())
    with pytest.raises(ValueError, match=r"warping is 0\.5"):
        next(trace.blocks(0.5))
