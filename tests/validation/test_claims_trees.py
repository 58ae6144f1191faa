"""The claims on later verifiers of blocks and trees: verdicts, and that their checks can fail."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, islice

import pytest

from otspec.auditing import audit_blocks
from otspec.blocks import (
    FirstHighestPath,
    GreedyMultiPath,
    HierarchicalVerify,
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
)
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement
from validation import delayed, gbv, hsd, spectr_gbv, traversal, tree_rules, univer
from validation.__main__ import recorded
from validation.models import models, table
from validation.claim import Evidence, Fails, Search
from validation.drafted import (
    CHILDREN,
    branching,
    depth,
    drafts,
    lossless,
    named,
    over_drafts,
    paths,
    possible,
    top_plus_one,
)
from validation.drafted_instances import PATHS, TREES
from validation.gbv.printed import (
    by_clipped_ratio,
    by_ratio,
    first_highest,
    greatest,
    skewed,
    verified,
)
from validation.gbv.programs import drafted_sets, joint, split
from validation.notation import collect, positive
from validation.running import check_claim

BOOKS = (traversal, gbv, spectr_gbv, univer, hsd, delayed)
CLAIMS = [claim for book in BOOKS for claim in book.CLAIMS]
LATE = {"hsd.lossless": 200, "univer.traversal": 280, "univer.best": 100, "delayed.khisti": 200,
        "delayed.depth": 100, "spectr_gbv.bound": 160}  # fmt: skip
"""How many of the smallest instances are enough to see that a claim fails."""
HALF = Fraction(1, 2)
COIN, BIASED = ((HALF, HALF),), ((Fraction(1, 4), Fraction(3, 4)),)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdicts_are_the_recorded_ones(claim):
    found = check_claim(claim.id, Search(seconds=60, instances=LATE.get(claim.id, 40), seed=3))
    assert found.verdicts() == recorded()[claim.id]
    outcomes = [found.outcome] if found.corrected is None else [found.corrected]
    for outcome in outcomes:
        assert isinstance(outcome, Evidence)
        assert outcome.instances >= (1 if claim.id == "hsd.toy" else 40)
        assert outcome.worst >= 0
        assert outcome.scope


def test_the_counterexamples_are_those_that_the_pages_name():
    def example(name):
        return check_claim(name, Search(seconds=60, instances=30)).outcome

    for name, told in (("gbv.code", "00 with 1/3"), ("gbv.better", "3/4, which is below 1")):
        found = example(name)
        assert (found.instance["draft"], found.instance["target"]) == (COIN, COIN)
        assert (found.instance["length"], found.instance["paths"]) == (1, 2)
        assert told in found.found


# --- drafted trees ------------------------------------------------------------------------------


def test_shapes_and_paths_are_read_from_their_names():
    assert named("2x1") == branching(2, 1) == named("[[]][[]]") == (((),), ((),))
    assert (depth(named("[[][]][]")), depth(())) == (2, 0)
    forest = ((0, ((1, ()), (1, ()))), (1, ()))
    assert list(paths(forest)) == [(0, 1), (0, 1), (1,)]


def test_drafted_trees_have_all_mass_and_as_many_children():
    draft = table(((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),))
    for name in CHILDREN:
        law = drafts(named("[[][]][]"), draft, name)
        assert sum(law.values()) == 1
        assert {tuple(len(below) for _, below in forest) for forest in law} == {(2, 0)}
    assert top_plus_one(draft(()), 2) == {(0, 1): Fraction(2, 3), (0, 2): Fraction(1, 3)}


def test_a_rule_that_forgets_the_residual_is_caught():
    def broken(draft, target, drafted, children):
        chances, rest = tree_rules.rejection(draft, target, drafted, children)
        return tree_rules.Choice(chances, tuple(sum(rest) * mass for mass in target))

    target, draft = table(BIASED), table(COIN)
    law = drafts(named("2x1"), draft)
    for verify in (tree_rules.top_down, tree_rules.scaled):
        assert (
            lossless(over_drafts(verify(tree_rules.rejection), target, draft, law), target, 2) == 0
        )
        with pytest.raises(Fails, match="law of the text"):
            lossless(over_drafts(verify(broken), target, draft, law), target, 2)


def test_a_weight_that_is_not_updated_is_caught(monkeypatch):
    monkeypatch.setattr(tree_rules, "positive", lambda one, other: positive(one, other)[::-1])
    target, draft = table(BIASED), table(COIN)
    with pytest.raises(Fails):
        lossless(
            over_drafts(tree_rules.traversal(), target, draft, drafts(named("2"), draft)), target, 1
        )


def test_the_order_of_the_choice_and_that_of_the_law_must_agree():
    target, draft = table(COIN), table(COIN)

    def other_way(*_):
        return Fraction(0), -_[-1]

    assert lossless(verified(target, draft, 1, 2, rank=other_way), target, 1) == 0
    with pytest.raises(Fails, match="law of the text"):
        lossless(verified(target, draft, 1, 2, choose=greatest(other_way)), target, 1)


# --- beside the package -------------------------------------------------------------------------


def test_paths_are_verified_like_the_rule_of_the_package():
    checked = 0
    for pair in islice(models(11, tuple(PATHS), enumerated=30), 60):
        target, draft, length = table(pair["target"]), table(pair["draft"]), pair["length"]
        for number in PATHS[draft.n, length][:2]:
            rule = GreedyMultiPath(draft, target, paths=number, length=length)
            ended = verified(target, draft, length, number)
            assert rule.expected() == ended.mean()
            kept = {outcome.accepted: outcome.mass for outcome in rule.outcomes()}
            assert {text: mass for text, mass in kept.items() if mass} == ended.kept
            law = skewed(target, draft, number, by_ratio).blocks(length)
            assert dict(rule.chosen.texts(length)) == law
            checked += 1
    assert checked == 120


@pytest.mark.parametrize(
    ("children", "kind", "rule"),
    [
        ("iid", TraversalVerify, RecursiveRejection),
        ("distinct", TraversalVerifyWithoutReplacement, RecursiveRejectionWithoutReplacement),
    ],
)
def test_leaves_are_verified_like_the_rules_of_the_package(children, kind, rule):
    turns = {size: cycle(trees) for size, trees in TREES.items()}
    checked = 0
    for pair in islice(models(21, tuple(TREES), enumerated=10), 40):
        target, draft = table(pair["target"]), table(pair["draft"])
        tree = next(turns[draft.n, pair["length"]])
        if possible(children, named(tree), draft):
            law = drafts(named(tree), draft, children)
            kept = over_drafts(tree_rules.traversal(children), target, draft, law).mean()
            assert kind(draft, target, tree, merge=False).expected() == kept
            assert UniversalTree(draft, target, tree, merge=False, rule=rule).expected() == kept
            checked += 1
    assert checked >= 25


def test_one_draft_is_verified_like_the_public_code_of_the_package():
    for pair in islice(models(22, enumerated=20), 40):
        target, draft, length = table(pair["target"]), table(pair["draft"]), pair["length"]
        rule = HierarchicalVerify(draft, target, length)
        for block in draft.blocks(length):
            kept = [Fraction(0)] * (length + 1)
            for branch in hsd.AS_CODED(target, draft, block):
                kept[branch.accepted] += branch.mass
            assert rule.kept(block).tolist() == kept


def test_the_public_code_is_the_lossy_rule_of_the_package():
    lossy = 0
    for pair in islice(models(12, ((2, 1), (2, 2), (3, 1)), enumerated=20), 50):
        target, draft, length = table(pair["target"]), table(pair["draft"]), pair["length"]
        rule = FirstHighestPath(draft, target, paths=2, length=length)
        options = {"rank": by_clipped_ratio, "choose": first_highest}
        ended = verified(target, draft, length, 2, **options)
        assert rule.expected() == ended.mean()
        released = collect(
            ((*outcome.accepted, token), outcome.mass * chance)
            for outcome in rule.outcomes()
            for token, chance in enumerate(outcome.following(()))
        )
        assert released == ended.released
        wrong = ended.texts(target, length + 1) != target.blocks(length + 1)
        assert not (wrong and audit_blocks(rule, optimum=False).lossless)
        lossy += wrong
    assert lossy > 10


def test_the_best_verifier_of_two_paths_of_the_coin():
    target, draft = table(BIASED), table(COIN)
    sets = drafted_sets(draft, 2, 2)
    assert joint(target, sets, 2) == split(target, sets, 2) == Fraction(15, 8)
    assert verified(target, draft, 2, 2).mean() == Fraction(15, 8)
