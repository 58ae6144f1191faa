"""Drafted sets of candidate sequences, the best coupling with them, and the audit of trees."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from drafted_trees import (
    FOUR,
    IID_RULES,
    RULES,
    as_floats,
    leaves,
    models,
    some_models,
    takes,
    trees,
)
from each_case import each
from instances import pairs
from programs_table import VALUE_ERROR

import otspec
from otspec.auditing.blocks import audit_blocks, best_expected
from otspec.blocks import (
    BlockVerificationPreprint,
    DraftSelection,
    TokenVerification,
    as_branching,
    decoded_law,
)
from otspec.models import memoryless
from otspec.programs import BlockProgram, CandidateProgram, formulation
from otspec.programs.sequences.block import kept_tokens
from otspec.rules import RecursiveRejection
from otspec.rules.base.pair_rule import PairRule
from otspec.solvers import solve

pytestmark = pytest.mark.usefixtures("rules_made_once")

HALVES = memoryless(["1/2", "1/2"])
SIZES = [("3", 2), ("2", 3), ("2x1", 2), ("1x2", 2), ("2x2", 2)]


def optimum(selection, solver=None):
    program = CandidateProgram(selection.candidates(), selection.target, selection.depth).build()
    return solve(program).value if solver is None else solve(program, solver).value


def cases(rules, sizes):
    return [(rule, tree, n) for rule in rules for tree, n in sizes if takes(rule, tree)]


@pytest.mark.parametrize(
    ("rule", "tree", "n"),
    cases(
        ["recursive", "recursive-distinct", "spechub"],
        [("1", 3), ("3", 3), ("2x2", 2), ("2x1x2", 2), ("2", 3)],
    ),
)
def test_candidates_are_the_leaves_of_every_tree(rule, tree, n):
    branching, (made, draws) = as_branching(tree), RULES[rule]
    for draft, target in models(180, 8, n, len(branching)):
        literal: dict = {}
        for drafted, mass in trees(draws, draft, branching).items():
            literal[leaves(drafted)] = literal.get(leaves(drafted), 0) + mass
        found = DraftSelection(draft, target, tree, made).candidates()
        assert found == literal
        assert sum(found.values()) == 1
        assert {type(mass) for mass in found.values()} == {Fraction}


@pytest.mark.parametrize(("count", "length"), [(1, 3), (2, 2), (3, 2), (2, 3)])
def test_k_chains_are_k_independent_sequences(count, length):
    for draft, target in models(181, 6, 2, length):
        literal: dict = {}
        for drawn in product(list(draft.texts(length)), repeat=count):
            sequences = frozenset(text for text, _ in drawn)
            mass = np.prod([mass for _, mass in drawn])
            literal[sequences] = literal.get(sequences, 0) + mass
        tree = (count,) + (1,) * (length - 1)
        assert DraftSelection(draft, target, tree, RecursiveRejection).candidates() == literal


def test_float_candidates_sum_to_one():
    draft, target = next(models(182, 1, 3, 2))
    selection = DraftSelection(as_floats(draft), as_floats(target), "2x2", RecursiveRejection)
    assert {type(mass) for mass in selection.candidates().values()} == {float}
    assert sum(selection.candidates().values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("n", "length"), [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_one_candidate_is_the_program_of_blocks(n, length):
    for draft, target in models(183, 8, n, length):
        selection = DraftSelection(draft, target, (1,) * length, RecursiveRejection)
        best = BlockVerificationPreprint(draft, target, length).expected()  # theorem 1's sum
        assert optimum(selection) == best
        if (n, length) != (2, 3):
            assert solve(BlockProgram(draft, target, length).build()).value == best


@each(("rule", "tree", "n"), cases(RULES, SIZES))
def test_no_rule_keeps_more_than_the_best_coupling(rule, tree, n):
    count, length = 2 if rule == "k-sequential" else FOUR, len(as_branching(tree))
    for draft, target in some_models(rule, 184, count, n, length):
        best = None
        for merge in (True, False):
            selection = DraftSelection(draft, target, tree, RULES[rule][0], merge)
            best = optimum(selection) if best is None else best
            assert type(best) is Fraction
            assert selection.expected() <= best <= selection.depth
            report = audit_blocks(selection, optimum=merge)
            assert report.lossless
            assert (report.expected, report.tolerance) == (selection.expected(), 0)
            if merge:
                assert report.optimum == best
                assert report.gap == best - selection.expected() >= 0
            else:
                assert report.optimum is report.gap is None


def test_of_single_tokens_it_is_the_optimum_of_one_step():
    for draft, target in pairs(185, 24, 3):
        for k in (1, 2, 3):
            selection = DraftSelection(
                memoryless(draft), memoryless(target), (k,), RULES["optimal"][0]
            )
            best = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
            assert optimum(selection) == selection.expected() == best
            assert audit_blocks(selection).gap == 0


def test_float_solvers_find_the_same():
    for draft, target in models(186, 3, 2, 2):
        exact = DraftSelection(draft, target, "2x1", RecursiveRejection)
        rounded = DraftSelection(as_floats(draft), as_floats(target), "2x1", RecursiveRejection)
        for solver in ("highs", "cvxpy"):
            value = optimum(rounded, solver)
            assert type(value) is float
            assert abs(value - optimum(exact)) <= VALUE_ERROR
            assert abs(optimum(exact, "highs") - optimum(exact)) <= VALUE_ERROR
        report = audit_blocks(rounded)
        assert report.lossless
        assert report.gap >= -VALUE_ERROR
        assert 0 < report.tolerance < 1e-13


def test_the_longest_beginning():
    sequences = frozenset([(0, 1, 2), (0, 0, 1)])
    for block, length in (
        ((0, 1, 2), 3),
        ((0, 1, 0), 2),
        ((0, 0, 2), 2),
        ((0, 2, 1), 1),
        ((1, 1, 2), 0),
    ):
        place = sum(token * 3 ** (2 - depth) for depth, token in enumerate(block))
        assert kept_tokens([sequences], 3, 3)[0, place] == length
    assert kept_tokens([frozenset([(1,)])], 2, 1).tolist() == [[0, 1]]
    assert kept_tokens([frozenset([(1,)]), frozenset([()])], 2, 2).tolist() == [
        [0, 0, 1, 1],
        [0, 0, 0, 0],
    ]


def test_the_program_is_the_one_of_the_definition():
    sets = {frozenset([(0, 0), (0, 1)]): "1/3", frozenset([(1, 1)]): "2/3"}
    model = CandidateProgram(sets, lambda _: ("1/4", "3/4"), 2)
    program = model.build()
    assert (model.size().rows, model.size().columns, model.size().coefficients) == (6, 8, 16)
    assert program.objective.tolist() == [2, 2, 0, 0, 0, 0, 1, 2]
    aim = [Fraction(mass, 16) for mass in (1, 3, 3, 9)]
    assert program.row_lower.tolist() == [Fraction(1, 3), Fraction(2, 3), *aim]
    assert program.row_upper.tolist() == program.row_lower.tolist()
    # {00, 01} takes 1/4 for 2 tokens, {11} takes 9/16 for 2, 5/48 of 10 for 1.
    assert solve(program).value == 2 * Fraction(1, 4) + 2 * Fraction(9, 16) + Fraction(5, 48)


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        ({}, "candidates is empty"),
        ({frozenset([(0, 1)]): "1/2"}, "candidates sums to 1/2"),
        ({frozenset([(0, 1)]): "3/2", frozenset([(0, 0)]): "-1/2"}, r"candidates\[1\] is -1/2"),
        ({frozenset([()]): 1}, r"holds \[\(\)\]: sequences must have from 1 to 2 tokens"),
        ({frozenset([(0, 1), (0, 1, 1)]): 1}, "must have from 1 to 2 tokens, the length"),
        ({frozenset(): 1}, r"holds \[\]: sequences must have from 1 to 2 tokens"),
        ({frozenset([(0, 1)]): 1.0}, "is exact but candidates is float"),
    ],
)
def test_candidates_that_are_none_are_refused(candidates, says):
    with pytest.raises(ValueError, match=says):
        CandidateProgram(candidates, HALVES, 2)


def test_lengths_and_sizes_that_do_not_fit_are_refused(monkeypatch):
    one = {frozenset([(0, 1)]): 1}
    for length in (0, -1, 2.0, "2"):
        with pytest.raises(ValueError, match="length"):
            CandidateProgram(one, HALVES, length)
    model = CandidateProgram(one, HALVES, 2)
    monkeypatch.setattr(formulation, "memory", lambda: model.size().bytes - 1)
    with pytest.raises(ValueError, match=r"use shorter blocks, fewer drafts or fewer tokens"):
        model.build()


class Greedy(PairRule):
    """Takes the first draft, whatever the target wants."""

    title = "greedy"

    def verify(self, drafts, chance):  # noqa: ARG002
        return 0


def test_a_lossy_rule_is_found_with_its_worst_text():
    """Greedy from the second token on: a function, so that it can look at the target."""

    def lossy(draft, target, k):
        return (Greedy if target[0] == Fraction(1, 3) else RecursiveRejection)(draft, target, k)

    target = otspec.models.TableModel({(): ["1/2", "1/2"], (1,): ["1/3", "2/3"]})
    selection = DraftSelection(HALVES, target, "2x2", lossy)
    report = audit_blocks(selection)
    assert not report.lossless
    # After 1 the greedy rule writes 0 with probability 1/2 instead of 1/3.
    law = decoded_law(selection, 3)
    errors = {text: law.get(text, 0) - mass for text, mass in target.texts(3)}
    assert report.texts == law
    assert report.witness[0] == 1
    assert report.error == errors[report.witness] != 0
    assert abs(report.error) == max(map(abs, errors.values()))
    assert report.total_variation == sum(map(abs, errors.values())) / 2 == Fraction(1, 12)
    assert report.witness in [text for text, error in errors.items() if error]
    again = audit_blocks(DraftSelection(HALVES, target, "2x2", RecursiveRejection))
    assert (again.lossless, again.witness, again.error, again.total_variation) == (True, None, 0, 0)


def test_a_lossy_rule_in_floats_is_found_too():
    def swapped(draft, target, k):
        return RecursiveRejection(draft, target[::-1], k)

    pair = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    report = audit_blocks(DraftSelection(*pair, "2", swapped), optimum=False)
    assert not report.lossless
    assert report.witness in {(0, 1), (1, 1)}
    assert report.total_variation == pytest.approx(0.5)
    assert audit_blocks(DraftSelection(*pair, "2", swapped), optimum=False, tolerance=0.5).lossless


def test_what_is_the_best_for_other_rules():
    for draft, target in models(187, 4, 2, 2):
        one = TokenVerification(draft, target, 2)
        assert best_expected(one) == BlockVerificationPreprint(draft, target, 2).expected()
        for rule in IID_RULES:
            assert DraftSelection(draft, target, "1x1", RULES[rule][0]).expected() <= best_expected(
                one
            )
    with pytest.raises(ValueError, match="rule is object, whose drafts are not known"):
        best_expected(object())
