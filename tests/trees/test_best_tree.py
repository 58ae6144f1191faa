"""The best tree: against every tree there is, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drafted_trees import as_floats
from instances import pairs
from searching import NIGHTLY
from tree_search import all_trees, forests, kept_of, text

from otspec.blocks import DraftSelection, TreeComparison, as_shape, best_tree, best_trees
from otspec.blocks.trees.best.acceptance_rates import Chances, asked_widths, chances_of_models
from otspec.blocks.trees.best.allotment import _best, _likely_laws
from otspec.blocks.trees.best.best_shape import BestTree
from otspec.models import markov, memoryless, random_pair
from otspec.rules import (
    KSequential,
    MaximalCoupling,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

LARGEST = {
    RecursiveRejection: (8, 4),
    KSequential: (6, 4),
    PooledSelection: (7, 4),
    RecursiveRejectionWithoutReplacement: (8, 5),
    PooledSelectionWithoutReplacement: (8, 4),
    TargetOnly: (8, 5),
}
"""The most nodes of the trees that are all followed, with two tokens (at night) and with three."""
RULES = tuple(LARGEST)
COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])


def random_models(seed, count, n):
    """Memoryless models and Markov chains in turn; a draft has two tokens or more."""
    rng = np.random.default_rng(seed)
    rows = ((p, q) for p, q in pairs(seed, 40 * count, n, fewest=n) if sum(x > 0 for x in p) > 1)
    for index in range(count):
        if index % 2 == 0:
            yield tuple(map(memoryless, next(rows)))
        elif index % 4 == 1:
            drafts, targets = zip(*(next(rows) for _ in range(n)), strict=True)
            yield markov(np.array(drafts)), markov(np.array(targets))
        else:
            yield random_pair(n, Fraction(int(rng.integers(1, 9)), 10), rng)


def test_all_trees_are_all_there_are():
    assert [len(forests(nodes)) for nodes in range(9)] == [1, 1, 2, 5, 14, 42, 132, 429, 1430]
    assert len({text(tree) for tree in all_trees(6, 6)}) == 1 + 2 + 5 + 14 + 42 + 132


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [2, 3])
def test_no_tree_keeps_more(rule, n):
    nodes = depth = LARGEST[rule][n - 2] - (n == 2 and not NIGHTLY)
    for draft, target in random_models(910 + n, 2, n):
        kept = kept_of(draft, target, rule)
        table = best_trees(draft, target, rule, nodes, depth)
        values = {tree: kept(tree, target.context(())) for tree in all_trees(nodes, depth)}
        for size, levels in [(nodes, depth), (nodes, 2), (nodes - 2, depth), (1, 1)]:
            found = table.at(size, levels)
            assert found.expected == max(values[tree] for tree in all_trees(size, levels))
            assert found.tree.size <= size
            assert found.tree.depth <= levels
            assert found.expected == table.expected(found.tree)
        assert values[nested(as_shape(table.best.tree))] == table.best.expected
        for tree in list(values)[:: len(values) // 20]:
            assert table.expected(as_shape(text(tree))) == values[tree]
        assert table.bound >= table.best.expected
        likely = best_trees(draft, target, rule, nodes, depth, keep="likely")
        assert likely.best.expected <= table.best.expected
        if target.context((0,)) == draft.context((1,)) == ():
            assert table.bound == table.best.expected == likely.best.expected


def nested(shape):
    return tuple(map(nested, shape.children))


@pytest.mark.parametrize("rule", RULES)
def test_floats_find_as_much(rule):
    for draft, target in random_models(950, 4, 3):
        pair = as_floats(draft), as_floats(target)
        exact = best_tree(draft, target, rule, 4, 3, widest=3)
        found = best_tree(*pair, rule, 4, 3, widest=3)
        assert isinstance(found.expected, float)
        assert found.expected == pytest.approx(float(exact.expected), abs=1e-12)


def test_subtrees_that_are_best_after_some_texts_only_are_gone_on_with():
    # After 0 one draft is never rejected, after 1 the coins differ: the subtree of the first child
    # must suit what follows it, which is known by law only.
    draft = markov([["1/2", "1/2"], ["1/2", "1/2"]])
    target = markov([["1/2", "1/2"], ["1/10", "9/10"]])
    table = best_trees(draft, target, RecursiveRejection, 6, 3)
    assert [len(row) for row in table.rows] == [6, 6, 6]
    assert table.bound > table.best.expected
    assert table.best.expected == max(
        kept_of(draft, target, RecursiveRejection)(tree, ()) for tree in all_trees(6, 3)
    )


def test_a_function_is_asked_for_each_number_of_drafts():
    """Only a rule that says so has the first drafts of the most for fewer."""

    def pooled(draft, target, k):
        return PooledSelection(draft, target, k)

    assert asked_widths(pooled, [1, 2, 3]) == (False, [1, 2, 3])
    assert asked_widths(PooledSelection, [1, 3]) == (False, [1, 3])
    assert asked_widths(RecursiveRejection, [1, 3]) == (True, [3])
    models = random_pair(3, "1/3", np.random.default_rng(6))
    found, wanted = (best_trees(*models, rule, 4, 2) for rule in (pooled, PooledSelection))
    assert found.best.expected == wanted.best.expected


def test_a_rule_for_pairs_has_nodes_of_two_children():
    found = best_tree(*COIN, SpecHub, 6, 3)
    assert found.tree.size == 6
    assert {len(node) for node in _nodes(found.tree)} == {0, 2}
    single = best_tree(*COIN, MaximalCoupling, 6, 4)
    assert single.tree.text == "1x1x1x1"
    with pytest.raises(ValueError, match="exactly 2 children, but a node may have at most 1"):
        best_tree(*COIN, SpecHub, 1, 1)


def _nodes(shape):
    yield shape.children
    for child in shape.children:
        yield from _nodes(child)


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_keeps_as_much_where_it_is_verified(rule):
    for draft, target in random_models(960, 4, 3):
        found = best_tree(draft, target, rule, 5, 3, widest=3)
        verified = DraftSelection(draft, target, found.tree, rule, merge=False)
        assert verified.expected() == found.expected


def test_beginnings_are_drawn_at_random():
    draft, target = random_pair(2, "1/2", np.random.default_rng(3))
    law = {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    found = best_tree(draft, target, RecursiveRejection, 5, 3, beginnings=law)
    kept = kept_of(draft, target, RecursiveRejection)
    assert found.expected == max(
        sum(mass * kept(tree, text) for text, mass in law.items()) for tree in all_trees(5, 3)
    )


def test_bad_searches_are_refused():
    for change, message in [
        ({"nodes": 0}, "nodes must be at least 1, got 0"),
        ({"nodes": 10_000}, "at most 4,096"),
        ({"depth": 0}, "depth must be at least 1, got 0"),
        ({"widest": 0}, "widest must be at least 1, got 0"),
        ({"keep": "some"}, "keep is 'some': it must be one of all, likely"),
        ({"rule": 3}, "rule is 3"),
    ]:
        given = {"rule": RecursiveRejection, "nodes": 4, "depth": 2, **change}
        with pytest.raises(ValueError, match=message):
            best_tree(*COIN, **given)


def test_a_tree_says_its_nodes_and_its_tokens_per_call():
    best = BestTree(as_shape("2x1"), Fraction(3, 2))
    assert (best.nodes, best.efficiency, best.error) == (4, Fraction(5, 2), 0)
    compared = TreeComparison("2x1", "recursive-rejection", Fraction(3, 2))
    assert (compared.nodes, compared.efficiency, compared.error) == (4, Fraction(5, 2), 0)


def test_where_texts_do_not_matter_branchings_are_products_of_their_levels():
    """A level of one or two drafts of a fair coin is kept with α₁ or α₂, of a target 1/4, 3/4."""
    one, two = Fraction(3, 4), Fraction(7, 8)  # 1/2 + 1/4, and then a half of what is left
    found = best_trees(*COIN, RecursiveRejection, 7, 3)
    assert found.chain.expected == one + one**2 + one**3
    assert found.chain.tree == as_shape("1x1x1")
    kept = {
        "1": one, "1x1": one + one**2, "1x1x1": one + one**2 + one**3, "2": two,
        "2x1": two + two * one, "1x2": one + one * two, "1x1x2": one + one**2 + one**2 * two,
        "2x2": two + two**2, "2x1x1": two + two * one + two * one**2,
        "1x2x1": one + one * two + one * two * one,
    }  # fmt: skip
    fitting = {tree: worth for tree, worth in kept.items() if as_shape(tree).size <= 7}
    best = max(fitting, key=fitting.get)
    assert (found.branching.tree, found.branching.expected) == (as_shape(best), fitting[best])
    assert found.best.expected >= found.branching.expected


def test_levels_are_kept_by_the_chances_of_the_drafts_above_them():
    kept = {1: [[0.6]], 2: [[0.5], [0.25]], 3: [[0.5], [0.25], [0.125]]}
    arrays = {k: np.array(each) for k, each in kept.items()}
    led = {k: each[:, :, None] for k, each in arrays.items()}
    chances = Chances(np.ones(1), np.zeros((1, 1), dtype=int), (1, 2, 3), arrays, led)
    for tree, levels in (
        ("1", [0.6]), ("2", [0.75]), ("3x1", [0.875, 0.875 * 0.6]), ("1x2", [0.6, 0.6 * 0.75]),
        ("[[]][]", [0.75, 0.5 * 0.6]), ("[][[]]", [0.75, 0.25 * 0.6]),
        ("[[][[]]][]", [0.75, 0.5 * 0.75, 0.5 * 0.25 * 0.6]),
    ):  # fmt: skip
        assert chances.by_level(as_shape(tree))[:, 0] == pytest.approx(levels)
        assert chances.expected(as_shape(tree)) == pytest.approx([sum(levels)])


def test_levels_and_likely_places_follow_the_tokens():
    """The tokens lead from place 0 to the places 0, 1, 1 and from place 1 to 1, 0, 0."""
    led = np.array([[[0.1, 0.2, 0.3], [0.4, 0.1, 0]], [[0.05, 0, 0], [0, 0, 0]]])
    following = np.array([[0, 1, 1], [1, 0, 0]])
    kept, start = {2: led.sum(axis=2)}, np.array([1.0, 0.0])
    chances = Chances(start, following, (1, 2), kept, {2: led}, nested=True)
    levels = chances.by_level(as_shape("1x1")).T
    assert levels[0] == pytest.approx([0.6, 0.1 * 0.6 + 0.5 * 0.5])
    assert levels[1] == pytest.approx([0.5, 0.4 * 0.5 + 0.1 * 0.6])
    # Either draft is kept, the first one, the second one.
    laws = [[0.15 / 0.65, 0.5 / 0.65], [1 / 6, 5 / 6], [1, 0]]
    assert _likely_laws(chances, 2) == pytest.approx(np.array(laws))


def test_what_is_never_kept_has_a_best_tree_all_the_same():
    never = memoryless(["1", "0"]), memoryless(["0", "1"])
    for keep in ("all", "likely"):
        assert best_trees(*never, RecursiveRejection, 4, 3, keep=keep).best.expected == 0


def test_texts_that_cannot_be_drafted_or_kept_have_no_place():
    """Only 0 can follow: 1 has no chance with the target, 2 none with the draft."""
    draft = markov([["1/2", "1/2", "0"]] * 3, first=[["1", "0", "0"]])
    target = markov([["1/2", "0", "1/2"]] * 3, first=[["1", "0", "0"]])
    chances = chances_of_models(draft, target, RecursiveRejection, (1, 2), 3, {(): Fraction(1)})
    assert chances.start.tolist() == [1, 0]
    assert chances.following.tolist() == [[1, 0, 0], [1, 1, 1]]


def test_too_many_texts_or_trees_are_refused(monkeypatch):
    models = random_pair(3, 0.4, np.random.default_rng(5))
    monkeypatch.setattr("otspec.blocks.trees.best.acceptance_rates.MOST_PLACES", 3)
    with pytest.raises(ValueError, match="tell apart more than 3 texts: use a smaller depth"):
        best_trees(*models, RecursiveRejection, 4, 3)
    monkeypatch.undo()
    monkeypatch.setattr("otspec.blocks.trees.best.allotment.MOST_CANDIDATES", 1)
    with pytest.raises(ValueError, match="more than 1 trees are each best after some texts"):
        _ = best_trees(*models, RecursiveRejection, 5, 3).best
    monkeypatch.setattr("otspec.blocks.trees.best.allotment.MOST_CANDIDATES", 2)
    rows = [np.array(row) for row in ([1, 2], [2, 1], [1, 1], [0, 3])]
    assert len(_best(rows[:1], rows[1:3], lambda row: row)) == 2
    with pytest.raises(ValueError, match="more than 2 trees are each best"):
        _best(rows[:1], rows[1:], lambda row: row)


def test_laws_that_differ_in_some_place_are_two():
    """All agree in the first place: after either draft, and after both together."""
    led = np.array([[[0.3, 0.2, 0.1]] * 3, [[0.3, 0.1, 0.2]] * 3])
    following, kept = np.array([[0, 1, 2]] * 3), led.sum(axis=2)
    chances = Chances(np.eye(3)[0], following, (2,), {2: kept}, {2: led})
    wanted = [[1 / 2, 1 / 4, 1 / 4], [1 / 2, 1 / 3, 1 / 6], [1 / 2, 1 / 6, 1 / 3]]
    assert _likely_laws(chances, 4) == pytest.approx(np.array(wanted))
    assert _likely_laws(chances, 1).tolist() == [[1, 0, 0]]
