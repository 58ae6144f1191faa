"""The reduced programs against the coupling of blocks and the definition of one correction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import as_floats, models

from otspec.blocks import DraftSelection
from otspec.models import memoryless
from otspec.programs import (
    BlockProgram,
    CandidateProgram,
    DraftedSets,
    PathProgram,
    PriceBound,
    formulation,
)
from otspec.programs.sequences.drafted_texts import place_of
from otspec.rules import PooledSelection, RecursiveRejectionWithoutReplacement
from otspec.solvers import LinearProgram, Sense, solve

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])


def drafted(draft, target, tree, rule=PooledSelection):
    selection = DraftSelection(draft, target, tree, rule)
    return DraftedSets(selection.candidates(), target.n)


def as_defined(law, target, corrects):
    """Return the optimum with a variable for each set and each text that it may keep."""
    pairs = [(number, text) for number, texts in enumerate(law.sets) for text in sorted(texts)]
    texts = sorted({text for _, text in pairs})
    rows, columns, values, bounds, kinds = [], [], [], [], []

    def row(entries, bound, equal):
        for column, value in entries:
            rows.append(len(bounds))
            columns.append(column)
            values.append(Fraction(value))
        bounds.append(Fraction(bound))
        kinds.append(equal)

    for number, mass in enumerate(law.chances):
        row([(i, 1) for i, pair in enumerate(pairs) if pair[0] == number], mass, True)
    for text in texts[1:]:
        beyond = [(i, 1) for i, (_, kept) in enumerate(pairs) if kept[: len(text)] == text]
        if corrects == "block":
            row(beyond, target.mass(text), False)
        else:
            head, chance = text[:-1], target(text[:-1])[text[-1]]
            shorter = [
                (i, -chance) for i, (_, kept) in enumerate(pairs) if kept[: len(head)] == head
            ]
            row(beyond + shorter, 0, False)
    upper = np.array(bounds, dtype=object)
    lower = np.where(kinds, upper, -np.inf)
    objective = np.array([Fraction(len(text)) for _, text in pairs], dtype=object)
    nothing = np.full(len(pairs), Fraction(0), dtype=object)
    return LinearProgram(
        "definition", Sense.MAXIMIZE, objective, np.array(rows), np.array(columns),
        np.array(values, dtype=object), lower, upper, nothing, nothing + np.inf,
        [str(i) for i in range(len(bounds))], [str(pair) for pair in pairs],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "n"), [("2", 3), ("1x1", 2), ("2x1", 2), ("1x2", 2), ("2x2", 2), ("1x1x1", 2)]
)
@pytest.mark.parametrize("rule", [PooledSelection, RecursiveRejectionWithoutReplacement])
def test_every_program_has_the_same_optimum(tree, n, rule):
    for draft, target in models(910, 3, n, tree.count("x") + 1):
        law = drafted(draft, target, tree, rule)
        whole = PathProgram(law, target)
        best = whole.solve()
        best.check()
        coupling = CandidateProgram(law.candidates, target, law.depth).plan()
        coupling.check()
        found = [
            best.expected,
            best.bound.value,
            coupling.expected,
            coupling.bound().value,
            coupling.paths().expected,
            solve(whole.build()).value,
            solve(as_defined(law, target, "block")).value,
        ]
        assert set(found) == {found[0]}
        one = PathProgram(law, target, "one")
        plan = one.solve()
        plan.check()
        wanted = solve(as_defined(law, target, "one")).value
        assert plan.expected == plan.bound.value == solve(one.build()).value == wanted
        assert wanted <= found[0]


def test_a_coupling_of_one_draft_is_exact_and_checked():
    for draft, target in models(911, 3, 2, 2):
        plan = BlockProgram(draft, target, 2).plan()
        plan.check()
        plan.paths().check()
        assert (
            plan.expected
            == plan.bound().value
            == solve(BlockProgram(draft, target, 2).build()).value
        )
        rounded = BlockProgram(as_floats(draft), as_floats(target), 2)
        for solver in ("highs", "cvxpy"):
            found = rounded.plan(solver)
            found.check()
            assert abs(found.expected - plan.expected) < 1e-8
    wrong = type(plan)(plan.drafted, plan.target, plan.coupled * 2, plan.duals)
    with pytest.raises(ValueError, match="draft marginal is off"):
        wrong.check()
    with pytest.raises(ValueError, match="negative mass"):
        type(plan)(plan.drafted, plan.target, -plan.coupled, plan.duals).check()


TWO = (("1/2", "1/2"), ("1/4", "3/4"))
THREE = (("1/2", "1/3", "1/6"), ("1/6", "1/3", "1/2"))


@pytest.mark.parametrize(("rows", "tree", "corrects"), [
    (TWO, "3x1x1x1", "one"),
    (THREE, "2x1x1", "block"),
    pytest.param(TWO, "4x1x1x1", "one", marks=pytest.mark.nightly),
    pytest.param(THREE, "3x1x1", "block", marks=pytest.mark.nightly),
])  # fmt: skip
def test_sizes_that_the_coupling_does_not_allow_are_exact(rows, tree, corrects):
    draft, target = map(memoryless, rows)
    program = PathProgram(drafted(draft, target, tree), target, corrects)
    plan = program.solve()
    plan.check()
    plan.bound.check()
    assert type(plan.expected) is Fraction
    assert plan.expected == plan.bound.value
    assert abs(plan.expected - solve(program.build(), "highs").value) < 1e-8


def test_prices_of_whole_blocks_are_whole():
    for draft, target in models(912, 6, 2, 3):
        bound = PathProgram(drafted(draft, target, "2x1x1"), target).solve().bound
        assert all(price.denominator == 1 for level in bound.prices for price in level)


def test_any_prices_give_a_bound():
    rng = np.random.default_rng(913)
    for draft, target in models(914, 4, 2, 2):
        law = drafted(draft, target, "2x1")
        for corrects in ("block", "one"):
            best = PathProgram(law, target, corrects).solve().expected
            for _ in range(10):
                prices = tuple(
                    np.array([Fraction(int(x), 4) for x in rng.integers(-3, 9, 2**i)], dtype=object)
                    for i in range(3)
                )
                bound = PriceBound.of(law, target, corrects, prices)
                bound.check()
                assert bound.value >= best
                low = PriceBound(law, target, corrects, prices, bound.value - Fraction(1, 9))
                with pytest.raises(ValueError, match="the prices prove"):
                    low.check()


def test_a_plan_that_keeps_too_much_is_found():
    law = drafted(*COIN, "2x1")
    plan = PathProgram(law, COIN[1]).solve()
    more = tuple(level.copy() for level in plan.at_least)
    more[1][:] = Fraction(1, 2)
    with pytest.raises(ValueError, match="the plan keeps"):
        type(plan)(plan.bound, plan.selected, more).check()


def test_laws_of_sets_say_what_is_drafted():
    law = drafted(*COIN, "2x1")
    masses = law.masses()
    for text in [(0,), (1,), (0, 1), (1, 1)]:
        has = [mass for mass, each in zip(law.chances, law.sets, strict=True) if text in each]
        assert masses[len(text)][place_of(text, 2)] == sum(has)


@pytest.mark.parametrize(
    ("candidates", "n", "says"),
    [
        ({}, 2, "candidates is empty"),
        ({frozenset([(0,)]): "1/2"}, 2, "candidates sums to 1/2"),
        ({frozenset([(2,)]): 1}, 2, "a candidate"),
        ({((0,),): 1}, 2, "a frozenset of sequences"),
        (3, 2, "a mapping from sets"),
        ({frozenset([(0,)]): 1}, 0, "n must be at least 1"),
    ],
)
def test_laws_of_sets_that_are_none_are_refused(candidates, n, says):
    with pytest.raises(ValueError, match=says):
        DraftedSets(candidates, n)


def test_unusable_programs_are_refused(monkeypatch):
    law = drafted(*COIN, "2x1")
    with pytest.raises(ValueError, match="corrects is 'all'"):
        PathProgram(law, COIN[1], "all")
    with pytest.raises(ValueError, match="drafted"):
        PathProgram(law.candidates, COIN[1])
    with pytest.raises(ValueError, match="target"):
        PathProgram(law, memoryless(["1/3", "1/3", "1/3"]))
    program = PathProgram(law, COIN[1])
    monkeypatch.setattr(formulation, "memory", lambda: program.size().bytes - 1)
    with pytest.raises(ValueError, match="use shorter blocks, fewer drafts or fewer tokens"):
        program.build()
