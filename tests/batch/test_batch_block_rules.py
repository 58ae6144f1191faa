"""All batch rules for one block against the exact kernels of their classes, integrated exactly."""

from __future__ import annotations

import numpy as np
import pytest
from batch_laws import law_of
from batch_table import BLOCKS
from block_models import model_pairs
from programs import ways
from test_batch_block import LENGTH, blocks

from otspec import batch
from otspec.batch import Corrections
from otspec.blocks import BlockVerificationPreprint

ROUNDING = 1e-12
PREPRINT = batch.block_verification_preprint


def rows_along(model, text, block, count):
    """What a model says after a text and each beginning of a block, in floats."""
    return np.array([[float(p) for p in model((*text, *block[:i]))] for i in range(count)])


def many(rows, values):
    """Rows that are all alike."""
    if isinstance(values, Corrections):
        return Corrections(*(many(rows, each) for each in values))
    return np.broadcast_to(values, (rows, *np.shape(values)))


def called(function, models, text, block, uniforms, **options):
    """A batch function on one block, once for each row of uniform numbers."""
    draft, target = models
    arguments = (
        rows_along(draft, text, block, len(block)),
        rows_along(target, text, block, len(block) + 1),
        np.array(block),
    )
    count = len(uniforms)
    options = {name: many(count, value) for name, value in options.items()}
    return function(*(many(count, each) for each in arguments), uniforms, **options)


def law_along(function, models, text, block, **options):
    """The joint law of the kept length and the token after it, (L + 1, n)."""
    n, length = models[0].n, len(block)

    def outcome(uniforms):
        result = called(function, models, text, block, uniforms, **options)
        return result.length * n + result.token

    return law_of(outcome, length + 1, (length + 1) * n).reshape(length + 1, n)


def exact_law(rule, block):
    """The same of a class."""
    law = np.zeros((len(block) + 1, rule.target.n))
    for head, outcome in ways(rule, block).items():
        law[len(head)] = [float(outcome.mass * p) for p in outcome.following(())]
    return law


def drafted(rule, rng):
    """A block of the draft model."""
    block = ()
    for _ in range(rule.length):
        row = rule.draft(block).astype(float)
        block = (*block, int(rng.choice(len(row), p=row / row.sum())))
    return block


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize(("n", "length", "count"), [(2, 1, 6), (2, 2, 13), (3, 2, 9)])
def test_laws_are_those_of_the_classes(name, n, length, count):
    rng = np.random.default_rng(0)
    for case in model_pairs(5, n, length, count):
        rule = BLOCKS[name](*case.exact, length)
        block = drafted(rule, rng)
        found = law_along(getattr(batch, name), case.exact, (), block)
        np.testing.assert_allclose(found, exact_law(rule, block), atol=ROUNDING)


def test_every_class_has_its_batch_function():
    of_trees = {"traversal_verification", "tree_verification"}
    named = {name for name in batch.__all__ if "_verification" in name}
    assert set(BLOCKS) == named - of_trees


def a_way_on(models, text, block, options, wanted, rng):
    """The results of a block that ends in an outcome, which some uniform numbers lead to."""
    while True:
        uniforms = rng.random((2_000, len(block) + 1))
        result = called(PREPRINT, models, text, block, uniforms, **options)
        hit = np.flatnonzero((result.length == wanted[0]) & (result.token == wanted[1]))
        if hit.size:
            return Corrections(*(each[hit[0]] for each in result.corrections))


@pytest.mark.parametrize(("n", "length", "count"), [(2, 2, 5), (2, 3, 5)])
def test_corrections_are_the_target_of_the_next_blocks_exactly(n, length, count):
    rng, nested = np.random.default_rng(1), 0
    for case in model_pairs(7, n, length, count):
        rule, text, options = BlockVerificationPreprint(*case.exact, length), (), {}
        for _ in range(3):
            block = drafted(rule, rng)
            wanted = exact_law(rule, block)
            found = law_along(PREPRINT, case.exact, text, block, **options)
            np.testing.assert_allclose(found, wanted, atol=ROUNDING)
            # The shortest of the likely outcomes leaves most to be corrected.
            tau, token = np.argwhere(wanted > 1e-2)[0].tolist()
            owed = a_way_on(case.exact, text, block, options, (tau, token), rng)
            nested += (owed.left > 0).sum() > 1
            options = {"corrections": owed}
            following = ways(rule, block)[block[:tau]].following.after((token,))
            text = (*text, *block[:tau], token)
            rule = rule.restarted(case.exact[0].after(text), following)
    assert nested > 1 or length == 2


