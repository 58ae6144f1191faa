"""Rules for one token lifted to trees: lossless, and as every drafted tree verified by itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from block_models import model_pairs, within
from drafted_trees import as_floats, models
from lifted_trees import (
    DRAWS,
    answered,
    is_lossless,
    kept,
    lifted,
    ordered_trees,
    over_trees,
    traversal,
)
from searching import NIGHTLY

from otspec.blocks import TREE_VERIFIERS as ALL_VERIFIERS
from otspec.blocks import (
    BlockVerification,
    DraftSelection,
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
    decoded_law,
)
from otspec.blocks.base import BlockRule
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.models import memoryless
from otspec.rules import RULES as ALL_RULES
from otspec.rules import (
    DrawnDraft,
    EarliestPooledSelection,
    GumbelCoupling,
    GumbelLists,
    KSequential,
    NaiveSampling,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

pytestmark = pytest.mark.usefixtures("rules_made_once")

VERIFIERS = {name: kind for name, kind in ALL_VERIFIERS.items() if issubclass(kind, LeafToRoot)}
TREES = [tree for nodes in range(1, 6) for tree in ordered_trees(nodes)]
TREES += ordered_trees(6)[:: 1 if NIGHTLY else 6]
PARTS = 14


HALVES = ("1/2", "1/2")


def k_sequential(draft, target, k):
    """With ρ = k, which needs no root; its residual may be one of the drafts."""
    return KSequential(draft, target, k, rho=k)


RULES = [
    (PooledSelection, "iid", True),
    (k_sequential, "iid", True),
    (PooledSelection, "iid", False),
    (EarliestPooledSelection, "iid", True),
    (DrawnDraft, "top-plus-one", True),
    (NaiveSampling, "iid", True),
    (RecursiveRejectionWithoutReplacement, "distinct", True),
    (TargetOnly, "top", True),
]


def spread(part):
    """Every tree of up to 6 nodes, each with models of its own; smaller ones over three tokens.

    Of 6 nodes a sixth but at night; at night more models for these and over three tokens.
    """
    twice = [(2, 6, 231), (3, 3, 234)] if NIGHTLY else []
    for n, most, seed in ((2, 6, 230), (2, 5, 232), (3, 4, 233), *twice):
        trees = [tree for tree in TREES if tree.count("[") <= most][part::PARTS]
        for index, pair in enumerate(models(100 * seed + part, len(trees), n, 2)):
            yield trees[index], index + seed, pair


def check(rule, draws, pair, *literal):
    """Compare a rule with every drafted tree verified by itself, and with the target's text."""
    law = answered(rule)
    for verified in literal:
        assert law == over_trees(verified, DRAWS[draws], pair[0], rule.tree)
    assert is_lossless(law, pair[1], rule.depth)
    assert rule.expected() == kept(law)
    assert type(rule.expected()) is Fraction


@pytest.mark.parametrize("part", range(PARTS))
def test_traversal_is_the_algorithm_of_the_paper_and_the_lifted_rule(part):
    """Equal i.i.d. children stay apart in the paper."""
    for tree, turn, pair in spread(part):
        if turn % 3 == 0:
            rule = TraversalVerify(*pair, tree, merge=False)
            check(rule, "iid", pair, traversal(pair, True), lifted(RecursiveRejection, pair, False))
        elif turn % 3 == 1:
            rule = TraversalVerify(*pair, tree)
            check(rule, "iid", pair, lifted(RecursiveRejection, pair, True))
        else:
            rule = TraversalVerifyWithoutReplacement(*pair, tree)
            one_by_one = lifted(RecursiveRejectionWithoutReplacement, pair, False)
            check(rule, "distinct", pair, traversal(pair, False), one_by_one)


@pytest.mark.parametrize("part", range(PARTS))
def test_any_rule_for_one_token_may_be_lifted(part):
    for tree, turn, pair in spread(part):
        made, draws, merge = RULES[turn % len(RULES)]
        rule = UniversalTree(*pair, tree, made, merge=merge)
        check(rule, draws, pair, lifted(made, pair, merge))


@pytest.mark.parametrize("tree", ["2x2", "[[][]][[]]", "2x1x2"])
def test_rules_for_pairs_of_drafts_may_be_lifted_too(tree):
    """A node that has one child is verified by the coupling of a single draft."""
    for made, draws in ((SpecHub, "hub"), (PooledSelectionWithoutReplacement, "distinct")):
        if made.only_k is None or tree == "2x2":
            for pair in models(235, 8, 2, 2, support=2):
                rule = UniversalTree(*pair, tree, made)
                check(rule, draws, pair, lifted(made, pair, False))


