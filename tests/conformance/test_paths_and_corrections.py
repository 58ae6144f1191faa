"""Verifiers of several paths, and of blocks that correct more than one token."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from programs import verified
from searching import NIGHTLY

from otspec import batch
from otspec.blocks import (
    BlockVerificationPreprint,
    GreedyMultiPath,
    TokenTree,
    as_shape,
)
from otspec.conformance import adapters, check
from otspec.conformance.cases.arrays import DTYPES, Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import embedded, memoryless, remembering
from otspec.conformance.cases.kinds import Block, Tree
from otspec.conformance.cases.library import ROWS, TABLES
from otspec.conformance.cases.ruled import as_maker, joint_law
from otspec.conformance.cases.tasks import kernel_tasks
from otspec.conformance.evidence.case_by_case import Check
from otspec.models import Model

QUICK = {"detect": 0.25, "coarse": 0.5, "vocabulary": 67, "entries": 4_000}
PATHS = {"kind": "tree", "shape": "2x1", "rule": "greedy-multi-path"} | QUICK
PREPRINT = {"kind": "block", "rule": "block-preprint"} | QUICK


def passes(verifier, **options):
    report = check(verifier, **options)
    assert report.passed, str(report)


def on_some_cases(verifier, kind, maker=None):
    """The report of a check that looks closely at two of the cases, and at no others."""
    tasks = kernel_tasks(Verifier(verifier, Form()), kind, QUICK["vocabulary"], QUICK["entries"])
    names = "all positive", "rows that depend on the text"
    chosen = tuple(task for task in tasks if task.case.name in names)
    assert len(chosen) == len(names)
    options = 0.05, 1e-6, DTYPES["float32"], 10**8, 0, 0.1
    return Check(chosen, kind.name, "kernel", maker, *options).run(lambda *_: None)


class Seen(Model):
    """What a model has said after some texts, in floats."""

    def __init__(self, n):
        self.n, self.exact, self.rows = n, False, {}

    def __call__(self, prefix):
        return self.rows[tuple(prefix)]

    def see(self, text, row):
        row = np.asarray(row, dtype=float)
        self.rows[tuple(text)] = row / row.sum()


# Paths


def greatest_of_two(draft, target):
    """The law of what is kept of the greater of two drafts, and the token, by enumeration."""
    n = len(draft)

    def rank(token):
        return target[token] / draft[token], token

    chosen = np.zeros(n)
    for x, y in product(np.flatnonzero(draft), repeat=2):
        chosen[max(x, y, key=rank)] += draft[x] * draft[y]
    kept = np.minimum(chosen, target)
    rest = target - kept
    return rest, kept


@pytest.mark.parametrize("places", [(0, 8, 3, 4), (8, 0, 4, 3), (4, 3, 8, 0), (1, 2, 3, 4)])
@pytest.mark.parametrize("name", ["ties", "draft and target alike", "all positive"])
def test_ties_are_decided_by_the_numbers_of_tokens(name, places):
    case = embedded(memoryless(name, *ROWS[name]), 9, places)
    rows = [case.rows(values[0, 0]) for values in (case.draft, case.target)]
    kind = Tree((-1, -1))
    [found] = joint_law(as_maker("greedy-multi-path", "tree"), kind, case)
    rest, kept = greatest_of_two(*rows)
    after = np.array([kept[token] * rows[1] for token in range(9)]).sum(axis=0)
    for law, wanted in zip(found, (rest, after), strict=True):
        # Some dozens of roundings of numbers below 1.
        assert law == pytest.approx(wanted[list(places)], abs=1e-14)


@pytest.mark.parametrize("table", TABLES)
def test_where_tokens_stand_makes_no_difference_to_rules_without_ties(table):
    case = remembering(table, *TABLES[table])
    for rule, kind in (("block-published", Block.of_length(2)), ("traversal", Tree((-1, -1, 0)))):
        maker = as_maker(rule, kind.name)
        moved = joint_law(maker, kind, embedded(case, 7, (5, 0, 2)))
        assert moved == pytest.approx(joint_law(maker, kind, case), abs=1e-14)


@pytest.mark.parametrize("shape", ["1", "2x1", "3x1x1" if NIGHTLY else "3x1"])
def test_greedy_multi_path_passes(shape):
    passes(adapters.paths_tree(batch.greedy_multi_path), **PATHS | {"shape": shape})


@pytest.mark.nightly
def test_greedy_multi_path_of_tensors_passes():
    pytest.importorskip("torch")
    verifier = adapters.paths_tree(batch.greedy_multi_path)
    passes(verifier, **PATHS | {"arrays": "torch", "shape": "2"})


def first_of_all(draft, target, drafts, uniforms):
    """Right: the first path as a block, whatever the others are."""
    first = batch.block_verification(draft[:, 0], target[:, 0], drafts[:, 0], uniforms)
    return np.zeros_like(first.length), *first


def smallest(draft, target, drafts, uniforms):
    """The path of the smallest ratio, verified with the law of the greatest."""
    at = np.arange(len(drafts))[:, None], np.arange(drafts.shape[1])[None]
    ratio = target[(*at, 0, drafts[:, :, 0])] / draft[(*at, 0, drafts[:, :, 0])]
    path = np.argmin(ratio, axis=1)
    rows = np.arange(len(drafts))
    alone = [each[rows, path][:, None] for each in (draft, target, drafts)]
    alone = [np.repeat(each, drafts.shape[1], axis=1) for each in alone]
    found = batch.greedy_multi_path(*alone, uniforms)
    return path, found.length, found.token


def as_if_drawn(draft, target, drafts, uniforms):
    """The greatest path, verified as if it were the only one."""
    path = batch.greedy_multi_path(draft, target, drafts, uniforms).path
    rows = np.arange(len(drafts))
    alone = (each[rows, path] for each in (draft, target, drafts))
    return path, *batch.block_verification(*alone, uniforms)


def test_paths_that_are_verified_otherwise_are_told_apart():
    kind, maker = Tree((-1, -1)), as_maker("greedy-multi-path", "tree")
    right = adapters.paths_tree(batch.greedy_multi_path)
    assert on_some_cases(right, kind, maker).passed
    first = adapters.paths_tree(first_of_all)
    assert on_some_cases(first, kind).passed
    assert not on_some_cases(first, kind, maker).passed  # lossless, but it accepts less
    for wrong in (smallest, as_if_drawn):
        assert not on_some_cases(adapters.paths_tree(wrong), kind).passed


def by_the_program(draft, target, drafts, parents, rng):
    """The rule of the package, for one text."""
    models = Seen(draft.shape[-1]), Seen(draft.shape[-1])
    texts = [()]
    for node, parent in enumerate(parents):
        texts.append((*texts[parent + 1], int(drafts[node])))
    for model, rows in zip(models, (draft, target), strict=True):
        for text, row in zip(texts, rows, strict=True):
            model.see(text, row)
    tree = TokenTree(parents)
    rule = GreedyMultiPath(*models, as_shape(tree))
    outcome = verified(rule, (tree, tuple(map(int, drafts))), rng)
    token = rng.choice(len(target[0]), p=np.asarray(outcome.following(()), dtype=float))
    return texts.index(tuple(outcome.accepted)) - 1, int(token)


def test_the_program_of_greedy_multi_path_passes_exactly():
    shape = "2x1" if NIGHTLY else "2"
    options = PATHS | {"shape": shape, "mode": "exact"}
    # Rows come in float32 and are scaled to sum to 1, which has an error of half an ulp.
    passes(adapters.one_at_a_time(by_the_program), **options)


def test_trees_that_are_no_paths_are_refused():
    verifier = adapters.paths_tree(batch.greedy_multi_path)
    for shape in ("2x2", "[[]][]"):
        report = check(verifier, **PATHS | {"shape": shape, "rule": None})
        assert "the tree must be paths that part at the beginning" in report.findings[0].reason
    with pytest.raises(ValueError, match="function is 3: it must be a verifier of paths"):
        adapters.paths_tree(3)


# Corrections


@pytest.mark.parametrize("length", [1, 2, pytest.param(3, marks=pytest.mark.nightly)])
def test_the_preprint_passes(length):
    passes(batch.block_verification_preprint, **PREPRINT | {"shape": length})


@pytest.mark.nightly
def test_the_preprint_of_tensors_passes():
    pytest.importorskip("torch")
    passes(batch.block_verification_preprint, **PREPRINT | {"arrays": "torch"})


def as_parts(form):
    def verify(draft, target, drafts, uniforms, corrections):
        found = batch.block_verification_preprint(
            draft, target, drafts, uniforms, corrections=corrections
        )
        return form(found)

    return verify


@pytest.mark.parametrize("form", [tuple, lambda found: found._asdict(), lambda found: found])
def test_corrections_come_in_any_form(form):
    verifier = Verifier(as_parts(form), Form())
    found = batch.CorrectedBlock(np.array([1]), np.array([2]), np.array([[0.5]]))
    assert verifier.parted(form(found)) == (found[:2], found.corrections)


def test_a_block_rule_may_keep_what_it_likes():
    """Verifiers without a need of corrections, whose texts are made of blocks alone."""

    def verify(draft, target, drafts, uniforms, corrections):
        number = 0 if corrections is None else corrections
        return *batch.block_verification(draft, target, drafts, uniforms), number + 1

    passes(verify, **PREPRINT | {"rule": "block-published"})


def forgotten(found):
    return found._replace(corrections=None)


def rolled(found):
    """The corrections of the row before."""
    moved = (np.roll(part, 1, axis=0) for part in found.corrections)
    return found._replace(corrections=found.corrections._make(moved))


def too_short(found):
    left = np.maximum(found.corrections.left - 1, 0)
    return found._replace(corrections=found.corrections._replace(left=left))


def squared(found):
    return found._replace(corrections=found.corrections._replace(ratio=found.corrections.ratio**2))


def test_right_corrections_pass():
    maker = as_maker("block-preprint", "block")
    assert on_some_cases(as_parts(tuple), Block.of_length(2), maker).passed


@pytest.mark.parametrize("wrong", [forgotten, rolled, too_short, squared])
def test_wrong_corrections_are_noticed(wrong):
    assert not on_some_cases(as_parts(wrong), Block.of_length(2)).passed


def test_the_preprint_without_corrections_is_not_lossless():
    def verify(draft, target, drafts, uniforms):
        return batch.block_verification_preprint(draft, target, drafts, uniforms)[:2]

    assert not on_some_cases(verify, Block.of_length(2)).passed


@pytest.mark.nightly
def test_the_program_of_the_preprint_passes():
    def verify(draft, target, drafts, rng, corrections):
        states, answers = corrections or [None] * len(drafts), []
        for row, state in enumerate(states):
            n, length = draft.shape[-1], drafts.shape[1]
            seen = [Seen(n), Seen(n)] if state is None else state[0]
            text, wanted = ((), seen[1]) if state is None else state[1:]
            block = tuple(map(int, drafts[row]))
            for depth in range(length + 1):
                if depth < length:
                    seen[0].see(text + block[:depth], draft[row, depth])
                seen[1].see(text + block[:depth], target[row, depth])
            rule = BlockVerificationPreprint(seen[0].after(text), wanted, length)
            outcome = verified(rule, (block,), rng)
            token = int(rng.choice(n, p=outcome.following(())))
            kept = (*map(int, outcome.accepted), token)
            rest = outcome.following.after((token,))
            answers.append((len(outcome.accepted), token, (seen, text + kept, rest)))
        lengths, tokens, states = zip(*answers, strict=True)
        return np.array(lengths), np.array(tokens), list(states)

    passes(verify, **PREPRINT | {"detect": 0.3, "vocabulary": 11, "entries": 16})


def test_what_takes_corrections_is_a_verifier_of_blocks():
    def verify(target, drafts, uniforms, corrections):
        return np.zeros(len(drafts), int), target.argmax(axis=-1)[:, 0]

    with pytest.raises(ValueError, match="returned 2 values: return length and token and correct"):
        check(verify, **PREPRINT)
    for kind in ("tokens", "tree"):
        with pytest.raises(ValueError, match="verifier takes corrections: only those of blocks"):
            check(verify, kind=kind)
    with pytest.raises(ValueError, match="several blocks: leave out mode='exact'"):
        check(batch.block_verification_preprint, kind="block", mode="exact")
