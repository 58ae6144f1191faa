"""Degenerate rows, extreme uniform numbers, masks, ranks and dtypes; and what is refused."""

import re

import batch_table
import numpy as np
import pytest
from batch_table import MASKED, drafts_number, drafts_of

from otspec import batch

MOST = 3
RULES = {name: drafts_number(name, MOST) for name in batch_table.RULES}
ALMOST_ONE = {np.float32: 1 - 2**-24, np.float64: 1 - 2**-53}


def rows(count, n, dtype, seed=0):
    """Random rows, many of them with zeros and ties."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, (2, count, n)) * rng.choice([1.0, 1e-3, 1e-30], (2, count, n))
    weights[..., -3:] += 0.1
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights.astype(dtype)


@pytest.mark.parametrize("dtype", ALMOST_ONE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", RULES)
def test_a_token_of_target_probability_0_is_never_emitted(name, dtype):
    k = RULES[name]
    count = 500 if name == "pooled_selection_without_replacement" else 3_000  # a quadrature each
    draft, target = rows(count, 12, dtype)
    rng = np.random.default_rng(1)
    drafts = drafts_of(name, draft, rng.random((count, k)), MOST)
    for extreme in (0.0, ALMOST_ONE[dtype]):
        uniforms = rng.random((count, k + 1)).astype(dtype)
        uniforms[rng.random(uniforms.shape) < 0.5] = extreme
        token = getattr(batch, name)(draft, target, drafts, uniforms).token
        assert (np.take_along_axis(target, token[:, None], axis=1) > 0).all()


@pytest.mark.parametrize("drafter", ["sample_iid", "sample_without_replacement", "sample_spechub"])
@pytest.mark.parametrize("dtype", ALMOST_ONE, ids=lambda dtype: dtype.__name__)
def test_a_token_of_draft_probability_0_is_never_drafted(drafter, dtype):
    draft, _ = rows(3_000, 300, dtype)
    for extreme in (0.0, ALMOST_ONE[dtype]):
        uniforms = np.full((3_000, 2), extreme, dtype)
        drafts = getattr(batch, drafter)(draft, uniforms)
        assert (np.take_along_axis(draft, drafts, axis=1) > 0).all()
        if drafter != "sample_iid":
            assert (drafts[:, 0] != drafts[:, 1]).all()


@pytest.mark.parametrize("dtype", ALMOST_ONE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize(
    "name",
    ["maximal_coupling", "recursive_rejection", "recursive_rejection_without_replacement"],
)
def test_equal_rows_always_accept_the_first_draft(name, dtype):
    k = RULES[name]
    draft, _ = rows(500, 40, dtype)
    drafts = drafts_of(name, draft, np.random.default_rng(0).random((500, k)), MOST)
    uniforms = np.full((500, k + 1), ALMOST_ONE[dtype], dtype)
    result = getattr(batch, name)(draft, draft, drafts, uniforms)
    assert (result.index == 0).all()
    assert (result.token == drafts[:, 0]).all()
    assert result.accepted.all()


@pytest.mark.parametrize("dtype", ALMOST_ONE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", ["k_sequential", "pooled_selection", "spechub"])
def test_equal_rows_accept_but_for_rounding(name, dtype):
    k = RULES[name]
    draft, _ = rows(500, 40, dtype)
    rng = np.random.default_rng(0)
    drafts = drafts_of(name, draft, rng.random((500, k)), MOST)
    # Sums of 40 numbers, and k − 1 differences of powers of them.
    uniforms = np.minimum(rng.random((500, k + 1)), 1 - 64 * k * np.finfo(dtype).eps)
    result = getattr(batch, name)(draft, draft, drafts, uniforms)
    assert (result.index >= 0).all()
    assert result.accepted.all()


@pytest.mark.parametrize("name", RULES)
def test_rows_of_zeros_give_no_token(name):
    k = RULES[name]
    nothing = np.zeros((2, 300), np.float32)
    drafts = np.zeros((2, k), np.int64)
    result = getattr(batch, name)(nothing, nothing, drafts, np.full((2, k + 1), 0.5, np.float32))
    assert result.token.tolist() == [-1, -1]
    assert not result.accepted.any()


@pytest.mark.parametrize("name", RULES)
def test_no_rows_are_no_error(name):
    k = RULES[name]
    empty = np.zeros((0, 300), np.float32)
    result = getattr(batch, name)(
        empty, empty, np.zeros((0, k), np.int64), np.zeros((0, k + 1), np.float32)
    )
    assert [part.shape for part in result] == [(0,)] * 3


@pytest.mark.parametrize("name", RULES)
def test_leading_axes_of_any_rank(name):
    k = RULES[name]
    draft, target = rows(6, 300, np.float64)
    uniforms = np.random.default_rng(0).random((6, k + 1))
    drafts = drafts_of(name, draft, uniforms, MOST)
    rule = getattr(batch, name)
    flat = rule(draft, target, drafts, uniforms)
    shaped = rule(*(values.reshape(3, 1, 2, -1) for values in (draft, target, drafts, uniforms)))
    single = rule(draft[4], target[4], drafts[4], uniforms[4])
    for whole, parted, one in zip(flat, shaped, single, strict=True):
        np.testing.assert_array_equal(whole.reshape(3, 1, 2), parted)
        assert one.shape == ()
        assert one == whole[4]


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_leaves_out_drafts_and_may_leave_none(name):
    k = RULES[name]
    draft, target = rows(400, 300, np.float64)
    uniforms = np.random.default_rng(0).random((400, k + 1))
    uniforms[:, :-1] = 0.9 + 0.1 * uniforms[:, :-1]
    drafts = drafts_of(name, draft, uniforms, MOST)
    rule = getattr(batch, name)
    counts = np.arange(400) % (k + 1)
    mask = np.arange(k) < counts[:, None]
    masked = rule(draft, target, np.where(mask, drafts, -1), uniforms, mask=mask)
    assert (masked.index < counts).all()
    for count in range(1, k + 1):
        some = counts == count
        if name.startswith("pooled_selection") and count < k:
            continue  # the number that chooses is the last draft's, counted or not
        columns = [*range(count), k]
        fewer = rule(draft[some], target[some], drafts[some][:, :count], uniforms[some][:, columns])
        np.testing.assert_array_equal(masked.token[some], fewer.token)
        np.testing.assert_array_equal(masked.index[some], fewer.index)
    none = counts == 0
    from_target = batch.sample_iid(target[none], uniforms[none, -1:])[:, 0]
    np.testing.assert_array_equal(masked.token[none], from_target)
    assert not masked.accepted[none].any()


def test_half_precision_is_computed_in_float32():
    draft, target = (part.astype(np.float16) for part in rows(20, 300, np.float32))
    uniforms = np.random.default_rng(0).random((20, 4), dtype=np.float32)
    drafts = batch.sample_iid(draft, uniforms[:, :3])
    for name in ("recursive_rejection", "k_sequential", "pooled_selection"):
        found = getattr(batch, name)(draft, target, drafts, uniforms)
        wide = draft.astype(np.float32), target.astype(np.float32)
        for one, other in zip(found, getattr(batch, name)(*wide, drafts, uniforms), strict=True):
            np.testing.assert_array_equal(one, other)


ROWS = np.full((2, 4), 0.25)
DRAFTS = np.zeros((2, 3), np.int64)
UNIFORMS = np.full((2, 4), 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, ROWS[:, :3], DRAFTS, UNIFORMS), r"draft has shape \(2, 4\) and target \(2, 3\)"),
        ((ROWS, ROWS.astype(np.float32), DRAFTS, UNIFORMS), "draft is float64 and target float32"),
        ((ROWS.astype(int), ROWS, DRAFTS, UNIFORMS), "draft has dtype int64"),
        ((ROWS[:, :0], ROWS[:, :0], DRAFTS, UNIFORMS), r"draft has shape \(2, 0\)"),
        ((ROWS, ROWS, DRAFTS[:1], UNIFORMS), r"drafts has shape \(1, 3\)"),
        ((ROWS, ROWS, DRAFTS[:, :0], UNIFORMS), "at least one draft"),
        ((ROWS, ROWS, ROWS, UNIFORMS), "drafts has dtype float64"),
        ((ROWS, ROWS, DRAFTS, UNIFORMS[:, :3]), r"must be \(2, 4\)"),
        ((ROWS, ROWS, DRAFTS, UNIFORMS.astype(np.float16)), "uniforms has dtype float16"),
    ],
)
def test_unfit_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        batch.recursive_rejection(*arguments)


def test_other_unfit_arguments_are_named():
    with pytest.raises(ValueError, match="exactly k = 1"):
        batch.maximal_coupling(ROWS, ROWS, DRAFTS, UNIFORMS)
    with pytest.raises(ValueError, match="mask is int64"):
        batch.k_sequential(ROWS, ROWS, DRAFTS, UNIFORMS, mask=DRAFTS)
    with pytest.raises(ValueError, match="grades is 1"):
        batch.pooled_selection(ROWS, ROWS, DRAFTS, UNIFORMS, grades=1)
    with pytest.raises(ValueError, match="only 4 tokens"):
        batch.sample_without_replacement(ROWS, np.zeros((2, 5)))
    with pytest.raises(ValueError, match="two are needed"):
        batch.sample_spechub(ROWS, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="k at least 1"):
        batch.sample_iid(ROWS, np.zeros((2, 0)))
    with pytest.raises(ValueError, match=r"drafts has shape \(2,\): .*\(..., K, L\), K at least 1"):
        batch.greedy_multi_path(ROWS, np.full((3, 4), 0.25), np.zeros(2, int), np.zeros(3))


BLOCK = np.full((6, 2, 4), 0.25), np.full((6, 3, 4), 0.25), np.zeros((6, 2), int), np.ones((6, 3))


@pytest.mark.parametrize(
    ("function", "place", "shape", "message"),
    [
        ("block_verification", 0, (4,), "draft has shape (4,): it must be (..., L, V), L at "),
        ("block_verification", 0, (6, 0, 4), "draft has shape (6, 0, 4): it must be (..., L, V)"),
        ("block_verification", 1, (6, 2, 4), "the target has one place more, (6, 3, 4)"),
        ("block_verification", 2, (6, 3), "drafts has shape (6, 3): it must be (6, 2)"),
        ("block_verification", 3, (6, 2), "uniforms has shape (6, 2): it must be (6, 3)"),
        ("greedy_multi_path", 3, (6, 3), "uniforms has shape (6, 3): it must be (3,)"),
    ],
)  # fmt: skip
def test_blocks_that_do_not_fit_are_told_the_shape_that_does(function, place, shape, message):
    given = list(BLOCK)
    given[place] = np.resize(given[place], shape)
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(batch, function)(*given)
