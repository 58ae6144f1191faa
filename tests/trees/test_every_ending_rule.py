"""Every class that verifies drafts, on one table of models whose texts end: exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from inspect import isabstract

import numpy as np
import pytest
from coupled_blocks import CoupledBlock
from drafted_trees import certain_trees, path_mass
from each_case import each
from ending_models import (
    ENDINGS,
    calls_of_texts,
    certain,
    each_ending,
    kept_up_to_end,
    law_up_to_end,
    most_kept,
)
from programs import drawn
from searching import enough

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BlockRule,
    BlockVerification,
    BlockVerificationPreprint,
    CarryOverVerification,
    DraftSelection,
    DynamicTree,
    FirstHighestPath,
    GreedyMultiPath,
    HandOverRule,
    HierarchicalVerification,
    LayerVerification,
    PlannedBlock,
    PlannedTree,
    ProgramTree,
    TokenVerification,
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    TreeRule,
    UniversalTree,
    UniversalTreeEarliest,
    UniversalTreeWithoutReplacement,
    decode,
    decoded_law,
    long_run,
    simulate,
)
from otspec.blocks.base import enumerated_expected
from otspec.blocks.policies import PolicyRule, SequenceRace, policies
from otspec.chance import branches
from otspec.models import EndingModel
from otspec.rules import KSequential, RecursiveRejectionWithoutReplacement, TargetOnly

pytestmark = pytest.mark.usefixtures("rules_made_once")


def selection(tree, rule):
    return lambda draft, target: DraftSelection(draft, target, tree, rule)


def planned(drafts, *options):
    return lambda draft, target: PlannedBlock(draft, target, drafts(draft, target), *options)


def block(kind):
    return lambda draft, target: kind(draft, target, 2)


def tree(kind, shape="2x1"):
    return lambda draft, target: kind(draft, target, shape)


def what_the_target_draws(drafts, chance):
    """Keep what the target draws, and its token after that: a program of one's own."""
    for node, token in enumerate(drafts, start=-1):
        drawn = chance.choose(drafts.target(node))
        if drawn != token:
            return node, [int(y == drawn) for y in range(len(drafts.target(node)))]
    return len(drafts) - 1


PAIRS = selection("2x1", KSequential)
RULES = {
    TokenVerification: [block(TokenVerification)],
    BlockVerification: [block(BlockVerification)],
    BlockVerificationPreprint: [block(BlockVerificationPreprint)],
    CarryOverVerification: [
        block(CarryOverVerification),
        lambda draft, target: CarryOverVerification(draft, target, 2, 0, parts=3),
    ],
    HierarchicalVerification: [block(HierarchicalVerification)],
    DraftSelection: [
        PAIRS,
        selection("[[]][]", RecursiveRejectionWithoutReplacement),
        selection("top2x1", TargetOnly),
    ],
    TraversalVerify: [tree(TraversalVerify), tree(TraversalVerify, "[[]][]")],
    TraversalVerifyWithoutReplacement: [tree(TraversalVerifyWithoutReplacement)],
    UniversalTree: [tree(UniversalTree), tree(UniversalTree, "1x1")],
    UniversalTreeEarliest: [tree(UniversalTreeEarliest, "[[]][]")],
    UniversalTreeWithoutReplacement: [tree(UniversalTreeWithoutReplacement)],
    LayerVerification: [tree(LayerVerification), tree(LayerVerification, "[[]][]")],
    GreedyMultiPath: [tree(GreedyMultiPath)],
    FirstHighestPath: [tree(FirstHighestPath)],
    DynamicTree: [
        lambda draft, target: DynamicTree(draft, target, 3, 2),
        lambda draft, target: DynamicTree(draft, target, 3, 3, by="target"),
        lambda draft, target: DynamicTree(draft, target, 4, 2, widest=1),
    ],
    PlannedBlock: [
        planned(PAIRS),
        planned(PAIRS, "one"),
        planned(block(BlockVerificationPreprint)),
        planned(block(BlockVerificationPreprint), "one"),
    ],
    PlannedTree: [tree(PlannedTree), tree(PlannedTree, "[[]][]")],
    ProgramTree: [lambda draft, target: ProgramTree(draft, target, "1x1", what_the_target_draws)],
    PolicyRule: [
        policies(length=2)["confidence-kept"].rule,
        policies(length=2)["confidence-masked"].rule,
    ],
    SequenceRace: [lambda draft, target: SequenceRace(draft, target, 2, 2)],
    HandOverRule: [lambda draft, target: long_run(draft, target, 2, past=1).policy],
}
"""Each class with some of its rules for a draft and a target."""
LOSSY = {HierarchicalVerification, FirstHighestPath}
CASES = [(kind, make) for kind, makes in RULES.items() for make in makes]


