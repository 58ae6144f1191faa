"""Laws of drafted trees without their sets, and the bounds that follow from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import as_floats, models

from otspec.blocks import DraftSelection
from otspec.drafts import IID, WithoutReplacement
from otspec.models import memoryless
from otspec.models.tables import random_pair
from otspec.programs import (
    DraftedNodes,
    DraftedSets,
    PathProgram,
    PriceBound,
    TextProgram,
    depth_bound,
    formulation,
)
from otspec.programs.sequences.drafted_texts import text_masses
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

LAWS = {IID: PooledSelection, WithoutReplacement: PooledSelectionWithoutReplacement}
TREES = [((2,), 3), ((2, 1), 2), ((2, 2), 3), ((1, 2), 2), ((2, 1, 2), 2)]


def both(draft, target, tree, law=IID):
    """Return the law of a tree by its nodes, and set by set."""
    selection = DraftSelection(draft, target, tree, LAWS[law])
    return DraftedNodes(draft, tree, law), DraftedSets(selection.candidates(), draft.n)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("tree", "n"), TREES)
def test_trees_by_their_nodes_are_those_set_by_set(tree, n, law):
    rng = np.random.default_rng(920)
    draft, target = random_pair(n, "1/2", rng)
    by_node, by_set = both(draft, target, tree, law)
    for one, other in zip(by_node.masses(), by_set.masses(), strict=True):
        assert one.tolist() == other.tolist()
    for _ in range(5):
        marks = tuple(rng.random(n**length) < 0.3 for length in range(len(tree) + 1))
        marks[0][0] = False
        assert by_node.met(marks) == by_set.met(marks)
        prices = tuple(
            np.array([Fraction(int(x), 2) for x in rng.integers(-2, 5, n**length)], dtype=object)
            for length in range(len(tree) + 1)
        )
        assert by_node.highest(prices) == by_set.highest(prices)


@pytest.mark.parametrize("law", LAWS)
def test_texts_that_hold_too_much_are_found(law):
    rng = np.random.default_rng(921)
    for _ in range(4):
        draft, target = random_pair(2, "1/2", rng)
        tree, sets = both(draft, target, (2, 2), law)
        kept = tuple(np.zeros(2**length) for length in range(3))
        kept[2][:] = text_masses(target, 2, "target")[2].astype(float)
        best = max(
            kept[2][list(w)].sum() - float(sets.met(marked(w)))
            for w in ([0], [1], [2], [3], [0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3],
                      [0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3])
        )  # fmt: skip
        found = tree.crossed(kept)
        assert bool(found) == (best > 1e-12)
        for marks in found[:1]:
            level = sum(kept[2][marks[2]]) + sum(kept[2].reshape(2, 2).sum(axis=1)[marks[1]])
            assert level - float(tree.met(marks)) == pytest.approx(best, abs=1e-12)


def marked(places):
    marks = tuple(np.zeros(2**length, dtype=bool) for length in range(3))
    marks[2][places] = True
    return marks


def test_bounds_by_depth_are_never_below_the_optimum():
    excess = []
    for number, (draft, target) in enumerate(models(922, 60, 2, 2)):
        tree = ((2, 1), (1, 2), (3, 1))[number % 3]
        by_node, by_set = both(draft, target, tree)
        bound = depth_bound(by_node, target)
        best = PathProgram(by_set, target).solve("highs")
        assert bound.value >= best.expected - 1e-9
        assert bound.value <= simple(by_set, target)
        excess.append(float(bound.value) / max(float(best.expected), 1e-9) - 1)
    assert max(excess) < 0.04
    assert np.median(excess) < 1e-9


def simple(drafted, target):
    """Return the sum over texts of the smaller of P(drafted) and P(the target's)."""
    wanted = text_masses(target, drafted.depth, "target")
    pairs = zip(drafted.masses()[1:], wanted[1:], strict=True)
    return sum(np.minimum(one, other).sum() for one, other in pairs)


def test_the_bound_by_depth_is_at_most_the_sum_of_the_optima_of_depths():
    draft, target = random_pair(3, "1/2", np.random.default_rng(923))
    tree = DraftedNodes(draft, (2, 2))
    bound = depth_bound(tree, target)
    bound.check()
    one = depth_bound(DraftedNodes(draft, (2,)), target)
    assert type(bound.value) is Fraction
    assert one.value <= bound.value <= 1 + one.value


@pytest.mark.parametrize("corrects", ["block", "one"])
@pytest.mark.parametrize(("tree", "n"), [((2, 1), 3), ((3, 1), 2), ((2, 1, 1), 2), ((1, 1), 3)])
def test_tangents_enclose_the_optimum(tree, n, corrects):
    for draft, target in models(924, 2, n, len(tree)):
        by_node, by_set = both(draft, target, tree)
        best = float(PathProgram(by_set, target, corrects).solve().expected)
        program = TextProgram(
            DraftedNodes(as_floats(draft), tree), as_floats(target), corrects, within=1e-3
        )
        found = program.solve()
        found.bound.check()
        assert found.least - 1e-8 <= best <= found.bound.value + 1e-8
        assert found.bound.value <= found.most + 1e-8 <= best * (1 + 1e-3) + 2e-8
        exact = tuple(
            np.array([Fraction(x) for x in level], dtype=object) for level in found.bound.prices
        )
        assert PriceBound.of(by_node, target, corrects, exact).value >= best - 1e-9


def test_unusable_trees_and_programs_are_refused(monkeypatch):
    coin = memoryless([0.5, 0.5])
    for branching, says in (
        ((), "branching is empty"),
        ((0,), r"branching\[0\]"),
        (3, "branching"),
    ):
        with pytest.raises(ValueError, match=says):
            DraftedNodes(coin, branching)
    with pytest.raises(ValueError, match="children"):
        DraftedNodes(coin, (2,), 3)
    for tree in (DraftedNodes(coin, (1, 2)), DraftedNodes(coin, (2, 1), WithoutReplacement)):
        with pytest.raises(ValueError, match=r"the program is for i.i.d. paths"):
            TextProgram(tree, coin)
    program = TextProgram(DraftedNodes(coin, (2, 1)), coin)
    monkeypatch.setattr(formulation, "memory", lambda: program.size().bytes - 1)
    with pytest.raises(ValueError, match="use fewer tokens, or depth_bound"):
        program.build()
