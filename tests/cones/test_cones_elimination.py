"""Elimination for two drafts: the papers' order, their lemmas, and the cut formula at the end."""

from __future__ import annotations

import sys
from itertools import combinations

import pytest
from programs_table import needs_cdd

from otspec.cones import certainty_cone, eliminate, optimum_cone
from otspec.cones.condition import irredundant
from otspec.cones.coordinates import coordinates
from otspec.cones.elimination import System, eliminations

pytestmark = needs_cdd

NS = (1, 2, 3, 4)


def system(n, target):
    return System(coordinates(n, 2, "sets", acceptance=target == "optimum"))


def test_two_tokens_by_hand():
    """From w >= 0, P{0, 1} - w >= 0, q0 >= P{0} + w and q1 >= P{1} + P{0, 1} - w."""
    given = system(2, "certainty")
    assert given.unknowns == ("w(0, 1)",)
    # Columns: w(0, 1), P{0}, P{1}, P{0, 1}, q0, q1.
    assert set(given.inequalities()) == {
        (0, 1, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0),
        (1, 0, 0, 0, 0, 0),
        (-1, 0, 0, 1, 0, 0),
        (-1, -1, 0, 0, 1, 0),
        (1, 0, -1, -1, 0, 1),
    }
    done = eliminate(2)
    step = done.steps[0]
    assert (step.unknown, step.combined, step.distinct, step.kept) == ("w(0, 1)", 6, 6, 6)
    assert [str(it) for it in done.conditions] == [
        "P{0} >= 0",
        "P{1} >= 0",
        "P{0, 1} >= 0",
        "q0 >= P{0}",
        "q1 >= P{1}",
        "q0 + q1 >= P{0} + P{1} + P{0, 1}",
    ]


def test_the_optimum_starts_with_bounds_on_what_is_accepted():
    given = system(2, "optimum")
    assert given.unknowns == ("w(0, 1)", "accepted(0)", "accepted(1)")
    # Columns: w, accepted(0), accepted(1), P{0}, P{1}, P{0, 1}, q0, q1, alpha.
    assert set(given.inequalities()) == {
        (1, 0, 0, 0, 0, 0, 0, 0, 0),
        (-1, 0, 0, 0, 0, 1, 0, 0, 0),
        (0, 0, 0, 1, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 1, 0, 0, 0, 0),
        (0, 1, 0, 0, 0, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0, 0, 0, 0),
        (0, -1, 0, 0, 0, 0, 1, 0, 0),
        (0, 0, -1, 0, 0, 0, 0, 1, 0),
        (1, -1, 0, 1, 0, 0, 0, 0, 0),
        (-1, 0, -1, 0, 1, 1, 0, 0, 0),
        (0, 1, 1, 0, 0, 0, 0, 0, -1),
    }


@pytest.mark.parametrize("n", NS)
def test_certainty_is_the_cone_of_double_description(n):
    done = eliminate(n)
    assert done.proves_cut_formula
    assert done.others == done.missing == ()
    assert [step.unknown for step in done.steps] == [
        f"w({i}, {j})" for i, j in combinations(range(n), 2)
    ]
    cone = certainty_cone(n, 2)
    found = {it.coefficients for it in done.conditions}
    # The system says q(V) >= P(V) where the cone's lineality says q(V) = P(V).
    everything = cone.coordinates.cut(range(n))
    assert len(found) == len(done.conditions) == n * (n + 1) // 2 + 2**n - 1
    assert found - {everything} >= {it.coefficients for it in cone.rays}
    if n > 2:
        assert found == {everything} | {it.coefficients for it in cone.rays}


@pytest.mark.parametrize("n", NS)
def test_the_optimum_is_the_cone_of_double_description(n):
    done = eliminate(n, target="optimum")
    assert done.proves_cut_formula
    assert done.others == done.missing == ()
    assert [step.unknown for step in done.steps[-n:]] == [f"accepted({i})" for i in range(n)]
    assert done.conditions == optimum_cone(n, 2).rays
    assert {step.unlisted for step in done.steps} == {0}


@pytest.mark.parametrize(
    ("n", "target"),
    [*((n, "certainty") for n in NS), *((n, "optimum") for n in NS[:-1])],
)
def test_each_step_leaves_what_the_lemmas_say(n, target):
    """No inequality that the lemma does not list, and none in the lemma that does not hold."""
    given = system(n, target)
    for number, (step, rows) in enumerate(eliminations(given, reduce=True), start=1):
        assert step.unlisted == 0
        assert len(rows) == step.kept <= step.distinct <= step.combined
        assert not any(row[column] for row in rows for column in range(number))
        listed = given.lemma(number)
        assert not any(row[column] for row in listed for column in range(number))
        assert set(irredundant([*rows, *(listed - set(rows))])) == set(rows)


@pytest.mark.parametrize("target", ["certainty", "optimum"])
def test_redundant_inequalities_can_be_left_until_the_end(target):
    reduced, plain = (eliminate(3, target=target, reduce=reduce) for reduce in (True, False))
    assert plain.conditions == reduced.conditions
    assert plain.peak > reduced.peak or target == "certainty"
    assert {step.unlisted for step in plain.steps} == {None}
    assert all(step.kept == step.distinct for step in plain.steps)


def test_without_removal_the_system_explodes():
    plain = eliminate(4, reduce=False)
    assert [step.combined for step in plain.steps] == [20, 21, 24, 32, 58, 175]
    assert [step.combined for step in eliminate(4).steps] == [20, 21, 24, 32, 35, 40]
    with pytest.raises(ValueError, match=r"n is 5: eliminating w\(2, 3\) makes 55,172.*reduce"):
        eliminate(5, reduce=False)


@pytest.mark.parametrize(
    ("n", "target", "message"),
    [
        (0, "certainty", "n is 0: it must be an integer, at least 1"),
        (3, "best", "target is 'best': it must be one of certainty, optimum"),
    ],
)
def test_bad_input_is_named(n, target, message):
    with pytest.raises(ValueError, match=message):
        eliminate(n, target=target)


def test_without_pycddlib_the_advice_is_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    with pytest.raises(ValueError, match=r"pip install 'otspec\[cones\]'"):
        eliminate(2)
