"""Traversal Verification of batches: its exact law, and what it is on a chain."""

from __future__ import annotations

import numpy as np
import pytest
from batch_paths import PATHS, path, taking  # noqa: F401 # path is a fixture
from batch_references import inverted
from batch_tree_laws import agree, children_of, integrated, law_of_rule, random_model
from hypothesis import given, settings
from hypothesis import strategies as st

from otspec import batch
from otspec.blocks import TokenTree, TraversalVerify, TraversalVerifyWithoutReplacement

RULES = {
    False: ("recursive_rejection", TraversalVerify, {"merge": False}),
    True: (
        "recursive_rejection_without_replacement",
        TraversalVerifyWithoutReplacement,
        {},
    ),
}
"""Of independent and of distinct siblings: how they are drawn, the rule and its options."""


def has_the_law(draft, target, parents, distinct):
    """Compare the law of the batch function with the rule's."""
    name, rule, options = RULES[distinct]

    def verify(*arrays):
        return batch.traversal_verification(*arrays, parents, distinct=distinct)

    found = integrated(verify, len(parents) + 1, name, draft, target, parents)
    agree(found, law_of_rule(rule(draft, target, TokenTree(parents), **options)))


@pytest.mark.parametrize(
    ("parents", "zeros", "distinct"),
    [
        ((-1, 0), True, False),
        ((-1, -1, 1), False, False),
        ((-1, -1, 0), True, False),
        ((-1, 0, 0), True, False),
        ((-1, -1, 0), False, True),
        ((-1, 0, 0), False, True),
        ((-1, -1, 1, 1), False, True),
    ],
)
@pytest.mark.usefixtures("path")
def test_the_law_is_the_rule_s(parents, zeros, distinct):
    has_the_law(random_model(2, 1, zeros), random_model(2, 2), parents, distinct)


