"""Linear conditions: what they are, in print, and which of them are the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from programs_table import needs_cdd

from otspec.cones import certainty_cone, optimum_cone
from otspec.cones.condition import Classifier, Condition
from otspec.cones.coordinates import Quotient, coordinates


@needs_cdd
def test_conditions_in_print():
    assert certainty_cone(3, 2).conditions() == (
        "q0 >= p0^2",
        "q1 >= p1^2",
        "q2 >= p2^2",
        "q0 + q1 >= (p0 + p1)^2",
        "q0 + q2 >= (p0 + p2)^2",
        "q1 + q2 >= (p1 + p2)^2",
    )
    assert certainty_cone(3, 2).conditions("independent")[2:4] == (
        "q2 >= p2 p'2",
        "q0 + q1 >= (p0 + p1) (p'0 + p'1)",
    )
    assert certainty_cone(2, 3, rows="tuples").conditions("any") == (
        "q0 >= P(0, 0, 0)",
        "q1 >= P(1, 1, 1)",
    )
    assert certainty_cone(2, 1).conditions() == ("q0 = P{0}", "q1 = P{1}")
    assert optimum_cone(2, 1).conditions() == (
        "alpha <= 1",
        "alpha <= q0 + 1 - p0",
        "alpha <= q1 + 1 - p1",
        "alpha <= q0 + q1 + 1 - p0 + p1",
    )
    assert optimum_cone(2, 3).conditions("independent")[3] == (
        "alpha <= q0 + q1 + 1 - (p0 + p1) (p'0 + p'1) (p''0 + p''1)"
    )


def test_a_condition_that_is_no_cut_is_noticed():
    space = coordinates(3, 2, "sets", acceptance=False)
    total = space.cut((0, 1, 2))
    classifier = Classifier(space, [total])
    half = tuple(2 * value for value in space.cut((0,)))
    mixed = tuple(a + b for a, b in zip(space.cut((0,)), space.cut((1, 2)), strict=True))
    shifted = tuple(a - 3 * b for a, b in zip(space.cut((0, 2)), total, strict=True))
    found = classifier.conditions([half, mixed, shifted, space.unit(3)])
    assert [it.kind for it in found] == ["trivial", "cut", "cut", "other"]
    assert [it.cut for it in found] == [None, (0,), (0, 2), None]
    assert classifier.missing(found) == ((1,), (2,), (0, 1), (1, 2))
    assert classifier.equalities_are_cuts()
    assert not Classifier(space, [total, space.unit(0)]).equalities_are_cuts()


def test_an_equality_must_hold_exactly():
    space = coordinates(2, 1, "sets", acceptance=False)
    equality = Condition(space, (-1, 0, 1, 0), "equality")
    cut = Condition(space, (-1, 0, 1, 0), "cut", (0,))
    more = tuple(map(Fraction, ("1/3", "2/3", "1/2", "1/2")))
    assert not equality.holds(more)
    assert cut.holds(more)


def test_representatives_are_canonical():
    rng = np.random.default_rng(0)
    for _ in range(100):
        spanning = rng.integers(-3, 4, (3, 6)).tolist()
        vector = rng.integers(-3, 4, 6)
        same = 5 * vector + rng.integers(-3, 4, 3) @ np.array(spanning)
        modulo = Quotient(map(tuple, spanning))
        again = Quotient(map(tuple, reversed([[2 * v for v in row] for row in spanning])))
        assert modulo.basis == again.basis
        assert modulo.rank == np.linalg.matrix_rank(np.array(spanning))
        form = modulo.representative(tuple(vector.tolist()))
        assert form == again.representative(tuple(same.tolist()))
        assert form != modulo.representative(tuple((-vector).tolist())) or not any(form)
        assert not any(modulo.representative(tuple(spanning[0])))