def each_rule(*without):
    cases = [case for case in CASES if case[0] not in without]
    names = [kind.__name__ for kind, _ in cases]
    return pytest.mark.parametrize(("kind", "make"), cases, ids=names)


def made(make, draft, target, end):
    """The rule for a target that ends: one for all tests, since some are long in the making."""
    return _made(make, draft, target, frozenset(end))


@cache
def _made(make, draft, target, end):
    return make(draft, EndingModel(target, end))


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_class_is_in_the_table():
    known = {kind for kind in subclasses(BlockRule) if kind.__module__.startswith("otspec.")}
    assert set(RULES) == {kind for kind in known if not isabstract(kind)}


@each_ending()
@each_rule()
def test_texts_are_the_targets_up_to_their_end(kind, make, draft, target, end):
    rule = made(make, draft, target, end)
    outcomes = list(rule.outcomes())
    assert sum(outcome.mass for outcome in outcomes) == 1
    assert all(not set(outcome.accepted[:-1]) & end for outcome in outcomes)
    assert kind in LOSSY or decoded_law(rule, 4) == law_up_to_end(target, end, 4)


@each_ending()
@each_rule(DynamicTree, PlannedBlock, HandOverRule)
def test_what_is_kept_counts_up_to_the_end(kind, make, draft, target, end):
    rule = made(make, draft, target, end)
    assert rule.expected() == enumerated_expected(rule)
    if kind is PolicyRule and isinstance(draft, EndingModel):
        return  # a policy stops where the draft's own text ends
    # The same rule where an end token is repeated for certain, counted up to the end.
    padded = make(certain(draft, end), certain(target, end))
    assert rule.expected() == kept_up_to_end(padded, end)


@each_ending()
@pytest.mark.parametrize("by", ["draft", "target"])
@pytest.mark.parametrize("nodes", [1, 3, 5])
def test_dynamic_trees_have_the_likeliest_nodes_up_to_the_end(by, nodes, draft, target, end):
    rule = DynamicTree(draft, EndingModel(target, end), nodes, 3, by=by)
    paths = [path for path, _ in rule.grown]
    assert all(not set(path[:-1]) & end for path in paths)
    assert len(paths) <= nodes
    assert rule.expected() == enumerated_expected(rule)
    assert rule.expected() == sum(path_mass(target, path) for path in paths)
    trees = list(certain_trees(target.n, nodes, 3, end))
    guide = draft if by == "draft" else target
    most = max(sum(path_mass(guide, path) for path in chosen) for chosen in trees)
    assert sum(path_mass(guide, path) for path in paths) == most
    if by == "target":  # which is what certain trees keep at most, and the audit's optimum
        assert rule.expected() == most == audit_blocks(rule, 2).optimum


def most_of_one_draft(draft, target, end, length):
    """Σ a(s) up to the end, a(sx) = min(a(s) M_b(x | s), M_s(sx)): one corrected token."""
    total, level = Fraction(0), {(): Fraction(1)}
    for _ in range(length):
        level = {
            (*s, x): min(a * target(s)[x], draft.mass((*s, x)))
            for s, a in level.items()
            if not set(s) & end
            for x in range(target.n)
        }
        total += sum(level.values())
    return total


