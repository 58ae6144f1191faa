"""The claims of multi-candidate speculative decoding, and the algorithms as printed."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest

import otspec
from validation.claim import Counterexample, Evidence, Fails, Search, equal
from validation.instances import cases
from validation.mcsd import (
    CLAIMS,
    blocks,
    printed,
    tables,
    trees,
    with_replacement,
    without_replacement,
)
from validation.notation import distinct, iid, support

REFUTED = {
    "mcsd.eq1",
    "mcsd.alg2b",
    "mcsd.sec3.3a",
    "mcsd.sec3.3c",
    "mcsd.eq3",
    "mcsd.appCd",
    "mcsd.sec4.4a",
    "mcsd.sec4.4b",
    "mcsd.sec4.4c",
    "mcsd.tab1",
}
HALF = Fraction(1, 2)
SMALL = list(islice(cases(0, most_tokens=3), 300))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_stable_and_corrections_hold(claim):
    outcome = claim.check(Search(seconds=1.0, instances=60))
    assert isinstance(outcome, Counterexample) == (claim.id in REFUTED)
    assert (claim.corrected is not None) == (claim.id in REFUTED)
    if claim.corrected:
        outcome = claim.corrected.check(Search(seconds=1.0, instances=60))
    assert isinstance(outcome, Evidence)
    assert outcome.instances > 0


@pytest.mark.parametrize("case", SMALL[::5])
def test_the_printed_algorithms_accept_like_the_rules_of_the_package(case):
    draft, target, k = case["draft"], case["target"], case["k"]
    rules = otspec.rules
    found = printed.acceptance(printed.law1(draft, target, k))
    assert found == rules.RecursiveRejection(draft, target, k).acceptance()
    found = printed.acceptance(printed.law_naive(draft, target, k))
    assert found == rules.NaiveSampling(draft, target, k).acceptance()
    if k <= support(draft):
        rule = rules.RecursiveRejectionWithoutReplacement(draft, target, k)
        assert printed.acceptance(printed.law2(draft, target, k)) == rule.acceptance()
        for x in distinct(draft, k):
            run = printed.algorithm2(target, draft, x).outcomes()
            assert printed.output(run, len(draft)) == tuple(rule.kernel(x))


def refuted(slack, instances=SMALL):
    """Whether a check fails on one of these instances."""
    return isinstance(Search(seconds=5.0).every(instances, slack), Counterexample)


def test_a_residual_that_is_not_updated_is_caught(monkeypatch):
    monkeypatch.setattr(
        with_replacement,
        "law1",
        lambda draft, target, k: printed.law(
            iid,
            draft,
            k,
            lambda x: printed.without_update(target, draft, x).outcomes(),
        ),
    )
    assert refuted(with_replacement.lossless)


def test_drafts_that_are_not_removed_are_caught(monkeypatch):
    monkeypatch.setattr(
        without_replacement,
        "law2",
        lambda draft, target, k: printed.law(
            distinct, draft, k, lambda x: printed.algorithm1(target, draft, x).outcomes()
        ),
    )
    assert refuted(without_replacement.lossless)


def test_an_output_after_the_wrong_residual_is_caught(monkeypatch):
    right = printed.algorithm1

    def late(target, draft, x):
        run = right(target, draft, x)
        return replace(run, targets=(*run.targets[:-1], target))

    monkeypatch.setattr("validation.mcsd.events.algorithm1", late)
    with_replacement.events1.cache_clear()
    try:
        assert refuted(with_replacement.eq9)
        assert refuted(with_replacement.rounds(with_replacement.eq8))
    finally:
        with_replacement.events1.cache_clear()


def test_a_mask_that_shows_everything_before_is_caught(monkeypatch):
    monkeypatch.setattr(trees, "ancestors", lambda _, i: list(range(i + 1)))
    assert refuted(trees.sees_its_candidate, islice(trees.trees(0), 60))


def test_trees_with_two_levels_of_two_return_the_same_blocks():
    draft, target = (Fraction(2, 3), Fraction(1, 3)), (HALF, HALF)
    assert blocks.same_efficiency(draft, target, (2, 2)) == 0


def test_text_that_goes_on_from_the_draft_is_caught():
    draft, target = blocks.model((Fraction(1), Fraction(0)), 1), blocks.model((HALF, HALF), 2)
    law = blocks.block(draft, target, (1, 1))
    wrong = blocks.completed(law, draft, 3)
    with pytest.raises(Fails):
        equal(wrong, blocks.completed({(): Fraction(1)}, target, 3))


def test_printed_numbers_out_of_range_are_caught():
    wrong = {"row": "68M LLaMA-13B Alpaca 0", "values": (("1", "1.0", "2.5"),) * 3}
    with pytest.raises(Fails):
        tables.in_range(**wrong)
    with pytest.raises(Fails):
        tables.faster(**wrong)
    with pytest.raises(Fails):
        tables.one_step(**wrong)
    assert len(list(tables.lines(tables.TABLES["runs"]))) == 32
    assert len(list(tables.lines(tables.TABLES["rates"]))) == 38
