"""Verification of trees in batches: its exact law, a walk row by row, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from batch_laws import law_of, residual_cuts
from batch_references import inverted
from batch_table import MASKED, RULES, drafts_of, reference_at_rho
from batch_tree_laws import (
    ROUNDING,
    agree,
    children_of,
    depths_of,
    law_of_batch,
    law_of_selection,
    random_model,
    widths_of,
)

from otspec import batch
from otspec.blocks import TokenTree

LARGE = (-1, -1, 0, -1, 0, 2, 0, 1, 2, 7)
"""Unbalanced, with nodes of one depth in several places."""
PAIRS = (-1, -1, 0, 0, 3, 3)
ROWS = 24


def tree_of(name):
    """A tree that suits a rule."""
    only = RULES[name].k
    return LARGE if only is None else (-1, 0, 1) if only == 1 else PAIRS


@pytest.mark.parametrize(
    ("name", "parents", "zeros"),
    [
        ("maximal_coupling", (-1, 0), True),
        ("recursive_rejection", (-1, -1, 1), False),
        ("recursive_rejection", (-1, -1, 0), True),
        ("recursive_rejection", (-1, 0, 0), True),
        ("k_sequential", (-1, -1, 0), True),
        ("recursive_rejection_without_replacement", (-1, -1, 1), False),
        ("recursive_rejection_without_replacement", (-1, 0, 0), False),
        ("spechub", (-1, -1, 1, 1), False),
    ],
)
def test_the_law_is_that_of_draft_selection(name, parents, zeros):
    draft, target = random_model(2, 1, zeros), random_model(2, 2)
    wanted = law_of_selection(name, draft, target, parents)
    agree(law_of_batch(name, draft, target, parents), wanted)


@pytest.mark.parametrize("name", [name for name in MASKED if RULES[name].k is None])
def test_a_rule_sees_as_many_drafts_as_the_node_has_children(name):
    parents, n, x = (-1, -1, 0, 0, 1), 2, 1
    draft, target = np.array([0.3, 0.7]), np.array([0.6, 0.4])
    drafts = np.array([0, 1, 0, 1, x])
    both = np.stack([[draft, target]] * (len(parents) + 1), axis=1)
    both[1, 0] = [0, 1]  # so that node 1 is surely kept

    def outcome(uniforms):
        count = len(uniforms)
        numbers = np.full((count, 3, 3), 0.5)
        numbers[:, 1] = uniforms
        arrays = [np.broadcast_to(part, (count, *part.shape)) for part in (*both, drafts)]
        result = batch.tree_verification(*arrays, numbers, parents, rule=name)
        kept = result.node == 4
        assert (kept | (result.node == 1)).all()
        assert (result.length == 1 + kept).all()
        return np.where(kept, x, result.token)

    rule = reference_at_rho(name, draft, target, 1)
    known = [(2, place) for _, place in residual_cuts(rule, [x])]
    found = law_of(outcome, 3, n, known)
    np.testing.assert_allclose(found, rule.kernel([x]), rtol=0, atol=ROUNDING)


def problem(name, dtype=np.float64, n=40, seed=0):
    """A tree that suits a rule, with different rows at all nodes, and which nodes are drafted."""
    rng = np.random.default_rng(seed)
    parents = tree_of(name)
    rows = np.exp(2 * rng.normal(size=(2, ROWS, len(parents) + 1, n)))
    rows[1] = np.sqrt(rows.prod(axis=0))  # so that some way is kept
    draft, target = (rows / rows.sum(axis=-1, keepdims=True)).astype(dtype)
    drafts = np.zeros((ROWS, len(parents)), dtype=np.int64)
    for node in range(-1, len(parents)):
        children = children_of(parents, node)
        if children:
            numbers = rng.random((ROWS, len(children)))
            drafts[:, children] = drafts_of(name, draft[:, node + 1], numbers, len(children))
    widths = widths_of(parents)
    uniforms = rng.random((ROWS, len(widths) + 1, max(widths) + 1)).astype(dtype)
    mask = np.arange(len(parents)) < rng.integers(0, len(parents) + 1, (ROWS, 1))
    return (draft, target, drafts, uniforms, parents), mask


def walked(name, draft, target, drafts, uniforms, parents, mask):
    """One row, node by node, with the batch function for one token."""
    node, length, widths = -1, 0, widths_of(parents)
    while True:
        children = [child for child in children_of(parents, node) if mask[child]]
        if RULES[name].k is not None and len(children) < RULES[name].k:
            children = []
        if not children:
            return node, length, inverted(target[node + 1], uniforms[-1, -1])
        tokens, numbers, options = drafts[children], uniforms[length], {}
        if name.startswith("pooled_selection"):  # the last draft's number chooses, counted or not
            counted = np.arange(widths[length]) < len(children)
            tokens = np.resize(tokens, len(counted))
            options = {"mask": counted}
        numbers = np.append(numbers[: len(tokens)], numbers[-1])
        rule = getattr(batch, name)
        token = int(rule(draft[node + 1], target[node + 1], tokens, numbers, **options).token)
        same = [child for child in children if drafts[child] == token]
        if not same:
            return node, length, token
        node, length = same[0], length + 1


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RULES)
def test_every_row_is_walked_node_by_node(name, dtype, masked):
    arguments, mask = problem(name, dtype)
    parents = arguments[-1]
    options = {"mask": mask} if masked else {}
    mask = mask if masked else np.ones_like(mask)
    result = batch.tree_verification(*arguments, rule=name, **options)
    rows = zip(*arguments[:-1], mask, strict=True)
    wanted = [walked(name, *row[:-1], parents, row[-1]) for row in rows]
    assert list(zip(*(part.tolist() for part in result), strict=True)) == wanted
    assert len(set(result.length.tolist())) > 2
    assert np.array_equal(np.array(depths_of(parents))[result.node + 1], result.length)


def test_of_equal_children_the_first_goes_on():
    parents = (-1, -1, 0, 1)
    rows = np.full((5, 2), 0.5)
    result = batch.tree_verification(
        rows, rows, np.array([1, 1, 0, 1]), np.full((3, 3), 0.75), TokenTree(parents)
    )
    assert [int(part) for part in result] == [2, 2, 1]


def test_what_is_said_below_a_node_that_was_not_drafted_does_not_matter():
    arguments, mask = problem("recursive_rejection")
    wanted = batch.tree_verification(*arguments, mask=mask)
    for node, parent in enumerate(arguments[-1]):
        if parent >= 0:
            mask[:, node] &= mask[:, parent]
    drafts = np.where(mask, arguments[2], -1)
    found = batch.tree_verification(*arguments[:2], drafts, *arguments[3:], mask=mask)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", RULES)
def test_tokens_of_target_probability_0_are_neither_kept_nor_drawn(name):
    (draft, target, drafts, uniforms, parents), _ = problem(name, np.float32, n=12)
    target[..., ::3] = 0
    target /= target.sum(axis=-1, keepdims=True)
    for extreme in (0.0, 1 - 2**-24):
        uniforms[::2] = extreme
        node, _, token = batch.tree_verification(
            draft, target, drafts, uniforms, parents, rule=name
        )
        assert (token % 3 != 0).all()
        kept = node >= 0
        assert (drafts[kept, node[kept]] % 3 != 0).all()


def test_a_row_without_a_target_gives_no_token():
    (draft, target, *others), mask = problem("recursive_rejection")
    target[0] = target[1] = 0
    mask[1] = False
    result = batch.tree_verification(draft, target, *others, mask=mask)
    assert result.node.tolist()[:2] == result.token.tolist()[:2] == [-1, -1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tree": ()}, "tree has no nodes: it must have at least one"),
        ({"tree": (0, -1)}, r"tree\[0\] is 0: a parent comes before its child"),
        ({"tree": (-1, -2)}, r"tree\[1\] is -2: a parent comes before its child"),
        ({"tree": (-1, 0.5)}, r"tree\[1\] is 0\.5: it must be an integer"),
        ({"tree": "2x1"}, "tree is '2x1': it must be a sequence of nodes"),
        ({"tree": None}, "tree is None: it must be a sequence of nodes"),
        ({"tree": (-1, -1, 0)}, r"draft has shape \(3, 4\): it must be \(\.\.\., 4, V\)"),
        (
            {"tree": (-1,)},
            r"must be \(\.\.\., 2, V\), rows for the text and the 1 nodes of the tree",
        ),
        ({"rule": "naive"}, "rule is 'naive': it must be one of maximal_coupling, recursive"),
        ({"rule": ["spechub"]}, r"rule is \['spechub'\]: it must be one of"),
        ({"rule": "maximal_coupling"}, "tree has 2 children of the text: maximal_coupling takes"),
        ({"rule": "maximal_coupling", "tree": (-1, 0, 0)}, "tree has 2 children of node 0: max"),
        ({"rule": "spechub", "tree": (-1, 0)}, "tree has 1 children of the text: spechub takes"),
        ({"rule": "pooled_selection", "grades": 1}, "grades is 1: it must be at least 2"),
        ({"uniforms": np.zeros((2, 2))}, r"uniforms has shape \(2, 2\): it must be \(2, 3\)"),
        ({"drafts": np.zeros(3, int)}, r"drafts has shape \(3,\): it must be \(2,\)"),
        ({"draft": np.full(4, 0.25)}, r"draft has shape \(4,\) and target \(3, 4\)"),
    ],
)
def test_unfit_arguments_are_named(changed, message):
    rows = np.full((3, 4), 0.25)
    given = {"draft": rows, "target": rows, "drafts": np.zeros(2, int)}
    given |= {"uniforms": np.zeros((2, 3)), "tree": (-1, -1)} | changed
    options = {name: given.pop(name) for name in ("rule", "grades") if name in given}
    with pytest.raises(ValueError, match=message) as caught:
        batch.tree_verification(*given.values(), **options)
    assert "\n" not in str(caught.value)
