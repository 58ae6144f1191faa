"""The rules for one block at full vocabulary against plain loops."""

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


def token_reference(draft, target, drafts, uniforms):
    """Token verification as it is written down."""
    for tau, x in enumerate(drafts):
        if uniforms[tau] >= min(1.0, target[tau, x] / draft[tau, x]):
            return tau, inverted(np.maximum(target[tau] - draft[tau], 0), uniforms[-1])
    return len(drafts), inverted(target[-1], uniforms[-1])


def preprint_reference(draft, target, drafts, uniforms):
    """The preprint's rule as it is written down, from the whole block to shorter ones."""
    length = len(drafts)
    every = np.arange(length)
    ratios = np.cumprod([1.0, *(target[every, drafts] / draft[every, drafts])])
    if uniforms[length - 1] < ratios[length]:
        return length, inverted(target[length], uniforms[-1])
    for tau in range(length - 1, -1, -1):
        gain = ratios[tau] * target[tau] - draft[tau]
        remaining, rejected = np.maximum(gain, 0), np.maximum(-gain, 0)
        if tau == 0 or uniforms[tau - 1] * rejected.sum() < remaining.sum():
            return tau, inverted(remaining, uniforms[-1])
    raise AssertionError


BY_NAME = {
    "token_verification": token_reference,
    "block_verification": reference,
    "block_verification_preprint": preprint_reference,
}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("n", [40, 32_000])
def test_every_block_is_the_reference_s(n, name):
    arguments = blocks(16, n)
    result = getattr(batch, name)(*arguments)
    wanted = [BY_NAME[name](*row) for row in zip(*arguments, strict=True)]
    assert list(zip(result.length.tolist(), result.token.tolist(), strict=True)) == wanted
    assert len(set(result.length.tolist())) > 2
    single = getattr(batch, name)(
        *(each.astype(np.float32) for each in arguments[:2]), *arguments[2:]
    )
    differing = (single.length != result.length) | (single.token != result.token)
    assert differing.sum() <= 1  # a uniform number next to a cut


def test_lists_are_refused_with_the_fix():
    with pytest.raises(ValueError, match="draft is a list: pass an array of NumPy"):
        batch.k_sequential([0.5, 0.5], [0.5, 0.5], [0], [0.1, 0.2])


@pytest.mark.parametrize("rule", [batch.token_verification, batch.block_verification])
def test_what_stands_behind_the_end_of_a_block_does_not_matter(rule):
    draft, target, drafts, uniforms = blocks(200, 5)
    lengths = np.arange(200) % (LENGTH + 1)
    mask = np.arange(LENGTH) < lengths[:, None]
    right = rule(draft, target, drafts, uniforms, mask=mask)
    behind = draft.copy(), target.copy()
    behind[0][~mask] = np.nan
    behind[1][:, 1:][~mask] = np.nan
    found = rule(*behind, np.where(mask, drafts, 0), uniforms, mask=mask)
    assert found.length.tolist() == right.length.tolist()
    assert found.token.tolist() == right.token.tolist()
    assert (found.length == lengths).any()
