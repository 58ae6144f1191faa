"""Decoders that verify each path of a tree by itself, and drafts that are selected one by one."""

from functools import lru_cache

import numpy as np
import pytest
from text_engines import choose

from otspec.conformance import check
from otspec.conformance.adapters import paths_of
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.kinds import Tokens, Tree
from otspec.conformance.cases.library import small_cases
from otspec.conformance.cases.tasks import Task
from otspec.conformance.exact_check import exact_counts
from otspec.conformance.faults import FAULTS, joint_law, rules_of
from otspec.rules import PooledSelection

BEAMS = "independent coins of several beams"
SELECTED = "independent numbers select among several drafts"
SMALL = {"vocabulary": 11, "detect": 0.2, "coarse": 0.9, "entries": 9}


def beams(draft, target, drafts, parents, rng):
    """Verify each path token by token, and keep the longest: what a loop over beams does."""
    nodes, tokens = [], []
    for p, q, x in zip(draft.astype(float), target.astype(float), drafts, strict=True):
        best = [0]
        for path in paths_of(parents):
            kept = [0]
            for slot in path[1:]:
                if not rng.random() * p[kept[-1], x[slot - 1]] < q[kept[-1], x[slot - 1]]:
                    break
                kept.append(int(slot))
            best = max(best, kept, key=len)
        last = best[-1]
        ends = last not in np.array(parents) + 1
        left = q[last] if ends else np.maximum(q[last] - p[last], 0)
        left = left if left.any() else q[last]
        nodes.append(last - 1)
        tokens.append(rng.choice(len(left), p=left / left.sum()))
    return np.array(nodes), np.array(tokens)


def beams_engine(draft, target, prompts, length, parents, rng):
    """Say texts one row at a time, by steps of :func:`beams`."""
    texts = []
    for prompt in prompts:
        text = prompt.tolist()
        while len(text) <= length:
            tree = np.array([text[-1:]])
            for parent in parents:
                token = choose(draft(tree[:, : parent + 2]), rng.random(1))
                tree = np.append(tree, token[:, None], axis=1)
            rows = draft.rows(tree), target.rows(tree)
            (node,), (token,) = beams(*rows, tree[:, 1:], parents, rng)
            path = []
            while node >= 0:
                path, node = [int(tree[0, node + 1]), *path], parents[node]
            text += [*path, int(token)]
        texts.append(text[1 : length + 1])
    return np.array(texts)


@lru_cache
def kernel_of(draft, target, drafts):
    return PooledSelection(draft, target, len(drafts), normalize=True).joint_kernel(drafts)


def selected(draft, target, drafts, rng):
    """Select each draft with the probability that pooled selection gives it at first."""
    tokens = []
    for p, q, x in zip(draft.astype(float), target.astype(float), drafts, strict=True):
        kernel = kernel_of(tuple(p), tuple(q), tuple(x))
        kept = [token for token, row in zip(x, kernel, strict=False) if rng.random() < row.sum()]
        left = kernel[-1] if kernel[-1].any() else q
        tokens.append(kept[0] if kept else rng.choice(len(left), p=left / left.sum()))
    return np.array(tokens)


WRITTEN = {
    BEAMS: (beams, Tree((-1, -1, 0, 1)), ("all positive", "good drafts after bad ones")),
    SELECTED: (selected, Tokens(2), ("all positive", "an unlikely draft")),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_exact_law_is_that_of_the_table(name):
    verify, kind, names = WRITTEN[name]
    rule = next(rule for rule in rules_of(kind) if "pooled" in rule.name)
    verifier = Verifier(verify, Form("numpy", "float64"))
    for case in small_cases(kind):
        if case.name in names:
            law, _ = exact_counts(Task(verifier, kind, case, case), 1e-9, False)
            seen = law.sum(axis=0)
            law = joint_law(FAULTS[name].machine, rule, kind, case).sum(axis=0)
            np.testing.assert_allclose(seen, law, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "verify", "options"),
    [
        (BEAMS, beams, {"kind": "tree", "mode": "exact", "seconds": 1.0}),
        (BEAMS, beams, {"kind": "tree"} | SMALL),
        pytest.param(
            BEAMS,
            beams_engine,
            {"kind": "tree", "mode": "pipeline"} | SMALL,
            marks=pytest.mark.nightly,
        ),
        (SELECTED, selected, {"mode": "exact", "shape": 2}),
        (SELECTED, selected, {"shape": 2} | SMALL),
    ],
    ids=["beams, exact", "beams", "beams, pipeline", "selected, exact", "selected"],
)
def test_the_cause_is_named_in_each_mode(name, verify, options):
    report = check(verify, **options)
    assert report.outcome == "failed"
    assert {each.looks_like[:1] for each in report.findings if each.observed} == {(name,)}
