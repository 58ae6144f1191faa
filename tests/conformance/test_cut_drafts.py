"""Engines that cut drafts: right ones pass, and each fault is found and named in all modes."""

from functools import partial

import cutting_engines as cutting
import pytest
from searching import by_day

from otspec.blocks.policies import Policy, policies, sampled
from otspec.conformance import check
from otspec.conformance.cases.kinds import Block
from otspec.conformance.faults import FAULTS
from otspec.conformance.faults.setting import Setting

PIPELINE = {"mode": "pipeline", "vocabulary": 101, "detect": 0.1, "coarse": 0.4, "entries": 4_000}
KERNEL = {"detect": 0.1, "coarse": 0.4, "vocabulary": 99, "entries": 4_000}
UNLIKELY = "draft withdrawn after a look at its token"
SIBLINGS = "tree pruned by sampled siblings"
OTHERS = "length chosen after seeing the acceptance of other rows"
SHAPES = {"tokens": 2, "block": 2, "tree": "2"}
CUTS = {UNLIKELY: cutting.drop_unlikely, SIBLINGS: cutting.prune}
PAIRS = [(name, kind) for name in CUTS for kind in FAULTS[name].kinds]


def named(report):
    """Return what findings look like, the likeliest alone."""
    assert not report.passed
    assert not {"call", "impossible"} & {each.statistic for each in report.findings}
    return {each.looks_like[0] for each in report.findings}


@pytest.mark.parametrize("pair", by_day(PAIRS, [pair for pair in PAIRS if pair[1] != "tree"]))
def test_a_cut_in_an_engine_that_drafts_is_found_and_named(pair):
    fault, kind = pair
    make = cutting.ENGINES[kind]
    report = check(make(CUTS[fault]), kind=kind, **PIPELINE)
    assert named(report) == {fault}
    assert any(note.startswith(f"{fault}: ") for note in report.notes)
    assert check(make(cutting.whole), kind=kind, **PIPELINE).passed


@pytest.mark.parametrize(
    "pair", by_day(PAIRS, [(UNLIKELY, "tokens"), (UNLIKELY, "block"), (SIBLINGS, "tree")])
)
def test_a_cut_of_drafts_that_are_handed_over_is_found_and_named_exactly(pair):
    fault, kind = pair
    make, options = cutting.VERIFIERS[kind], {"kind": kind, "mode": "exact", "shape": SHAPES[kind]}
    assert named(check(make(CUTS[fault]), **options)) == {fault}
    assert check(make(cutting.whole), **options).passed


def test_a_token_that_counts_is_no_fault():
    assert check(cutting.StopAfterUnlikely(), kind="block", **PIPELINE).passed


def test_rows_that_are_cut_to_the_shortest_of_a_batch_are_found_and_named():
    wrong, right = cutting.ShortestOfBatch(), cutting.ShortestOfBatch(own=True)
    assert named(check(wrong, kind="block", **PIPELINE)) == {OTHERS}
    assert check(right, kind="block", **PIPELINE).passed


def test_exact_mode_tells_by_a_row_beside_that_keeps_nothing():
    report = check(cutting.shortest_of_batch, kind="block", mode="exact", shape=1)
    # Two rows of the same drafts depend on each other, too, and not by their random numbers.
    assert {each.case for each in report.findings} == {"a row beside", "rows of a call"}
    assert named(report) == {OTHERS}
    right = partial(cutting.shortest_of_batch, own=True)
    report = check(right, kind="block", mode="exact", shape=1)
    # The lengths depend on each other, which is no loss of the texts, and no fault of this name.
    assert {each.case for each in report.findings} <= {"rows of a call"}
    assert OTHERS not in {name for each in report.findings for name in each.looks_like}


SHIPPED = policies(length=2, nodes=4)
LOSSLESS = ("load", "confidence-kept", "confidence-max", "entropy", "path-kept")
LOSSY = ("confidence-dropped", "path-dropped", "best-length", "batch-budget")


QUICK = ("confidence-kept", "confidence-dropped")
EACH = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.nightly)
    for name in (*LOSSLESS, *LOSSY)
]


@pytest.mark.parametrize("name", EACH)
def test_a_right_verifier_is_as_lossless_as_the_policy_that_drafts(name):
    verify = cutting.block_verifier(cutting.whole)
    report = check(verify, kind="block", mode="exact", policy=SHIPPED[name])
    assert report.passed == (name in LOSSLESS)


def test_what_a_policy_leaves_is_drawn_as_it_is_enumerated():
    verify = cutting.block_verifier(cutting.whole)
    assert check(verify, kind="block", policy=SHIPPED["confidence-kept"], **KERNEL).passed
    report = check(verify, kind="block", policy=SHIPPED["confidence-dropped"], **KERNEL)
    assert named(report) == {UNLIKELY}


def test_trees_of_policies_are_handed_over():
    verify, shape = cutting.tree_verifier(cutting.whole), "2"
    both = {"kind": "tree", "mode": "exact", "shape": shape}
    grow = sampled(2, 1)
    assert check(verify, policy=Policy("two", "two children", grow, 1), **both).passed
    pruned = Policy("one", "the likelier child", sampled(2, 1, 1), 1)
    assert not check(verify, policy=pruned, **both).passed
    with pytest.raises(ValueError, match="for which shape has no room at"):
        check(verify, policy=Policy("three", "three children", sampled(3, 1), 1), **both)


def test_policies_that_cannot_be_handed_over_are_named():
    def token_by_token(draft, target, drafts):
        """Verify drafts all of which count."""

    verify, policy = cutting.block_verifier(cutting.whole), SHIPPED["load"]
    with pytest.raises(ValueError, match="'confidence-masked', which masks tokens: audit it"):
        check(verify, kind="block", policy=SHIPPED["confidence-masked"])
    with pytest.raises(ValueError, match="leave out rule, mode='pipeline'"):
        check(verify, kind="block", policy=policy, mode="pipeline")
    with pytest.raises(ValueError, match="let verifier take lengths or a mask"):
        check(token_by_token, kind="block", policy=policy)


ALIKE, ONE = [0.5, 0.5], [1.0, 0.0]


@pytest.mark.parametrize(
    ("first", "after", "kept"),
    [
        (ALIKE, ALIKE, 2), (ALIKE, ONE, 1), (ONE, ALIKE, 0),
        ([0.50005, 0.49995], ALIKE, 2),  # what is rejected once in 20,000 times is in no batch
        ([0.5002, 0.4998], ALIKE, 0),
    ],
)  # fmt: skip
def test_a_row_of_a_large_batch_is_cut_where_one_is_rejected(first, after, kept):
    target = [[first, after, after]]
    assert Setting(Block.of_length(2), [[ALIKE] * 3], target, [(True, True)]).fewest == kept