@settings(max_examples=max(settings().max_examples // 50, 2))
@given(seeds=st.tuples(st.integers(0, 99), st.integers(100, 199)), distinct=st.booleans())
def test_the_law_of_random_models_is_the_rule_s(seeds, distinct):
    draft, target = (random_model(2, seed) for seed in seeds)
    has_the_law(draft, target, (-1, -1, 0), distinct)


LARGE = (-1, -1, 0, -1, 0, 2, 0, 1, 2, 7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("distinct", [False, True])
def test_both_paths_keep_the_same_node(distinct, dtype):
    """With masks, zeros, equal rows, and a vocabulary of more than one block."""
    rng, nodes = np.random.default_rng(0), len(LARGE)
    for n in (12, 700):
        draft, target = rng.dirichlet(np.full(n, 0.5), (2, 60, nodes + 1))
        draft[1::7, :, :3] = target[2::7, :, 2] = 0
        draft /= draft.sum(-1, keepdims=True)
        target[::5] = draft[::5]
        draft, target = draft.astype(dtype), target.astype(dtype)
        drafts, mask = np.zeros((60, nodes), int), rng.random((60, nodes)) < 0.8
        for node in range(-1, nodes):
            children = children_of(LARGE, node)
            if children:
                drafter = batch.sample_without_replacement if distinct else batch.sample_iid
                numbers = rng.random((60, len(children)))
                drafts[:, children] = drafter(draft[:, node + 1], numbers)
        uniforms, found = rng.random((60, nodes + 1)), []
        for each in PATHS:
            with taking(each):
                call = draft, target, drafts, uniforms, LARGE
                found.append(batch.traversal_verification(*call, mask=mask, distinct=distinct))
        assert len(set(found[0].node)) > 4
        for one, other in zip(found[0], found[-1], strict=True):
            np.testing.assert_array_equal(one, other)


def problem(parents, dtype, rows=200, n=40, seed=0, distinct=False):
    rng = np.random.default_rng(seed)
    weights = np.exp(2 * rng.normal(size=(2, rows, len(parents) + 1, n)))
    weights[1] = np.sqrt(weights.prod(axis=0))
    draft, target = (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)
    drafts = np.zeros((rows, len(parents)), dtype=np.int64)
    for node in {*parents}:
        children = children_of(parents, node)
        numbers = rng.random((rows, len(children)))
        drafter = batch.sample_without_replacement if distinct else batch.sample_iid
        drafts[:, children] = drafter(draft[:, node + 1], numbers)
    return draft, target, drafts, rng.random((rows, len(parents) + 1)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_chain_is_block_verification(dtype):
    length = 4
    chain = tuple(range(-1, length - 1))
    draft, target, drafts, uniforms = problem(chain, dtype)
    mask = np.arange(length) < np.random.default_rng(1).integers(0, length + 1, (200, 1))
    for options in ({}, {"mask": mask}):
        found = batch.traversal_verification(draft, target, drafts, uniforms, chain, **options)
        wanted = batch.block_verification(draft[:, :length], target, drafts, uniforms, **options)
        np.testing.assert_array_equal(found.length, wanted.length)
        np.testing.assert_array_equal(found.node, wanted.length - 1)
        np.testing.assert_array_equal(found.token, wanted.token)


def walked(draft, target, drafts, uniforms, distinct):
    """One row as the paper has it: residuals written down, in float64."""

    def visit(node, weight):
        p, wanted, reached = draft[node + 1].astype(float), weight * target[node + 1], 1.0
        for child in children_of(LARGE, node):
            token = drafts[child]
            found = visit(child, min(1.0, wanted[token] / (reached * p[token])))
            if found is not None:
                return found
            wanted = np.maximum(wanted - reached * p, 0)
            reached = wanted.sum() + 1 - weight
            p[token] *= not distinct
            p /= p.sum()
        return (node, wanted) if node < 0 or uniforms[node] * reached < wanted.sum() else None

    node, wanted = visit(-1, 1.0)
    return node, inverted(wanted, uniforms[-1])


@pytest.mark.parametrize("n", [40, 3_000])
@pytest.mark.parametrize("distinct", [False, True])
def test_every_row_is_walked_from_the_leaves(distinct, n):
    arguments = problem(LARGE, np.float64, rows=60, n=n, distinct=distinct)
    result = batch.traversal_verification(*arguments, LARGE, distinct=distinct)
    wanted = [walked(*row, distinct) for row in zip(*arguments, strict=True)]
    found = result.node.tolist(), result.token.tolist()
    assert list(zip(*found, strict=True)) == wanted
    assert len(set(result.length.tolist())) > 3


@pytest.mark.parametrize("distinct", [False, True])
def test_a_mask_gives_each_row_a_tree_of_its_own(distinct):
    smaller = LARGE[:5]
    draft, target, drafts, uniforms = problem(LARGE, np.float64, distinct=distinct)
    mask = np.arange(len(LARGE)) < np.full((len(draft), 1), 5)
    found = batch.traversal_verification(
        draft, target, np.where(mask, drafts, -1), uniforms, LARGE, mask=mask, distinct=distinct
    )
    rows = [part[:, :6].copy() for part in (draft, target)]
    fewer = uniforms[:, [0, 1, 2, 3, 4, -1]]
    wanted = batch.traversal_verification(*rows, drafts[:, :5], fewer, smaller, distinct=distinct)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(set(found.node.tolist())) == 6


def test_it_keeps_more_than_recursive_rejection():
    draft, target, drafts, uniforms = problem(LARGE, np.float64, rows=4_000)
    numbers = np.random.default_rng(3).random((4_000, 4, 4))
    kept = batch.traversal_verification(draft, target, drafts, uniforms, LARGE).length
    fewer = batch.tree_verification(draft, target, drafts, numbers, LARGE).length
    assert kept.mean() > fewer.mean()


@pytest.mark.parametrize("distinct", [False, True])
def test_tokens_of_target_probability_0_are_neither_kept_nor_drawn(distinct):
    draft, target, drafts, uniforms = problem(LARGE, np.float32, n=12)
    target[..., ::3] = 0
    target[0] = 0
    target /= np.maximum(target.sum(axis=-1, keepdims=True), 1e-30)
    for extreme in (0.0, 1 - 2**-24):
        uniforms[::2] = extreme
        node, _, token = batch.traversal_verification(
            draft, target, drafts, uniforms, LARGE, distinct=distinct
        )
        assert token[0] == -1
        assert (token[1:] % 3 != 0).all()
        kept = node >= 0
        assert (drafts[kept, node[kept]] % 3 != 0).all()


def test_unfit_arguments_are_named():
    rows, drafts, tree = np.full((3, 4), 0.25), np.zeros(2, int), (-1, -1)
    with pytest.raises(ValueError, match=r"uniforms has shape \(2,\): it must be \(3,\)"):
        batch.traversal_verification(rows, rows, drafts, np.zeros(2), tree)
    with pytest.raises(ValueError, match="distinct is 'yes': it must be"):
        batch.traversal_verification(rows, rows, drafts, np.zeros(3), tree, distinct="yes")
    with pytest.raises(ValueError, match=r"tree\[0\] is 3: a parent comes before its child"):
        batch.traversal_verification(rows, rows, drafts, np.zeros(3), (3, -1))
