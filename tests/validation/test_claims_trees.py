"""The later verifiers of blocks and trees: what the claims are made of, and beside the package."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, islice

import numpy as np
import pytest

from otspec.auditing import audit_blocks
from otspec.blocks import (
    FirstHighestPath,
    GreedyMultiPath,
    HierarchicalVerification,
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
)
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement
from validation import hsd, tree_rules
from validation.drafted import (
    CHILDREN,
    drafts,
    ended,
    kept,
    lossless,
    named,
    paths,
    several_paths,
    top_plus_one,
    trees,
)
from validation.gbv import (
    by_clipped_ratio,
    by_ratio,
    drafted_sets,
    first_highest,
    joint,
    skewed,
    split,
    verified,
)
from validation.models import Table, models
from validation.notation import collect

HALF = Fraction(1, 2)
COIN, BIASED = Table(((HALF, HALF),)), Table(((Fraction(1, 4), Fraction(3, 4)),))


def some_of(domain, small, random):
    """The smallest instances of a domain, and random ones."""
    drawn = domain.random(np.random.default_rng(7))
    return chain(islice(domain.small(), small), islice(drawn, random))


# --- drafted trees ------------------------------------------------------------------------------


def test_shapes_and_paths_are_read_from_their_names():
    assert named("2x1") == named("[[]][[]]") == (((),), ((),))
    assert named("[[][]][]") == (((), ()), ())
    forest = ((0, ((1, ()), (1, ()))), (1, ()))
    assert list(paths(forest)) == [(0, 1), (0, 1), (1,)]


def test_drafted_trees_have_all_mass_and_as_many_children():
    draft = Table(((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),))
    for name in CHILDREN:
        law = drafts(named("[[][]][]"), draft, name)
        assert sum(law.values()) == 1
        assert {tuple(len(below) for _, below in forest) for forest in law} == {(2, 0)}
    assert top_plus_one(draft(()), 2) == {(0, 1): Fraction(2, 3), (0, 2): Fraction(1, 3)}


def test_mass_is_missing_where_there_are_not_enough_tokens():
    draft = Table(((HALF, HALF), (HALF, HALF), (Fraction(1), Fraction(0))))
    assert sum(drafts(named("2x1"), draft, "distinct").values()) == 1
    assert sum(drafts(named("1x2"), draft, "distinct").values()) == HALF


@pytest.mark.parametrize("verifier", [tree_rules.top_down, tree_rules.scaled])
@pytest.mark.parametrize("children", CHILDREN)
def test_all_rules_for_one_token_are_lossless_for_their_children(verifier, children):
    draft = Table(((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),))
    target = Table(((Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),))
    drafting = {"draft": draft, "target": target, "tree": "2x1", "children": children, "length": 2}
    assert lossless(verifier(tree_rules.optimal), **drafting) == 0
    if children != "top plus one":
        assert lossless(verifier(tree_rules.rejection), **drafting) == 0
    if verifier is tree_rules.top_down:
        assert lossless(verifier(tree_rules.naive), **drafting) == 0


# --- beside the package -------------------------------------------------------------------------


def test_paths_are_verified_like_the_rule_of_the_package():
    for pair in some_of(several_paths(), 60, 60):
        target, draft, length, k = (pair[name] for name in ("target", "draft", "length", "k"))
        rule = GreedyMultiPath(draft, target, paths=k, length=length)
        found = verified(target, draft, length, k)
        assert rule.expected() == found.mean()
        law = {outcome.accepted: outcome.mass for outcome in rule.outcomes()}
        assert {text: mass for text, mass in law.items() if mass} == found.kept
        chosen = skewed(target, draft, k, by_ratio).blocks(length)
        assert dict(rule.chosen.texts(length)) == chosen


@pytest.mark.parametrize(
    ("children", "kind", "rule"),
    [
        ("iid", TraversalVerify, RecursiveRejection),
        ("distinct", TraversalVerifyWithoutReplacement, RecursiveRejectionWithoutReplacement),
    ],
)
def test_leaves_are_verified_like_the_rules_of_the_package(children, kind, rule):
    for pair in some_of(trees(children), 10, 30):
        target, draft, tree = pair["target"], pair["draft"], pair["tree"]
        found = kept(tree_rules.traversal, **pair)
        assert kind(draft, target, tree, merge=False).expected() == found
        assert UniversalTree(draft, target, tree, merge=False, rule=rule).expected() == found


def test_one_draft_is_verified_like_the_public_code_of_the_package():
    for pair in some_of(models(), 20, 20):
        rule = HierarchicalVerification(pair["draft"], pair["target"], pair["length"])
        for block in pair["draft"].blocks(pair["length"]):
            found = [Fraction(0)] * (pair["length"] + 1)
            for branch in hsd.AS_CODED(pair["target"], pair["draft"], block):
                found[branch.accepted] += branch.mass
            assert rule.kept(block).tolist() == found


def test_the_public_code_is_the_lossy_rule_of_the_package():
    lossy = 0
    for pair in some_of(models(((2, 1), (2, 2), (3, 1))), 20, 30):
        target, draft, length = pair["target"], pair["draft"], pair["length"]
        rule = FirstHighestPath(draft, target, paths=2, length=length)
        found = verified(target, draft, length, 2, rank=by_clipped_ratio, choose=first_highest)
        assert rule.expected() == found.mean()
        released = collect(
            ((*outcome.accepted, token), outcome.mass * chance)
            for outcome in rule.outcomes()
            for token, chance in enumerate(outcome.following(()))
        )
        assert released == found.released
        wrong = found.texts(target, length) != target.blocks(length + 1)
        assert not (wrong and audit_blocks(rule, optimum=False).lossless)
        lossy += wrong
    assert lossy > 10


def test_the_best_verifier_of_two_paths_of_the_coin():
    sets = drafted_sets(COIN, 2, 2)
    assert joint(BIASED, sets, 2) == split(BIASED, sets, 2) == Fraction(15, 8)
    assert verified(BIASED, COIN, 2, 2).mean() == Fraction(15, 8)


def test_a_tree_of_one_path_keeps_what_the_formula_says():
    """E[tau] of token verification is the sum of products of minima."""
    found = ended(tree_rules.top_down(tree_rules.rejection), COIN, BIASED, "1x1")
    assert found.mean() == Fraction(3, 4) + Fraction(9, 16)
