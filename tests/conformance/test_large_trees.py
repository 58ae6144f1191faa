"""Exact mode of trees of two levels and of blocks of three tokens: cases with fewer symbols."""

import time

import numpy as np
import pytest

from otspec.conformance import adapters, check
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import memoryless, narrowed, remembering
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import needs_lengths, small_cases
from otspec.conformance.cases.tasks import MOST_DRAFTED, _too_many, followable, kernel_tasks
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.exact_check import drafted_ways
from otspec.conformance.faults import FAULTS, RIGHT_RULES
from otspec.conformance.faults.base import faults_of, joint_law
from tests.support.docs_scripts import script

measure = script("fault_controls")
TWO_LEVELS = Tree((-1, -1, 0, 0, 1, 1))
RULE = next(rule for rule in RIGHT_RULES if rule.name == "recursive rejection by depth")


def tree(draft, target, drafts, parents, rng):
    """Recursive rejection, down from the text to the first child that is accepted."""
    nodes, tokens = [], []
    for p, q, row in zip(draft.astype(float), target.astype(float), drafts, strict=True):
        node, going = -1, True
        while going:
            left, going = q[node + 1], False
            for child in [child for child, parent in enumerate(parents) if parent == node]:
                x = row[child]
                if rng.random() * p[node + 1, x] < left[x]:
                    node, going = child, True
                    break
                rest = np.maximum(left - p[node + 1], 0)
                left = rest / rest.sum() if rest.any() else q[node + 1]
        nodes.append(node)
        tokens.append(rng.choice(len(left), p=left / left.sum()))
    return np.array(nodes), np.array(tokens)


def masked(draft, target, drafts, mask):
    """A verifier that takes rows of fewer drafts."""


def warping(draft_logits, target_logits, drafts, parents, temperature, top_k, rng):
    """A verifier that warps."""


def tasks_of(function, kind):
    tasks = kernel_tasks(Verifier(function, Form()), kind, 101, 64)
    return [task for task in followable(tasks) if not task.costly]


def ways(task):
    return sum(1 for _ in drafted_ways(task.kind, task.case))


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (tree, TWO_LEVELS),
        (tree, Tree((-1,) * 3 + (0, 1, 2))),
        (tree, Block.of_length(5)),
        (masked, Tree((-1, -1, 0, 0))),
        (warping, TWO_LEVELS),
    ],
    ids=["2x2", "3x1", "a block of 5", "a mask", "warping"],
)
def test_no_case_has_more_drafts_than_are_followed_fast(function, kind):
    tasks = tasks_of(function, kind)
    most = max(ways(task) / task.case.variants for task in tasks if task.case.n > 2)
    assert most <= MOST_DRAFTED
    every = kernel_tasks(Verifier(function, Form()), kind, 101, 64)
    plain = [task for task in every if not task.costly and not isinstance(task.case, Warped)]
    plain = [task for task in plain if task.case.variants == 1]
    assert len([task for task in tasks if not isinstance(task.case, Warped)]) == len(plain)


@pytest.mark.parametrize(
    ("kind", "symbols", "uneven", "many"),
    [
        (Tokens(3), 10, False, False), (Tokens(3), 11, False, True),
        # Rows of 0 to 3 drafts.
        (Tokens(3), 6, True, False), (Tokens(3), 7, True, True),
        (Block.of_length(4), 5, False, False), (Block.of_length(4), 6, False, True),
        (Block.of_length(4), 3, True, False), (Block.of_length(4), 4, True, True),
    ],
)  # fmt: skip
def test_drafts_are_many_from_1000_on(kind, symbols, uneven, many):
    row = (1,) * symbols
    assert _too_many(kind, memoryless("even", row, row, uneven=uneven)) == many


def test_settings_are_all_tried_on_some_case():
    def settings(tasks):
        # Calls of certain numbers of rows are not followed.
        usual = (task for task in tasks if task.batches is KernelBatches and not task.before)
        cases = [task.case for task in usual]
        return {repr(case.settings) for case in cases if isinstance(case, Warped)}

    every = kernel_tasks(Verifier(warping, Form()), TWO_LEVELS, 101, 64)
    assert settings(followable(every)) == settings(every)
    assert len(followable(every)) < len(every)


