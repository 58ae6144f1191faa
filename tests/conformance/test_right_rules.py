"""Every rule of the batch functions passes on all cases, with the law of what it accepts."""

from functools import partial

import numpy as np
import pytest

import otspec
from otspec import batch
from otspec._base.arguments import children_of, depths_of
from otspec.conformance import check
from tests.support.batch_table import REFERENCES, RULES, drafts_number, reference_at_rho

QUICK = {"detect": 0.25, "coarse": 0.5, "vocabulary": 67, "entries": 4_000}
"""Coarse, since what is looked for are false alarms and failures."""


def walked(rule):
    """A verifier of trees by a rule for the children of each node."""

    def verify(draft, target, drafts, uniforms_of, parents, mask):
        widest = max(map(len, children_of(parents)))
        uniforms = uniforms_of((len(drafts), max(depths_of(parents)) + 1, widest + 1))
        return batch.tree_verification(
            draft, target, drafts, uniforms, parents, rule=rule, mask=mask
        )

    return verify


def traversed(distinct):
    def verify(draft, target, drafts, uniforms_of, parents, mask):
        uniforms = uniforms_of((len(drafts), len(parents) + 1))
        return batch.traversal_verification(
            draft, target, drafts, uniforms, parents, distinct=distinct, mask=mask
        )

    return verify


def of_numpy(verify):
    def verifier(draft, target, drafts, parents, mask, rng):
        return verify(draft, target, drafts, rng.random, parents, mask)

    return verifier


def of_torch(verify):
    torch = pytest.importorskip("torch")

    def verifier(draft, target, drafts, parents, mask, generator):
        uniforms_of = partial(torch.rand, generator=generator)
        return verify(draft, target, drafts, uniforms_of, parents, mask)

    return verifier


TREES = {
    "recursive-rejection": walked("recursive_rejection"),
    "recursive-rejection-without-replacement": walked("recursive_rejection_without_replacement"),
    "traversal": traversed(distinct=False),
    "traversal-without-replacement": traversed(distinct=True),
}
LIBRARIES = {"numpy": of_numpy, "torch": of_torch}
arrays = pytest.mark.parametrize("arrays", LIBRARIES)


def passes(report):
    assert report.passed, str(report)
    return report


SLOW = ("k_sequential", "pooled_selection_without_replacement")
"""Rules of many small operations, of which a call takes long however few rows it has."""


ONE_TOKEN = {"numpy": list(RULES), "torch": [name for name in RULES if name not in SLOW]}


def kept(arrays, name):
    """Return a case; torch by day with one rule: it gives what NumPy gives, say tests of batch."""
    rare = arrays == "torch" and name.replace("_", "-") != "recursive-rejection"
    return pytest.param(arrays, name, marks=[pytest.mark.nightly] if rare else [])


@pytest.mark.parametrize(
    ("arrays", "name"), [kept(a, name) for a in ONE_TOKEN for name in ONE_TOKEN[a]]
)
def test_rules_for_one_token(name, arrays):
    pytest.importorskip(arrays)

    def rule(draft, target, k):
        return reference_at_rho(name, np.asarray(draft), np.asarray(target), k)

    rule.law_class = REFERENCES[name].law_class
    held = {"rule": rule}
    if name == "pooled_selection_without_replacement":
        # Where rounding makes a tie, the reference decides by the order of the drafts.
        held = {"distinct": True}
    options = {"shape": drafts_number(name, 2), "arrays": arrays, **QUICK}
    passes(check(getattr(batch, name), **held, **options))


@arrays
@pytest.mark.parametrize(
    ("function", "rule"),
    [("token_verification", "token"), ("block_verification", "block-published")],
)
def test_rules_for_a_block(function, rule, arrays):
    pytest.importorskip(arrays)
    verifier = getattr(batch, function)
    passes(check(verifier, kind="block", rule=rule, arrays=arrays, **QUICK))


@pytest.mark.parametrize(("arrays", "rule"), [kept(a, rule) for a in LIBRARIES for rule in TREES])
def test_rules_for_a_tree(rule, arrays):
    verifier = LIBRARIES[arrays](TREES[rule])
    distinct = "without-replacement" in rule
    passes(check(verifier, kind="tree", rule=rule, distinct=distinct, arrays=arrays, **QUICK))


def test_a_tree_of_two_hubs():
    def verifier(draft, target, drafts, parents, rng):
        return walked("spechub")(draft, target, drafts, rng.random, parents, None)

    with pytest.raises(ValueError, match="k is 1, but hub drafts come in pairs"):
        check(verifier, kind="tree", shape="2x1", rule="spechub", **QUICK)
    passes(check(verifier, kind="tree", shape="2x2", rule="spechub", **QUICK))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_types(dtype):
    passes(check(batch.recursive_rejection, dtype=dtype, **QUICK))


def test_bfloat16():
    pytest.importorskip("torch")
    passes(check(batch.maximal_coupling, shape=1, arrays="torch", dtype="bfloat16", **QUICK))


@pytest.mark.parametrize("k", [1, 4])
def test_more_drafts_than_tokens(k):
    for name in ("recursive_rejection", "recursive_rejection_without_replacement"):
        rule = name.replace("_", "-")
        passes(check(getattr(batch, name), shape=k, rule=rule, **QUICK | {"detect": 0.4}))


def test_the_optimum_is_that_of_the_drafts():
    report = passes(check(batch.maximal_coupling, shape=1, rule="maximal-coupling", **QUICK))
    small = [tried for tried in report.cases if tried.optimum is not None]
    assert len(small) > 20
    for tried in small:
        # Of one draft maximal coupling is the optimum.
        assert tried.accepted.low - 1e-9 <= tried.optimum <= tried.accepted.high + 1e-9
    first = report.cases[0]
    best = otspec.optimal_acceptance(
        otspec.IID([4 / 8, 2 / 8, 1 / 8, 1 / 8], 1), [1 / 8, 2 / 8, 4 / 8, 1 / 8]
    )
    assert first.optimum == pytest.approx(best.acceptance, abs=1e-15)
    assert "it accepts" in report.notes[-1]
    assert "the optimum for these drafts is 0.6250" in report.notes[-1]