def test_models_tell_which_texts_are_alike():
    """One state for texts that a model of order 1 does not tell apart."""
    for pair in models(236, 2, 2, 1):
        for rule in (TraversalVerify(*pair, "2x1x1"), UniversalTree(*pair, "2x1x1")):
            kept_after = {text: kept(answered(rule.restarted(*(m.after(text) for m in pair))))
                          for text in ((0,), (1, 0))}  # fmt: skip
            beginnings = {(0,): Fraction(1, 3), (1, 0): Fraction(2, 3)}
            mean = sum(beginnings[text] * value for text, value in kept_after.items())
            assert rule.expected_after(beginnings) == mean
            assert rule.efficiency() == rule.expected() + 1
            is_the_targets_text = decoded_law(rule, 4) == dict(pair[1].texts(4))
            assert is_the_targets_text


@pytest.mark.parametrize(("n", "length"), [(2, 1), (2, 3), (3, 2)])
def test_a_chain_is_verified_as_published_whatever_the_rule(n, length):
    rules = [
        (RecursiveRejection, True),
        (PooledSelection, False),
        (RecursiveRejectionWithoutReplacement, True),
        (PooledSelectionWithoutReplacement, True),
    ]
    for each in model_pairs(237, n, length, 16 if NIGHTLY else 12):
        published = BlockVerification(*each.exact, length)
        chain = (1,) * length
        found = [UniversalTree(*each.exact, chain, made, merge=m) for made, m in rules]
        found += [kind(*each.exact, chain) for kind in VERIFIERS.values()]
        for rule in found:
            assert answered(rule) == answered(published)
            assert rule.expected() == published.expected()


class Sure(PairRule):
    """A rule of another package, which says nothing of itself: draws anew, whatever is drafted."""

    def verify(self, drafts, chance):  # noqa: ARG002
        return self.target


def naive(draft, target, k):
    return NaiveSampling(draft, target, k)


CHAINED = [
    *(rule for rule in ALL_RULES.values() if issubclass(rule, PairRule) and rule.only_k != 2),
    *(Sure, naive, k_sequential),
]
KEEP_LESS = (NaiveSampling, GumbelCoupling, GumbelLists, TargetOnly, Sure, naive)


@pytest.mark.parametrize("made", CHAINED)
def test_a_chain_keeps_what_the_program_keeps_for_every_rule(made):
    """Of one draft most rules keep as much as block verification; some keep less."""
    less = 0
    for length in (1, 2):
        for pair in models(241 + length, 12, 2, 2):
            rule = UniversalTree(*pair, (1,) * length, made)
            check(rule, "top" if made is TargetOnly else "iid", pair, lifted(made, pair, True))
            assert rule.as_block is None or getattr(made, "couples_one", False)
            less += rule.expected() < BlockVerification(*pair, length).expected()
    assert bool(less) == (made in KEEP_LESS)


class Maker:
    """Makes rules, and is none."""

    def __new__(cls, draft, target, k):
        return NaiveSampling(draft, target, k)


def test_of_a_class_that_makes_rules_it_is_not_known_that_it_couples_one_draft():
    coin, other = memoryless(HALVES), memoryless(["1/4", "3/4"])
    rule = UniversalTree(coin, other, "1x1", Maker)
    assert rule.as_block is None
    assert rule.expected() == UniversalTree(coin, other, "1x1", naive).expected()
    assert rule.expected() < UniversalTree(coin, other, "1x1").expected()


@pytest.mark.parametrize(
    ("nonsense", "message"),
    [
        (lambda *_: 5, "rule returned 5: it must return a rule for one token"),
        (lambda *_: None, "rule returned None: it must return a rule for one token"),
        (lambda *_: PooledSelection, "it must return a rule for one token"),
        (
            lambda draft, target, _: PooledSelection(draft, target, 3),
            r"rule returned one for k = 3 drafts of \d tokens, but was asked for k = 2 of",
        ),
        (
            lambda *given: PooledSelection((*HALVES, 0, 0), (*HALVES, 0, 0), given[-1]),
            "rule returned one for k = 2 drafts of 4 tokens, but was asked for k = 2 of",
        ),
    ],
)
def test_functions_that_return_no_rule_for_these_drafts_are_refused(nonsense, message):
    coin = memoryless(HALVES)
    for kind in (UniversalTree, DraftSelection):
        rule = kind(coin, coin, "2x2", nonsense)
        for asked in (rule.expected, lambda rule=rule: list(rule.outcomes())):
            with pytest.raises(ValueError, match=message):
                asked()


