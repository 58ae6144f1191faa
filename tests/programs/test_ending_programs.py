"""Programs of drafted texts whose target ends: what is drafted behind an end token is not kept."""

from __future__ import annotations

import pytest
from ending_models import ENDINGS, each_ending, most_kept
from programs_table import needs_cdd

from otspec.blocks import BlockVerificationPreprint, DraftSelection
from otspec.models import EndingModel, TableModel, memoryless
from otspec.programs import BlockProgram, CandidateProgram, DraftedSets, PathProgram
from otspec.rules import KSequential
from otspec.solvers import solve

pytestmark = needs_cdd


@each_ending()
def test_programs_and_their_plans_keep_the_same_up_to_the_end(draft, target, end):
    ending = EndingModel(target, end)
    most = most_kept(BlockVerificationPreprint(draft, ending, 2).candidates(), target, end)
    whole = {frozenset([text]): mass for text, mass in draft.texts(2, lambda _: False)}
    paths = PathProgram(DraftedSets(whole, target.n), ending).solve()
    assert paths.expected == paths.bound.value == most
    for program in (BlockProgram(draft, ending, 2), CandidateProgram(whole, ending, 2)):
        plan = program.plan()
        plan.check()
        assert solve(program.build()).value == plan.expected == plan.bound().value == most
        assert plan.paths().expected == most


TWO_TOKENS = {name: each for name, each in ENDINGS.items() if each[1].n == 2}
"""With three the couplings of trees take some seconds."""


@pytest.mark.parametrize(("draft", "target", "end"), TWO_TOKENS.values(), ids=TWO_TOKENS)
def test_trees_that_do_not_know_of_the_end_are_cut(draft, target, end):
    ending = EndingModel(target, end)
    cut = DraftSelection(draft, ending, "2x1", KSequential).candidates()
    whole = DraftSelection(draft, target, "2x1", KSequential).candidates()
    most = most_kept(cut, target, end)
    assert PathProgram(DraftedSets(whole, 2), ending).solve().expected == most
    plan = CandidateProgram(whole, ending, 2).plan()
    assert plan.expected == plan.paths().expected == plan.bound().value == most


def test_a_plan_of_drafts_that_are_shorter_than_the_block_is_that_of_their_length():
    coin, biased = memoryless(["1/2", "1/2"]), TableModel({(): ["1/4", "3/4"]})
    short = {frozenset([text]): mass for text, mass in coin.texts(1)}
    plan = CandidateProgram(short, biased, 3).plan()
    plan.check()
    assert str(plan.expected) == "3/4"
    assert plan.paths().expected == plan.bound().value == plan.expected
    with pytest.raises(ValueError, match="sequences must have from 1 to 1 tokens"):
        CandidateProgram({frozenset([(0, 1)]): "1"}, biased, 1)