@each_ending()
def test_planned_blocks_keep_the_most_there_is_up_to_the_end(draft, target, end):
    ending = EndingModel(target, end)
    for drafts in (PAIRS(draft, ending), BlockVerificationPreprint(draft, ending, 2)):
        most = most_kept(drafts.candidates(), target, end)
        whole, one = (
            PlannedBlock(draft, ending, drafts, corrects) for corrects in ("block", "one")
        )
        assert whole.expected() == most == audit_blocks(drafts).optimum
        assert drafts.expected() <= most
        assert whole.expected() == enumerated_expected(whole)
        assert one.expected() == enumerated_expected(one) <= most
        if target.n == 2:  # with three tokens the coupling takes some seconds
            coupled = CoupledBlock(draft, ending, drafts)
            assert coupled.expected() == enumerated_expected(coupled) == most
            assert decoded_law(coupled, 3) == law_up_to_end(target, end, 3)
    assert one.expected() == most_of_one_draft(draft, target, end, 2)
    pairs = PAIRS(draft, ending)
    assert PlannedBlock(draft, ending, pairs, "one").expected() >= pairs.expected()


@each_ending()
@each_rule()
def test_nothing_is_drafted_behind_an_end_token(kind, make, draft, target, end):
    rule, rng = made(make, draft, target, end), np.random.default_rng(3)
    if kind in (PolicyRule, SequenceRace):
        for _, drafts in branches(rule.draw):
            assert all(drafts[parent] not in end for parent in drafts.parents if parent >= 0)
    elif kind is not HandOverRule:
        drafted = _drafts(rule)
        assert drafted
        assert all(not set(text[:-1]) & end for text in drafted)
    for _ in range(enough(20, least=4)):
        assert not set(rule.sample(rng).accepted[:-1]) & end
        text = decode(rule, 3, rng).tokens
        assert not set(text[:-1]) & end
        if isinstance(rule, TreeRule):
            drafts = drawn(rule, rng)
            assert all(drafts[parent] not in end for parent in drafts.parents if parent >= 0)


def _drafts(rule):
    """All texts that a rule may draft."""
    if isinstance(rule, DynamicTree):
        return [path for path, _ in rule.grown]
    assert sum(rule.candidates().values()) == 1
    return [text for texts in rule.candidates() for text in texts]


@each_ending()
@each_rule(HandOverRule)
def test_after_a_beginning_that_may_be_over_less_is_kept(kind, make, draft, target, end):
    ending, rule = EndingModel(target, end), made(make, draft, target, end)
    law = {(): Fraction(1, 4), (0,): Fraction(1, 4), (1,): Fraction(1, 2)}
    kept = {text: make(draft.after(text), ending.after(text)).expected() for text in [(0,), (1,)]}
    kept[()] = rule.expected()
    assert all(kept[(token,)] == 0 for token in end & {0, 1})
    assert rule.expected_after(law) == sum(mass * kept[text] for text, mass in law.items())


@each("name", [name for name, (*_, end) in ENDINGS.items() if end])
@each_rule(HandOverRule)
def test_a_text_that_is_over_has_nothing_to_keep(kind, make, name):
    draft, target, end = ENDINGS[name]
    stop = (min(end),)
    rule = make(draft.after(stop), EndingModel(target, end).after(stop))
    assert rule.expected() == 0
    assert [(outcome.accepted, outcome.mass) for outcome in rule.outcomes()] == [((), 1)]
    assert rule.sample(np.random.default_rng(0)).accepted == ()
    assert decoded_law(rule, 3) == {(): 1}
    report = audit_blocks(rule)
    assert (report.lossless, report.expected, report.optimum) == (True, 0, 0)
    assert rule.efficiency() == 1 == float(simulate(rule, 4))


@each_rule(*LOSSY, BlockVerificationPreprint, PlannedBlock, HandOverRule)
def test_whole_texts_need_the_calls_that_are_counted(kind, make):
    """Tokens of a text by whatever way it is decoded are those of the target."""
    draft, target, end = ENDINGS["at most three tokens"]
    mean = sum(len(text) * mass for text, mass in EndingModel(target, end).texts(4))
    tokens, calls = calls_of_texts(made(make, draft, target, end))
    assert tokens == mean
    assert 1 <= calls <= mean