@pytest.mark.parametrize(
    ("made", "merge"),
    [
        (RecursiveRejection, True),
        (RecursiveRejection, False),
        (PooledSelection, False),
        (RecursiveRejectionWithoutReplacement, True),
    ],
)
def test_at_least_what_is_kept_depth_by_depth(made, merge):
    for tree, n in (("2x1", 3), ("1x2x1", 2), ("2x2", 2), ("3x1x1", 2)):
        for pair in models(238, 8, n, 2):
            from_the_leaves = UniversalTree(*pair, tree, made, merge=merge).expected()
            assert from_the_leaves >= DraftSelection(*pair, tree, made, merge).expected()


ROUNDING = 2.0**-52


@pytest.mark.parametrize("tree", ["2x1x1", "[[][]][[]]", "3x2"])
def test_floats_are_the_exact_numbers_rounded(tree):
    """A node adds a few roundings per token, no larger than the mass with which it is visited."""
    for n in (2,) if tree == "3x2" else (2, 3):
        for pair in models(239 + n, 8 if n == 2 else 3, n, 1):
            rounded = tuple(map(as_floats, pair))
            for kind in (TraversalVerify, UniversalTree):
                exact, found = kind(*pair, tree), kind(*rounded, tree)
                off = 16 * (n + 1) ** 2 * exact.tree.size * ROUNDING
                assert found.expected() == pytest.approx(float(exact.expected()), abs=off)
                assert type(found.expected()) is float
                law, floats = answered(exact), answered(found)
                for key in {**law, **floats}:
                    assert floats.get(key, 0) == pytest.approx(float(law.get(key, 0)), abs=off)


@pytest.mark.parametrize("kind", VERIFIERS.values(), ids=VERIFIERS)
def test_drafted_trees_are_verified_by_the_law_of_the_outcomes(kind):
    rng = np.random.default_rng(240)
    for pair in models(243, 1, 2, 2, support=2):
        rule = kind(*map(as_floats, pair), "[[]][[][]]")
        counts = Counter()
        for _ in range(400):
            outcome = rule.sample(rng)
            counts[outcome.accepted, rule.next_token(outcome, rng)] += 1
        exact = kind(*pair, rule.tree)
        assert within(counts, answered(exact), 400)
        assert exact.sample(rng).mass == 1


@pytest.mark.parametrize("kind", VERIFIERS.values(), ids=VERIFIERS)
def test_programs_over_all_branches_have_the_law_of_the_outcomes(kind):
    """Where three children are deleted one after the other, of four tokens."""
    rule = kind(
        memoryless(["1/2", "1/4", "1/8", "1/8"]), memoryless(["1/8", "1/8", "1/4", "1/2"]), "3"
    )
    found = {
        (outcome.accepted, token): outcome.mass * chance
        for outcome in BlockRule.outcomes(rule)
        for token, chance in enumerate(outcome.following(()))
        if chance > 0
    }
    assert found == answered(rule)


def test_a_deep_tree_is_verified():
    same = memoryless([0.5, 0.5])
    rule = TraversalVerify(same, same, (1,) * 500)
    outcome = rule.sample(np.random.default_rng(0))
    assert len(outcome.accepted) == 500


def test_what_cannot_be_used_is_refused():
    coin = memoryless(HALVES)
    with pytest.raises(ValueError, match="merge"):
        TraversalVerify(coin, coin, "2x1", merge=1)
    with pytest.raises(ValueError, match="rule is 'pooled'"):
        UniversalTree(coin, coin, "2x1", "pooled")
    with pytest.raises(ValueError, match="write the children by depth"):
        UniversalTree(coin, coin, "2y1")
    with pytest.raises(ValueError, match="too many for an exact sum"):
        UniversalTree(coin, coin, "16").expected()


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("weight", [Fraction(1), Fraction(1, 2), Fraction(1, 7)])
@pytest.mark.parametrize("text", ["1x1", "2x1", "[[]][]", "3"])
def test_traversal_visits_what_all_drafts_of_recursive_rejection_lead_to(text, weight, merge):
    """And, if none is kept, corrects or goes up with the same probabilities."""
    models = memoryless(["1/2", "1/3", "1/6"]), memoryless(["1/6", "1/2", "1/3"])
    made = TraversalVerify(*models, text, merge=merge)
    found = made.arrivals((), weight, made.tree)
    wanted = LeafToRoot.arrivals(made, (), weight, made.tree)
    assert found.rest.tolist() == wanted.rest.tolist()
    assert found.rest[-1] == 1 - weight
    visits = [Counter(), Counter()]
    for each, into in zip((found, wanted), visits, strict=True):
        for child, mass in each.masses.items():
            into[child.token, child.weight] += mass
    assert visits[0] == visits[1]