@pytest.mark.parametrize("name", BLOCKS)
def test_shorter_blocks_are_blocks(name):
    rule = getattr(batch, name)
    draft, target, drafts, uniforms = blocks(16, 40)
    for length in range(LENGTH):
        mask = np.broadcast_to(np.arange(LENGTH) < length, drafts.shape)
        found = rule(draft, target, np.where(mask, drafts, -1), uniforms, mask=mask)
        if length == 0:
            assert not found.length.any()
            wanted = batch.sample_iid(target[:, 0], uniforms[:, -1:])[:, 0]
            np.testing.assert_array_equal(found.token, wanted)
            continue
        wanted = rule(
            draft[:, :length],
            target[:, : length + 1],
            drafts[:, :length],
            uniforms[:, [*range(length), LENGTH]],
        )
        np.testing.assert_array_equal(found.length, wanted.length)
        np.testing.assert_array_equal(found.token, wanted.token)
        if name == PREPRINT.__name__ and length > 1:
            for one, other in zip(found.corrections, wanted.corrections, strict=True):
                np.testing.assert_array_equal(one[:, 1 - length :], other)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_that_ends_is_one_that_goes_on_for_certain(name):
    """An end token is followed by nothing, or by itself for certain: the same is kept."""
    rule, options = getattr(batch, name), {}
    draft, target, drafts, uniforms = blocks(200, 12)
    ends = np.random.default_rng(3).integers(1, LENGTH + 1, len(drafts))[:, None]
    place = np.arange(LENGTH)
    sure = np.eye(12)[drafts[np.arange(len(drafts)), ends[:, 0] - 1]][:, None]
    padded = [
        np.where((np.arange(each.shape[1]) >= ends)[..., None], sure, each)
        for each in (draft, target)
    ]
    tokens = np.where(place < ends, drafts, sure.argmax(axis=-1))
    wanted = rule(*padded, tokens, uniforms)
    if name == PREPRINT.__name__:
        options = {"reach": np.full(len(drafts), LENGTH)}
    # The whole block is kept if the uniform number of its last token allows it.
    moved = uniforms.copy()
    moved[np.arange(len(drafts)), ends[:, 0] - 1] = uniforms[:, LENGTH - 1]
    if name == "token_verification":
        moved = uniforms
    found = rule(draft, target, drafts, moved, mask=place < ends, **options)
    np.testing.assert_array_equal(found.length, np.minimum(wanted.length, ends[:, 0]))
    over = found.length == ends[:, 0]
    assert 0 < over.sum() < len(over)
    np.testing.assert_array_equal(found.token[~over], wanted.token[~over])
    if options:
        for one, other in zip(found.corrections, wanted.corrections, strict=True):
            np.testing.assert_array_equal(one[~over], other[~over])


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", BLOCKS)
def test_what_the_target_never_says_is_neither_kept_nor_drawn(name, dtype):
    draft, target, drafts, uniforms = blocks(400, 12, dtype=dtype)
    target[..., ::3] = 0
    target /= target.sum(axis=-1, keepdims=True)
    for extreme in (0.0, 1 - 2**-24):
        uniforms = uniforms.astype(dtype)
        uniforms[::2] = extreme
        length, token = getattr(batch, name)(draft, target, drafts, uniforms)[:2]
        assert (token % 3 != 0).all()
        assert (drafts[np.arange(LENGTH) < length[:, None]] % 3 != 0).all()
        assert (length > 0).any()
    target[:, :-1] = draft
    assert (getattr(batch, name)(draft, target, drafts, uniforms).length == LENGTH).all()


def test_blocks_of_one_token_are_verified_alike():
    draft, target, drafts, uniforms = (each[:, :1] for each in blocks(300, 12))
    target = blocks(300, 12)[1][:, :2]
    uniforms = np.random.default_rng(0).random((300, 2))
    one, *others = (getattr(batch, name)(draft, target, drafts, uniforms) for name in BLOCKS)
    coupled = batch.maximal_coupling(draft[:, 0], target[:, 0], drafts, uniforms)
    np.testing.assert_array_equal(one.length == 1, coupled.index == 0)
    for other in others:
        np.testing.assert_array_equal(one.length, other.length)
        np.testing.assert_array_equal(one.token, other.token)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"corrections": (np.ones((3, 3)), np.ones((3, 3), int))}, "corrections is a tuple"),
        (
            {"corrections": Corrections(np.ones((3, 2)), np.ones((3, 3), int))},
            r"^corrections.ratio has shape \(3, 2\): for blocks of 4 tokens it must be \(3, 3\); ",
        ),
        (
            {"corrections": Corrections(np.ones((3, 3)), np.ones(3, int))},
            r"^corrections.left has shape \(3,\): for blocks of 4 tokens it must be \(3, 3\); ",
        ),
        (
            {"corrections": Corrections(np.ones((3, 3)), [[1] * 3] * 3)},
            "corrections.left is a list",
        ),
        ({"reach": np.ones(3)}, "reach is float64"),
        (
            {"reach": np.ones(2, int)},
            r"reach is int64 of shape \(2,\): it must be integers of shape \(3,\), ",
        ),
        ({"reach": [4, 4, 4]}, "reach is a list"),
    ],
)
def test_what_is_not_left_over_of_such_blocks_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        PREPRINT(*blocks(3, 12), **options)
