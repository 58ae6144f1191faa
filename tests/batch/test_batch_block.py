"""Block verification at full vocabulary: a plain loop, shorter blocks, zeros."""

import numpy as np
import pytest
from batch_precision import pair
from batch_references import inverted

from otspec import batch

LENGTH = 4


def blocks(rows, n, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    pairs = [pair(n, dtype, seed + i) for i in range(rows * (LENGTH + 1))]
    draft, target = (np.stack(part).reshape(rows, LENGTH + 1, n) for part in zip(*pairs))  # noqa: B905
    draft = draft[:, :LENGTH]
    drafts = batch.sample_iid(draft, rng.random((rows, LENGTH, 1)))[..., 0]
    return draft, target, drafts, rng.random((rows, LENGTH + 1))


def reference(draft, target, drafts, uniforms):
    """The published rule as it is written down."""
    length = len(drafts)
    weight, weights, tau = 1.0, [1.0], 0
    for i, x in enumerate(drafts, start=1):
        weight = min(1.0, weight * target[i - 1, x] / draft[i - 1, x])
        weights.append(weight)
        if i < length:
            rest = np.maximum(weight * target[i] - draft[i], 0).sum()
            chance = rest / (rest + 1 - weight) if rest + 1 - weight > 0 else 1.0
        else:
            chance = weight
        if uniforms[i - 1] < chance:
            tau = i
    if tau == length:
        return tau, inverted(target[tau], uniforms[-1])
    return tau, inverted(np.maximum(weights[tau] * target[tau] - draft[tau], 0), uniforms[-1])


@pytest.mark.parametrize("n", [40, 32_000])
def test_every_block_is_the_reference_s(n):
    arguments = blocks(16, n)
    result = batch.block_verification(*arguments)
    wanted = [reference(*row) for row in zip(*arguments, strict=True)]
    assert list(zip(result.length.tolist(), result.token.tolist(), strict=True)) == wanted
    assert len(set(result.length.tolist())) > 2


def test_a_shorter_block_is_a_block():
    draft, target, drafts, uniforms = blocks(16, 40)
    for length in range(1, LENGTH):
        mask = np.broadcast_to(np.arange(LENGTH) < length, drafts.shape)
        found = batch.block_verification(
            draft, target, np.where(mask, drafts, -1), uniforms, mask=mask
        )
        columns = [*range(length), LENGTH]
        wanted = batch.block_verification(
            draft[:, :length],
            target[:, : length + 1],
            drafts[:, :length],
            uniforms[:, columns],
        )
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_no_tokens_of_a_block_is_a_draw_from_the_target():
    draft, target, drafts, uniforms = blocks(16, 40)
    mask = np.zeros(drafts.shape, dtype=bool)
    result = batch.block_verification(draft, target, drafts, uniforms, mask=mask)
    assert not result.length.any()
    wanted = batch.sample_iid(target[:, 0], uniforms[:, -1:])[:, 0]
    np.testing.assert_array_equal(result.token, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_equal_distributions_keep_every_block(dtype):
    draft, target, drafts, uniforms = blocks(16, 40, dtype=dtype)
    target[:, :-1] = draft
    result = batch.block_verification(draft, target, drafts, uniforms)
    assert (result.length == LENGTH).all()


def test_tokens_of_target_probability_0_are_neither_kept_nor_drawn():
    draft, target, drafts, uniforms = blocks(400, 12, dtype=np.float32)
    target[..., ::3] = 0
    target /= target.sum(axis=-1, keepdims=True)
    for extreme in (0.0, 1 - 2**-24):
        uniforms = uniforms.astype(np.float32)
        uniforms[::2] = extreme
        length, token = batch.block_verification(draft, target, drafts, uniforms)
        assert (token % 3 != 0).all()
        kept = np.arange(LENGTH) < length[:, None]
        assert (drafts[kept] % 3 != 0).all()
        assert (length > 0).any()


def test_lists_are_refused_with_the_fix():
    with pytest.raises(ValueError, match="draft is a list: pass an array of NumPy"):
        batch.k_sequential([0.5, 0.5], [0.5, 0.5], [0], [0.1, 0.2])
