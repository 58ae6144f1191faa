"""Cones prove the cut formula for all draft laws and targets of one (n, k)."""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import cache

import numpy as np
import oracles
import pytest
from instances import LAWS, law_cases, pairs
from programs_table import needs_cdd

import otspec
from otspec.cones import certainty_cone, optimum_cone
from otspec.cones.condition import cone_generators, irredundant
from otspec.cones.coordinates import coordinates

CONES = {"certainty": cache(certainty_cone), "optimum": cache(optimum_cone)}

SMALL = [
    (n, k, rows)
    for n, k in [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2), (2, 3), (2, 5), (3, 2), (3, 3), (4, 2)]
    for rows in ("sets", "tuples")
]


def token_sets(n):
    """Every token set by size, as the cones list them."""
    return sorted(map(tuple, map(oracles.members, range(2**n))), key=lambda it: (len(it), it))


def selected(table, n, rng):
    """A target that can be selected with certainty: each tuple selects a random draft of it."""
    target = [Fraction(0)] * n
    for x, mass in table.items():
        share = Fraction(int(rng.integers(0, 4)), 3)
        first, last = min(x), max(x)
        target[first] += share * mass
        target[last] += (1 - share) * mass
    return target


# With two tokens every number can be checked by hand. Certainty: q0 >= P{0}, q1 >= P{1},
# P{0} >= 0, P{1} >= 0; P{0, 1} >= 0 is the sum of the first two. One row per tuple: the tuples
# that hold both tokens stay connected by each other, so that none of them is superfluous.
BY_HAND = {
    "q0 >= P{0}": (-1, 0, 0, 1, 0),
    "q1 >= P{1}": (0, -1, 0, 0, 1),
    "P{0} >= 0": (1, 0, 0, 0, 0),
    "P{1} >= 0": (0, 1, 0, 0, 0),
}


@needs_cdd
@pytest.mark.parametrize("k", [2, 3, 7])
def test_two_tokens_by_hand(k):
    cone = certainty_cone(2, k)
    assert {str(ray): ray.coefficients for ray in cone.rays} == BY_HAND
    assert [it.coefficients for it in cone.lineality] == [(-1, -1, -1, 1, 1)]
    assert str(cone.lineality[0]) == "q0 + q1 = P{0} + P{1} + P{0, 1}"
    tuples = certainty_cone(2, k, rows="tuples") if k < 7 else cone
    assert len(tuples.trivial) == (2**k if k < 7 else 2)
    assert [ray.cut for ray in tuples.cuts] == [(0,), (1,)]


@needs_cdd
def test_two_tokens_optimum_by_hand():
    cone = optimum_cone(2, 2)
    assert cone.lineality == ()
    assert [str(ray) for ray in cone.trivial] == [
        "P{0} >= 0",
        "P{1} >= 0",
        "P{0, 1} >= 0",
        "q0 >= 0",
        "q1 >= 0",
    ]
    assert [str(ray) for ray in cone.cuts] == [
        "alpha <= P{0} + P{1} + P{0, 1}",
        "alpha <= q0 + P{1} + P{0, 1}",
        "alpha <= q1 + P{0} + P{0, 1}",
        "alpha <= q0 + q1",
    ]


@needs_cdd
@pytest.mark.parametrize(("n", "k", "rows"), SMALL)
def test_every_cut_appears_once_and_nothing_else(n, k, rows):
    cone = certainty_cone(n, k, rows=rows)
    assert cone.proves_cut_formula
    assert cone.others == cone.missing == ()
    assert (cone.n, cone.k) == (n, k)
    draft_rows = len(cone.coordinates.drafts)
    if k == 1:  # P = q: the cuts are equalities
        assert (len(cone.lineality), cone.cuts) == (n, ())
    else:
        proper = [it for it in token_sets(n) if 0 < len(it) < n]
        assert [ray.cut for ray in cone.cuts] == proper
        assert len(cone.lineality) == 1
        if n > 2:
            assert len(cone.rays) == draft_rows + 2**n - 2

    best = optimum_cone(n, k, rows=rows)
    assert best.proves_cut_formula
    assert best.lineality == best.others == best.missing == ()
    assert [ray.cut for ray in best.cuts] == token_sets(n)
    assert len(best.rays) == draft_rows + n + 2**n


@needs_cdd
@pytest.mark.parametrize(
    ("n", "k", "rows"),
    [(2, 1, "sets"), (2, 2, "tuples"), (3, 2, "sets"), (3, 2, "tuples"), (3, 3, "sets")],
)
@pytest.mark.parametrize("name", CONES)
def test_the_generators_generate_the_inequalities(n, k, rows, name):
    """Back by double description: the polar of the generators is spanned by the inequalities."""
    cone = CONES[name](n, k, rows=rows)
    space = cone.coordinates
    generators = [it.coefficients for it in cone.rays]
    for equality in cone.lineality:
        generators += [equality.coefficients, tuple(-value for value in equality.coefficients)]
    implied = set(cone_generators(generators)[1])
    accepted = [space.size - 1] if name == "optimum" else []
    given = {
        tuple(int(index in (*pair, *accepted)) for index in range(space.size))
        for pair in space.pairs()
    }
    if name == "optimum":
        given |= {space.unit(index) for index in range(space.size - 1)}
        given.add(tuple(-value for value in space.unit(space.size - 1)))
        given = set(irredundant(sorted(given)))
    assert implied == given
    assert cone_generators(generators)[0] == []


