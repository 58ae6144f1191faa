"""Truncated programs are within the stated bound of the optimum for every number of tokens."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import floats, fractions, law_case, pairs
from programs_table import VALUE_ERROR
from searching import of_all

import otspec
from otspec.optimum.plan import Plan
from otspec.programs import TruncatedImportance
from otspec.solvers import solve

LAWS = ("IID", "Independent")


def cases(name, seed, count, most_tokens=5):
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        yield law_case(name, draft, 2, seed=seed + index), target


def truncated(law, target, free):
    checked = np.array(target, dtype=object if law.exact else float)
    return TruncatedImportance(law, checked, free=free)


def order_and_excess(table, target):
    """Tokens by q − p₁p₂ descending, ties by id, and what they exceed."""
    excess = [q - table.get((y, y), Fraction(0)) for y, q in enumerate(target)]
    return sorted(range(len(target)), key=lambda y: (-excess[y], y)), excess


def value_by_cuts(table, target, free):
    """The best acceptance when a pair that meets Ω₂ selects its earlier token.

    Each tuple may then select only some of its tokens, allowed(x). The best selection followed
    by maximal coupling accepts min over A of q(A) + 1 − P(allowed(x) ⊆ A): max flow and min cut.
    """
    order, _ = order_and_excess(table, target)
    place = {token: position for position, token in enumerate(order)}
    allowed: dict[frozenset, Fraction] = {}
    for x, mass in table.items():
        if all(place[token] < free for token in x):
            key = frozenset(x)
        else:
            key = frozenset([min(x, key=place.__getitem__)])
        allowed[key] = allowed.get(key, Fraction(0)) + mass
    n = len(target)
    values = []
    for mask in range(2**n):
        chosen = set(oracles.members(mask))
        inside = sum((mass for key, mass in allowed.items() if key <= chosen), Fraction(0))
        values.append(sum((target[y] for y in chosen), Fraction(0)) + 1 - inside)
    return min(values)


@pytest.mark.parametrize("name", LAWS)
def test_the_loss_is_within_the_bound_and_vanishes_for_all_tokens(name):
    lossy = 0
    for case, target in cases(name, seed=150, count=120):
        n, law = len(target), case.exact
        optimum = oracles.optimum(case.table, target)
        order, excess = order_and_excess(case.table, target)
        values = []
        for free in range(n + 1):
            model = truncated(law, target, free)
            solution = solve(model.build(), "rational")
            assert type(model.loss_bound) is Fraction
            assert model.loss_bound == sum(max(excess[y], 0) for y in order[free:])
            assert model.order.tolist() == order
            assert optimum - model.loss_bound <= solution.value <= optimum
            assert solution.value == value_by_cuts(case.table, target, free)
            values.append(solution.value)
        assert model.loss_bound == 0
        assert values == sorted(values)
        assert values[-1] == optimum
        lossy += values[0] < optimum
    assert lossy >= of_all(20)


@pytest.mark.parametrize("name", LAWS)
def test_the_solution_is_a_plan_with_both_marginals(name):
    for case, target in cases(name, seed=151, count=60):
        for free in range(len(target) + 1):
            model = truncated(case.exact, target, free)
            solution = solve(model.build(), "rational")
            accepted = model.accepted(solution)
            assert all(type(mass) is Fraction for mass in accepted)
            assert accepted.sum() == solution.value
            plan = Plan(model.support, model.target, accepted)
            plan.check()
            assert plan.target_marginal().tolist() == list(target)
            assert plan.draft_marginal().tolist() == case.exact.tuples()[1].tolist()
            # What a rejected selection is replaced by may be the other draft.
            assert solution.value <= plan.acceptance <= oracles.optimum(case.table, target)


def test_there_are_instances_that_lose_the_whole_bound():
    draft, target = fractions("1/2", "1/2"), fractions("1/2", "1/2")
    law = otspec.IID(draft, 2)
    assert otspec.optimal_acceptance(law, target).acceptance == 1
    # Each token needs 1/4 beyond its certain selections; the pair (0, 1), of probability 1/2,
    # selects token 0, so that token 1 goes without.
    model = truncated(law, target, 1)
    assert model.loss_bound == Fraction(1, 4)
    assert solve(model.build()).value == Fraction(3, 4)
    model = truncated(law, target, 2)
    assert model.loss_bound == 0
    assert solve(model.build()).value == 1


@pytest.mark.parametrize("solver", ["highs", "cvxpy"])
@pytest.mark.parametrize("name", LAWS)
def test_float_solvers_agree(name, solver):
    for index, (case, target) in enumerate(cases(name, seed=152, count=24)):
        numbers = range(len(target) + 1)
        # cvxpy, which takes ten times as long, is handed the same rows.
        for free in numbers if solver == "highs" else [index % len(numbers)]:
            model = truncated(case.float, floats(target), free)
            solution = solve(model.build(), solver)
            expected = value_by_cuts(case.table, target, free)
            assert abs(solution.value - expected) <= VALUE_ERROR
            accepted = np.maximum(model.accepted(solution), 0)
            Plan(model.support, model.target, accepted).check()
            assert abs(accepted.sum() - expected) <= VALUE_ERROR


@pytest.mark.parametrize("free", [0, 1, 4, 7])
def test_the_size_is_that_of_the_free_pairs(free):
    law = otspec.IID([Fraction(y + 1, 28) for y in range(7)], 2)
    model = truncated(law, fractions(*["1/7"] * 7), free)
    built, size = model.build(), model.size()
    assert built.shape[0] <= size.rows
    assert built.shape[1] <= size.columns
    assert len(built.rows) <= size.coefficients
    # At most free² variables for pairs, and one for each token.
    assert math.comb(free, 2) <= built.shape[1] - law.n <= free**2
    assert size.columns - law.n <= free * (free + 1)


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (otspec.IID(["1/2", "1/2"], 3), "IID with k = 3"),
        (otspec.IID(["1/2", "1/2"], 1), "IID with k = 1"),
        (otspec.Independent([["1/2", "1/2"]] * 3), "Independent with k = 3"),
        (otspec.WithoutReplacement(["1/2", "1/2"], 2), "WithoutReplacement with k = 2"),
        (otspec.Hub(["1/2", "1/2"]), "Hub with k = 2"),
        (otspec.TopPlusOne(["1/2", "1/2"], 2), "TopPlusOne with k = 2"),
        (otspec.Joint(np.full((2, 2), Fraction(1, 4))), "Joint with k = 2"),
    ],
)
def test_other_laws_are_refused_by_name(law, name):
    with pytest.raises(ValueError, match=f"law is {name}: .* two independent drafts"):
        truncated(law, fractions("1/2", "1/2"), 1)


@pytest.mark.parametrize("free", [-1, 3])
def test_more_free_tokens_than_there_are_is_refused(free):
    law = otspec.IID(["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match=f"free must be at .*, got {free}:"):
        truncated(law, fractions("1/2", "1/2"), free)


def test_rows_of_tuples_are_refused():
    law, target = otspec.IID(["1/2", "1/2"], 2), np.array(fractions("1/2", "1/2"), dtype=object)
    with pytest.raises(ValueError, match="sets must be True"):
        TruncatedImportance(law, target, sets=False, free=1)
