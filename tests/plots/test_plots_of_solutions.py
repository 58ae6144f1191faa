"""Plots of one solution: a cut, a plan, a selection, a tree; what is drawn is what was computed."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from drawn import curve, said, words_of

import otspec
from otspec import blocks, models, plots
from otspec.rules import (
    KSequential,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
)

DRAFT, TARGET = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
P, Q = ([Fraction(mass) for mass in law] for law in (DRAFT, TARGET))
MODELS = models.memoryless(["1/2", "1/2"]), models.memoryless(["1/4", "3/4"])
FOUND = blocks.best_trees(*MODELS, RecursiveRejection, 7, 3)


def optimum(**more):
    return otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, **more)


def bars(axes):
    """Return the bars by what they say, and the gray stretches."""
    names = [label.get_text() for label in axes.get_xticklabels()]
    found = [
        (patch.get_x(), patch.get_height(), patch.get_facecolor()[3] > 0)
        for patch in axes.patches if patch.get_width() < 0.5
    ]  # fmt: skip
    draft = {names[round(x + 0.4)]: height for x, height, filled in found if filled}
    target = {names[round(x)]: height for x, height, filled in found if not filled}
    gray = [names[round(patch.get_x() + 0.5)] for patch in axes.patches if patch.get_width() > 0.5]
    return names, draft, target, gray


def test_a_cut_is_drawn_with_its_masses_and_the_terms_of_its_bound():
    axes = plots.cut(optimum())
    names, draft, target, gray = bars(axes)
    assert names == ["0", "2", "1"]  # target/draft: 1/5, 3/2, 2
    assert draft == {str(y): float(p) for y, p in enumerate(P)}
    assert target == {str(y): float(q) for y, q in enumerate(Q)}
    # By all sets of tokens: q(A) + 1 − p(A)².
    sets = [[y for y in range(3) if inside[y]] for inside in product((0, 1), repeat=3)]
    bounds = {tuple(a): sum(Q[y] for y in a) + 1 - sum(P[y] for y in a) ** 2 for a in sets}
    best = min(bounds, key=bounds.get)
    assert gray == [str(y) for y in best]
    terms = axes.get_legend().get_title().get_text().split("\n")
    inside = float(sum(Q[y] for y in best))
    assert [term.split()[-1] for term in terms] == [
        f"{term:.4f}" for term in (inside, float(bounds[best]) - inside, float(bounds[best]))
    ]
    assert bars(plots.cut(optimum(), order="token"))[0] == ["0", "1", "2"]


def test_tokens_that_a_cut_has_no_room_for_are_together():
    rng = np.random.default_rng(3)
    draft, target = rng.dirichlet(np.full(30, 0.3), size=2)
    found = otspec.optimal_acceptance(otspec.IID(draft, 3), target)
    names, masses, wanted, gray = bars(plots.cut(found, most=5))
    assert len(names) == 7
    assert names[-2:] == ["others in the cut", "others"]
    heavy = sorted(range(30), key=lambda y: -max(draft[y], target[y]))[:5]
    assert sorted(map(int, names[:5])) == sorted(heavy)
    ratios = [target[int(y)] / draft[int(y)] for y in names[:5]]
    assert ratios == sorted(ratios)
    others = [y for y in found.cut if y not in heavy]
    assert masses["others in the cut"] == pytest.approx(draft[others].sum(), abs=1e-15)
    assert sum(masses.values()) == pytest.approx(1, abs=1e-14)
    assert sum(wanted.values()) == pytest.approx(1, abs=1e-14)
    assert set(gray) == {*(str(y) for y in heavy if y in found.cut), "others in the cut"}


def test_cuts_of_one_token_of_ties_of_several_drafts_and_within_a_budget():
    one = otspec.optimal_acceptance(otspec.IID([1.0], 1), [1.0])
    assert bars(plots.cut(one))[:3] == (["0"], {"0": 1.0}, {"0": 1.0})
    alike = otspec.optimal_acceptance(otspec.IID(DRAFT, 1), DRAFT)
    assert bars(plots.cut(alike))[0] == ["0", "1", "2"]
    apart = otspec.optimal_acceptance(otspec.Independent([["1", "0"], ["0", "1"]]), ["1/4", "3/4"])
    assert bars(plots.cut(apart))[1] == {"0": 0.5, "1": 0.5}
    lossy = plots.cut(optimum(total_variation="1/20"))
    assert lossy.get_legend().get_title().get_text().endswith("with the budget 0.9000")
    for arguments in ({"order": "mass"}, {"most": 0}, {"most": 1000}):
        with pytest.raises(ValueError, match=f"^{next(iter(arguments))}"):
            plots.cut(one, **arguments)


def test_a_plan_is_its_cells_and_their_sums():
    plan = otspec.optimal_plan(otspec.IID(DRAFT, 2), TARGET)
    axes = plots.plan(plan)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"{x}, {y}" for x, y in product(range(3), repeat=2)]
    drawn, hatched = {}, set()
    for patch in axes.patches:
        row, token = round(patch.get_y() + 0.47), round(patch.get_x() + 0.48)
        x = tuple(int(y) for y in labels[row].split(", "))
        if patch.get_hatch() is None:
            drawn[x, token] = patch
        else:
            hatched.add((x, token))
        (text,) = words_of(patch)
        mass = P[x[0]] * P[x[1]] * plan.kernel(x)[token]
        assert text.endswith(f"{token}: {float(mass):.4f}")
    mass = {
        (x, y): P[x[0]] * P[x[1]] * plan.kernel(x)[y] for x in product(range(3), repeat=2)
        for y in range(3)
    }  # fmt: skip
    assert set(drawn) == {cell for cell, each in mass.items() if each > 0}
    assert hatched == {(x, y) for x, y in drawn if y not in x}
    by_mass = sorted(drawn, key=lambda cell: mass[cell])
    shades = [drawn[cell].get_facecolor()[3] for cell in by_mass]
    assert len(set(np.round(shades, 9))) == len({mass[cell] for cell in by_mass})
    assert all(a <= b + 1e-12 for a, b in pairwise(shades))
    above, beside = axes.child_axes
    assert [bar.get_height() for bar in above.patches] == pytest.approx([float(q) for q in Q])
    wanted = [float(P[a] * P[b]) for a, b in product(range(3), repeat=2)]
    assert [bar.get_width() for bar in beside.patches] == pytest.approx(wanted)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["a draft is the output: 0.8500", "drafts are replaced: 0.1500"]


def test_a_plan_of_one_token_and_one_that_is_too_large():
    axes = plots.plan(otspec.optimal_plan(otspec.IID([1.0], 1), [1.0]))
    assert len(axes.patches) == 1
    n = 40
    large = otspec.optimal_plan(otspec.IID(np.full(n, 1 / n), 2), np.full(n, 1 / n))
    with pytest.raises(ValueError, match=r"1,600 tuples of drafts and 40 tokens: at most 2,000"):
        plots.plan(large)


def chance_inside(rule, tokens):
    """Return how likely all drafts are in a set, by going through their orders."""
    if isinstance(rule, PooledSelection):
        return sum((P[y] for y in tokens), Fraction(0)) ** rule.k

    def drawn(left, k):
        total = sum((P[y] for y in range(len(P)) if y in left), Fraction(0))
        if k == 0:
            return Fraction(1)
        inside = [y for y in tokens if y in left and P[y]]
        return sum((P[y] / total * drawn(left - {y}, k - 1) for y in inside), Fraction(0))

    return drawn(frozenset(range(len(P))), rule.k)


@pytest.mark.parametrize("kind", [PooledSelection, PooledSelectionWithoutReplacement])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_selection_is_drawn_over_the_tokens_by_ascending_ratio(kind, k):
    rule = kind(DRAFT, TARGET, k)
    axes = plots.selection(rule)
    order = sorted(range(3), key=lambda y: Q[y] / P[y])
    below = [order[:j] for j in range(4)]
    knots = [float(sum(P[y] for y in tokens)) for tokens in below]
    law = rule.law_of_selection
    for label, heights in (
        ("Q, target", [sum(Q[y] for y in tokens) for tokens in below]),
        ("B, selected draft", [sum(law[y] for y in tokens) for tokens in below]),
        ("G, all drafts below", [chance_inside(rule, tokens) for tokens in below]),
    ):
        found = curve(axes, label)
        assert found[0] == pytest.approx(knots, abs=1e-15)
        assert found[1] == pytest.approx([float(height) for height in heights], abs=1e-15)
    (cut,) = [line for line in axes.lines if line.get_xdata()[0] == line.get_xdata()[-1]]
    excess = [chance_inside(rule, t) - sum(Q[y] for y in t) for t in below]
    at = knots.index(min(knots, key=lambda u: abs(u - cut.get_xdata()[0])))
    assert excess[at] == max(excess)
    lifted = curve(axes, "Q lifted to G at the cut")[1]
    assert (curve(axes, "B, selected draft")[1] <= lifted + 1e-15).all()


@pytest.mark.parametrize("kind", [PooledSelection, PooledSelectionWithoutReplacement])
def test_barriers_are_drawn_for_as_long_as_they_live(kind):
    rule = kind(DRAFT, TARGET, 2)
    uniform = 0.25
    axes = plots.barriers(rule, uniform=uniform)
    always, timed = curve(axes, "always a barrier"), curve(axes, "for a time")
    wanted = dict(zip(map(float, rule.knots), rule.lifetimes, strict=True))
    assert set(always[0]) == {u for u, life in wanted.items() if life == np.inf}
    drawn = dict(zip(*(side.tolist() for side in timed), strict=True))
    assert drawn == {u: float(life) for u, life in wanted.items() if 0 < life < np.inf}
    ends = [u for u, life in wanted.items() if life > uniform]
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]
    assert np.array(spans) == pytest.approx(np.array(list(pairwise(ends))))
    assert f"at the uniform number 0.25 drafts compete in {len(spans)} groups" in said(axes)
    for bad in (-1, 2, "w"):
        with pytest.raises(ValueError, match=r"^uniform"):
            plots.barriers(rule, uniform=bad)


def test_selections_of_many_tokens_and_of_one():
    rng = np.random.default_rng(0)
    many = PooledSelection(*rng.dirichlet(np.ones(500), size=2), 3)
    for draws in (plots.selection, plots.barriers):
        assert len(plots.svg(draws(many), "many")) < 200_000
        assert draws(PooledSelection([1.0], [1.0], 1)).has_data()
        with pytest.raises(ValueError, match=r"^rule is"):
            draws(KSequential(DRAFT, TARGET, 2))


def test_a_tree_has_its_chances_which_sum_to_what_is_kept():
    axes = plots.tree(FOUND)
    (marks,) = axes.collections
    chances = [Fraction(text.split()[-1]) for text in words_of(marks)]
    kept = float(FOUND.best.expected)
    assert float(sum(chances)) == pytest.approx(kept, abs=FOUND.best.nodes * 5e-5)
    assert axes.get_title() == f"kept on average: {kept:.4f} of {FOUND.best.nodes} tokens"
    sizes = marks.get_sizes()
    assert sizes == pytest.approx([12 + 110 * float(chance) for chance in chances], abs=0.01)
    # The first of two drafts is kept with min(1, q/p) of its mass, as a single one is.
    assert float(chances[0]) == sum(map(min, (0.5, 0.5), (0.25, 0.75)))


def test_a_tree_is_drawn_level_by_level_without_crossings():
    tree = "[[][]][[[]]][]"
    axes = plots.tree(tree, chances=[0.5, 0.25, 0.125, 0.25, 0.125, 0.0625, 0.0])
    parents = blocks.as_shape(tree).tree().parents
    at = axes.collections[0].get_offsets()
    edges = [np.array(line.get_data()).T for line in axes.lines[:-1]]
    root = np.array(axes.lines[-1].get_data())[:, 0]
    for node, parent in enumerate(parents):
        start, end = edges[node]
        assert start.tolist() == (root if parent < 0 else at[parent]).tolist()
        assert end.tolist() == at[node].tolist()
        assert end[1] == start[1] + 1
    for level in set(at[:, 1]):
        across = [x for x, y in at if y == level]
        assert across == sorted(set(across))
    assert plots.tree("1").collections[0].get_offsets().tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("tree", "chances", "message"),
    [
        ("301", None, "^tree has 301 nodes: at most 300"),
        (None, None, "^tree"),
        ("2x1", [0.5], "^chances has 1 numbers for 4 nodes"),
        ("2", [0.5, 2], r"^chances\[1\] is 2"),
        ("2", 3, "^chances"),
        ("8", FOUND.chances, r"^chances are of .* drawn children: tree 8 has others"),
        ("top2", FOUND.chances, "^chances are of"),
    ],
)
def test_trees_and_chances_that_do_not_fit_are_refused(tree, chances, message):
    with pytest.raises(ValueError, match=message):
        plots.tree(tree, chances=chances)