def on(cone, space_vector):
    """The pairs of a draft row and a token of it at which a vector is tight."""
    return [pair for pair in cone.coordinates.pairs() if sum(space_vector[i] for i in pair) == 0]


@needs_cdd
@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (4, 4)])
def test_no_condition_follows_from_others(n, k):
    """The tight pairs of a ray form a graph of two components, whatever the ray is."""
    cone = certainty_cone(n, k)
    for ray in cone.rays:
        component = list(range(cone.coordinates.size))
        for row, token in on(cone, ray.coefficients):
            old, new = component[row], component[token]
            component = [new if it == old else it for it in component]
        assert len(set(component)) == 2


@needs_cdd
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("rows", ["sets", "tuples"])
def test_conditions_give_the_optimum_of_random_instances(name, rows):
    rng = np.random.default_rng(5)
    certain = cases = 0
    for case, target in law_cases(name, 3, 64, 3, 3):
        law = case.exact
        for wanted in (target, selected(case.table, law.n, rng)):
            best = otspec.optimal_acceptance(law, wanted).acceptance
            assert CONES["optimum"](law.n, law.k, rows=rows).optimum(law, wanted) == best
            assert oracles.optimum(case.table, wanted) == best
            broken = CONES["certainty"](law.n, law.k, rows=rows).violated(law, wanted)
            assert (broken == ()) == (best == 1)
            certain += best == 1
            cases += 1
            cone = CONES["optimum"](law.n, law.k, rows=rows)
            assert cone.violated(law, wanted, best) == ()
            above = cone.violated(law, wanted, best + Fraction(1, 1000))
            assert {it.kind for it in above} == {"cut"}
    assert cases / 2 <= certain < cases


@needs_cdd
@pytest.mark.parametrize(("n", "k"), [(3, 3), (4, 2)])
def test_a_violated_cut_is_a_counterexample(n, k):
    seen = 0
    for draft, target in pairs(11, 40, n, n):
        law = otspec.IID(draft, k)
        for condition in CONES["certainty"](n, k).violated(law, target):
            wanted = sum(target[token] for token in condition.cut)
            values = condition.coordinates.values(law, target, Fraction(1))
            assert condition.slack(values) == wanted - law.inside(condition.cut) < 0
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("function", [certainty_cone, optimum_cone])
@pytest.mark.parametrize(
    ("arguments", "rows", "message"),
    [
        ((0, 2), "sets", "n is 0: it must be an integer, at least 1"),
        ((2.0, 2), "sets", "n is 2.0: it must be an integer"),
        ((True, 2), "sets", "n is True: it must be an integer"),
        ((3, 0), "sets", "k must be at least 1, got 0"),
        ((3, "2"), "sets", "k must be an integer, got '2'"),
        ((3, 2), "multisets", "rows is 'multisets': it must be one of sets, tuples"),
        ((12, 12), "sets", "too many for exact cones: use a smaller n or k$"),
        ((10, 3), "tuples", "1,000 draft rows.*or rows='sets', which loses nothing"),
    ],
)
def test_bad_input_is_named(function, arguments, rows, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments, rows=rows)


@needs_cdd
def test_laws_that_a_cone_cannot_judge_are_named():
    target = ["1/2", "1/2"]
    cone, best = certainty_cone(2, 2), optimum_cone(2, 2)
    with pytest.raises(ValueError, match="n = 2 tokens and k = 3 drafts, but the cone n = 2"):
        cone.violated(otspec.IID(target, 3), target)
    with pytest.raises(ValueError, match=r"law is in floats.*pass Fractions or strings"):
        best.optimum(otspec.IID([0.5, 0.5], 2), target)
    with pytest.raises(ValueError, match="target"):
        best.optimum(otspec.IID(target, 2), [0.5, 0.5])
    with pytest.raises(ValueError, match=r"acceptance is 1/2.*use optimum_cone"):
        cone.violated(otspec.IID(target, 2), target, Fraction(1, 2))
    with pytest.raises(ValueError, match=r"use optimum_cone\(n, k\)"):
        cone.optimum(otspec.IID(target, 2), target)
    with pytest.raises(ValueError, match="drafts is 'hub': it must be one of any, iid"):
        cone.conditions("hub")


def test_without_pycddlib_the_advice_is_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    with pytest.raises(ValueError, match=r"pip install 'otspec\[cones\]'.*libcdd-dev libgmp-dev"):
        certainty_cone(2, 2)


def test_the_subpackage_is_there_without_being_imported():
    assert otspec.cones.certainty_cone is certainty_cone
    assert "cones" in dir(otspec)


def test_every_condition_is_a_sum_of_cuts_by_thresholds():
    """The proof for all n and k in docs/cones.md, carried out for random z in the cone."""
    rng = np.random.default_rng(2)
    for n, k in [(1, 1), (3, 1), (3, 2), (4, 4), (5, 3), (6, 6)] * 5:
        space = coordinates(n, k, "sets", acceptance=False)
        tokens = rng.integers(-3, 4, n).tolist()
        rows = [-min(tokens[y] for y in row) + int(rng.integers(0, 3)) for row in space.drafts]
        lowest = min(*tokens, *(-value for value in rows))
        total = np.array(space.cut(range(n)))
        added = lowest * total
        for level in range(lowest + 1, 5):
            above = [y for y in range(n) if tokens[y] >= level]
            added += np.array(space.cut(above))
            for number, row in enumerate(space.drafts):
                if set(row) <= set(above) and -rows[number] < level:
                    added[number] += 1
        assert added.tolist() == [*rows, *tokens]