def test_a_case_with_fewer_symbols_has_two_of_one_likelihood_ratio_as_one():
    case = narrowed(memoryless("a case", (4, 2, 1, 1), (1, 2, 4, 1)))
    assert (case.name, case.n, case.vocabulary) == ("a case, 3 symbols", 3, 3)
    assert case.draft[0].tolist() == [[0.5, 0.375, 0.125]] * 4
    assert case.target[0].tolist() == [[0.125, 0.375, 0.5]] * 4
    two = narrowed(case)
    assert (two.name, two.draft[0, 0].tolist()) == ("a case, 2 symbols", [0.875, 0.125])
    rows = ((3, 1, 0), (1, 2, 1), (2, 1, 1), (0, 1, 3))
    table = narrowed(remembering("a table", rows, ((1, 3, 0), *rows[1:])))
    assert table.draft[0].tolist() == [[1, 0], [0.75, 0.25], [0.25, 0.75]]
    never = narrowed(memoryless("two tokens are in no text", (0, 1, 0, 0), (0, 1, 0, 0)))
    assert never.draft[0, 0].tolist() == [0, 1, 0]


def shows(fault, kind, cases):
    return any(
        measure.total_variation(
            joint_law(fault.machine, RULE, kind, case), measure.right_law(kind, case)
        )
        > 1e-3
        for case in cases
    )


def differ(faults):
    """Return the faults that show on a tree's cases, but not on those with fewer symbols."""
    kind = Tree((-1, -1, 0, 1))
    whole = [case for case in small_cases(kind) if not needs_lengths(kind, case)]
    whole.sort(key=lambda case: case.ways)
    fewer = [narrowed(case) if case.n == 4 else case for case in whole]
    return [
        fault.name
        for fault in faults
        if shows(fault, kind, whole) and not shows(fault, kind, fewer)
    ]


def test_faults_show_on_cases_with_fewer_symbols_too():
    names = ("last token never drawn", "residual clipped", "one random number for all siblings",
             "independent coins of several beams", "draft's row of a sibling")  # fmt: skip
    assert differ(FAULTS[name] for name in names) == []


@pytest.mark.nightly
def test_every_fault_shows_on_cases_with_fewer_symbols_too():
    assert differ(faults_of("tree")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("options", [{"shape": "2x1"}, {"shape": "2x2", "distinct": True}])
def test_exact_mode_of_eagle_takes_less_than_20_seconds(options):
    """A tree is verified text by text in PyTorch, as the adapter does."""
    pytest.importorskip("torch", reason="PyTorch is not installed: make backends")
    from stand_ins import eagle_stand_in

    began = time.process_time()
    verify = adapters.eagle_tree(eagle_stand_in.evaluate_posterior)
    report = check(verify, kind="tree", mode="exact", arrays="torch", **options)
    assert time.process_time() - began < 20
    assert report.passed


@pytest.mark.nightly
@pytest.mark.parametrize(
    "options",
    [
        {"kind": "tree", "shape": "2x2"},
        {"kind": "tree", "shape": "2x2", "distinct": True},
        {"kind": "block", "shape": 3},
    ],
    ids=["2x2", "2x2 of distinct siblings", "a block of 3"],
)
def test_exact_mode_takes_less_than_20_seconds(options):
    def block(draft, target, drafts, rng):
        chain = tuple(range(-1, drafts.shape[1] - 1))
        node, token = tree(np.append(draft, draft[:, -1:], axis=1), target, drafts, chain, rng)
        return node + 1, token

    def distinct(draft, target, drafts, parents, mask, rng):
        del mask
        return tree(draft, target, drafts, parents, rng)

    began = time.process_time()
    verify = block if options["kind"] == "block" else distinct if "distinct" in options else tree
    report = check(verify, mode="exact", **options)
    assert time.process_time() - began < 20
    assert report.passed or "distinct" in options
