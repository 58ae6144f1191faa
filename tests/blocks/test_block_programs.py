"""Every formula and dynamic program of block and tree rules, against the rule's own program."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import models
from each_case import each
from searching import enough

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    TREE_RULES,
    TREE_VERIFIERS,
    DraftSelection,
    DynamicTree,
    FirstHighestPath,
    GreedyMultiPath,
    HierarchicalVerification,
    PlannedBlock,
    ProgramTree,
    TokenVerification,
    long_run,
)
from otspec.blocks.base import BlockRule, enumerated_expected
from otspec.chance import Drawn, law_of
from otspec.models import EndingModel, TableModel, memoryless
from otspec.rules import KSequential, PooledSelection

pytestmark = pytest.mark.usefixtures("rules_made_once")

TREES = ("1x1", "2", "2x1", "[[]][]", "[[][]]")
CERTAIN = ("top2x1", "[top[][]][]")


def by_depth(rule):
    def make(draft, target, tree, **options):
        return DraftSelection(draft, target, tree, rule, **options)

    return make


def planned(corrects):
    def make(draft, target, tree):
        return PlannedBlock(
            draft, target, DraftSelection(draft, target, tree, PooledSelection), corrects
        )

    return make


BLOCKS = {**BLOCK_RULES, "hierarchical": HierarchicalVerification}
WHOLE = {
    **{f"depth by depth: {name}": by_depth(rule) for name, rule in TREE_RULES.items()},
    **{name: rule for name, rule in TREE_VERIFIERS.items() if rule is not GreedyMultiPath},
}
ONLY_K = {f"depth by depth: {name}": rule.only_k for name, rule in TREE_RULES.items()}
PAIRS = enough(16, 8)
"""Pairs of models of two tokens: dense, sparse, tied, equal, apart and certain rows among them."""


def pairs():
    """Small models with zeros and ties, and with texts that end."""
    for index, (draft, target) in enumerate(models(1_100, PAIRS, 2, 2)):
        yield draft, EndingModel(target, [1]) if index % 4 == 3 else target


def summed(outcomes):
    """The mass of each text that is kept, and that of each token after it."""
    kept, following = {}, {}
    for outcome in outcomes:
        assert outcome.mass >= 0
        if outcome.mass == 0:
            continue
        kept[outcome.accepted] = kept.get(outcome.accepted, 0) + outcome.mass
        for token, chance in enumerate(outcome.following(()).tolist()):
            if chance > 0:
                cell = (*outcome.accepted, token), len(outcome.accepted)
                following[cell] = following.get(cell, 0) + outcome.mass * chance
    return kept, following


def check(rule):
    """Whether the laws that a rule gives are those of its program, over all branches."""
    wanted = summed(BlockRule.outcomes(rule))
    assert sum(wanted[0].values()) == 1
    assert summed(rule.outcomes()) == wanted
    expected = rule.expected()
    assert type(expected) is Fraction
    assert expected == sum(
        mass * len(rule.target.up_to_end(text)) for text, mass in wanted[0].items()
    )
    assert expected == enumerated_expected(rule)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_laws_of_block_rules_are_those_of_their_programs(name, length):
    for pair in pairs():
        rule = BLOCKS[name](*pair, length)
        check(rule)
        assert rule.expected_up_to()[-1] == rule.expected()


@each("name", WHOLE)
@each("tree", TREES)
def test_laws_of_tree_rules_are_those_of_their_programs(name, tree):
    for draft, target in list(pairs())[:: 1 if tree in ("2", "2x1") else 2]:
        only = ONLY_K.get(name)
        rule = WHOLE[name](draft, target, tree)
        if only is not None and rule.tree.widths != {only}:
            continue
        check(rule)
        if len(rule.tree.children) > 1:
            check(WHOLE[name](draft, target, tree, merge=False))


@pytest.mark.parametrize("tree", CERTAIN)
def test_certain_children_are_verified_by_the_same_program(tree):
    for pair in pairs():
        check(DraftSelection(*pair, tree, KSequential))


@pytest.mark.parametrize("tree", ["1x1", "2x1", "3"])
@pytest.mark.parametrize("kind", [GreedyMultiPath, FirstHighestPath])
def test_laws_of_several_paths_are_those_of_their_programs(kind, tree):
    for pair in pairs():
        check(kind(*pair, tree))


def test_laws_of_grown_trees_are_those_of_their_programs():
    for draft, target in pairs():
        for by in ("draft", "target"):
            check(DynamicTree(draft, target, 3, 2, by=by))


@pytest.mark.parametrize("corrects", ["block", "one"])
def test_laws_of_plans_are_those_of_their_programs(corrects):
    for pair in list(pairs())[::2]:
        check(planned(corrects)(*pair, "2x1"))


def test_laws_of_what_is_handed_over_are_those_of_its_program():
    coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    chain = TableModel({(): ["1/2", "1/2"], (0,): ["1/3", "2/3"]})
    for pair in ((coin, biased), (chain, biased)):
        rule = long_run(*pair, 2, reach=1, past=1).policy
        check(rule)


@pytest.mark.parametrize("name", [*BLOCKS, *WHOLE])
def test_drafts_are_drawn_by_their_law(name):
    """The drafted sequences of the program have the law that plans and optima are told."""
    for pair in list(pairs())[::4]:
        made = BLOCKS[name](*pair, 2) if name in BLOCKS else WHOLE[name](*pair, "2x1")
        if ONLY_K.get(name) == 2:
            made = made.with_tree("2")

        def drafted(chance, made=made):
            drafts = made.draw(chance)
            leaves = set(range(len(drafts))) - set(drafts.parents)
            return frozenset(map(drafts.text, leaves)) or frozenset([()])

        assert law_of(drafted) == made.candidates()


@pytest.mark.parametrize("name", [*BLOCKS, *WHOLE])
def test_a_generator_takes_one_of_the_branches(name):
    rng = np.random.default_rng(7)
    for pair in list(pairs())[::4]:
        made = BLOCKS[name](*pair, 2) if name in BLOCKS else WHOLE[name](*pair, "2")
        drafts = made.draw(Drawn(rng))
        ways = {outcome.accepted: outcome for outcome in made.outcomes_of(drafts)}
        assert sum(outcome.mass for outcome in ways.values()) == 1
        assert all(made.outcome(drafts, Drawn(rng)).accepted in ways for _ in range(5))


def token_by_token(drafts, chance):
    """Token verification, as a user would write it."""
    for node, token in enumerate(drafts, start=-1):
        wanted, offered = drafts.target(node), drafts.draft(node)
        if not chance.accept(wanted[token], offered[token]):
            rest = np.maximum(wanted - offered, 0)
            return node, (rest / rest.sum()).tolist()
    return len(drafts) - 1


def likeliest_child(drafts, chance):
    """Go down to the drafted child that the target likes best, with no regard to the draft."""
    node = -1
    while below := drafts.children(node):
        best = max(below, key=lambda child: drafts.target(node)[drafts[child]])
        if not chance.accept(drafts.target(node)[drafts[best]]):
            break
        node = best
    return node


def test_a_function_is_a_rule():
    for draft, target in pairs():
        own = ProgramTree(draft, target, "1x1", token_by_token)
        token = TokenVerification(draft, target, 2)
        assert summed(own.outcomes()) == summed(token.outcomes())
        assert own.expected() == token.expected()
        report = audit_blocks(token_by_token, 4, draft=draft, target=target, tree="1x1")
        assert (report.lossless, report.expected) == (True, token.expected())
    coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    report = audit_blocks(likeliest_child, draft=coin, target=biased, tree="2x1", optimum=False)
    assert report.lossless is False


def test_what_a_function_may_not_return_is_refused():
    coin = memoryless(["1/2", "1/2"])
    for answer, message in [
        (2, "verify returned node 2: return a node from -1 to 1"),
        ((0, [1]), r"an array of shape \(1,\): return 2 masses"),
        (["1/2", "1/4", "1/4"], r"an array of shape \(3,\)"),
        ((-2, ["1/2", "1/2"]), "verify returned node -2"),
    ]:
        rule = ProgramTree(coin, coin, "1x1", lambda *_, answer=answer: answer)
        with pytest.raises(ValueError, match=message):
            rule.expected()
    with pytest.raises(ValueError, match="rule is a program: pass draft="):
        audit_blocks(token_by_token)
    with pytest.raises(ValueError, match="function is 1"):
        ProgramTree(coin, coin, "1x1", 1)
    kept = ProgramTree(coin, coin, "1x1", lambda *_: ["1/2", "1/2"]).expected()
    assert kept == 0


def test_audits_follow_the_program():
    coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    for make in WHOLE.values():
        assert audit_blocks(make(coin, biased, "2"), optimum=False).lossless
