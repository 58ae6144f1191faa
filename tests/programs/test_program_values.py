"""All programs with all solvers, and all flows, give the optimum for every draft law.

SpecTr, eq. 4; SpecHub, eq. 1, sec. 3.2, app. E; Canonical, thms. 1 and 4.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import networkx
import numpy as np
import oracles
import pytest
from instances import CERTAIN, LAWS, floats, fractions, law_case
from programs_table import (
    SOLVER_NAMES,
    VALUE_ERROR,
    chosen,
    formulate,
    instances,
    program_names,
)
from searching import of_all

import otspec
from otspec.optimum.plan import Plan
from otspec.programs import PROGRAMS
from otspec.solvers import Solution, Status, solve

INSTANCES = {"highs": 120, "rational": 200, "cvxpy": 60}
TUPLE_INSTANCES = {"highs": 60, "rational": 60, "cvxpy": 16}
"""By solver: cvxpy takes ten times as long to hand a program over."""


def agree(value, exact):
    """Equal for fractions, within the stated error for floats."""
    if isinstance(value, Fraction):
        return value == exact
    assert type(value) is float
    return abs(value - exact) <= VALUE_ERROR


def values_of_programs(law, target, solver, sets, number):
    """The acceptance of each program: its value, and that of its plan."""
    for program in chosen(program_names(law.k), solver, number):
        plan = otspec.optimal_plan(law, target, program, solver, sets=sets)
        value = plan.solution.value
        yield program, 1 - value if program == "membership" else value, plan.acceptance


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_every_program_has_the_optimum_as_its_value(name, solver):
    convert = list if solver == "rational" else floats
    solved = Counter()
    for number, (case, target) in enumerate(instances(name, seed=88, count=INSTANCES[solver])):
        exact, law = oracles.optimum(case.table, target), case.build(convert)
        best = otspec.optimal_acceptance(law, convert(target)).acceptance
        assert agree(best, exact)
        for program, value, acceptance in values_of_programs(
            law, convert(target), solver, sets=True, number=number
        ):
            solved[program] += 1
            assert law.exact == isinstance(value, Fraction) == isinstance(acceptance, Fraction)
            assert agree(value, exact), program
            assert agree(acceptance, exact), program
    assert set(solved) >= set(program_names(2 if name == "Hub" else 1))
    assert min(solved.values()) >= 3


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_rows_of_tuples_give_the_same_value_as_rows_of_sets(name, solver):
    convert = list if solver == "rational" else floats
    # A dense rational tableau over more tuples takes seconds.
    most = 27 if solver == "rational" else 81
    count = TUPLE_INSTANCES[solver]
    cases = instances(name, seed=81, count=count, most_tokens=3, most_tuples=most)
    for number, (case, target) in enumerate(cases):
        exact, law = oracles.optimum(case.table, target), case.build(convert)
        for program, value, acceptance in values_of_programs(
            law, convert(target), solver, sets=False, number=number
        ):
            assert agree(value, exact), program
            assert agree(acceptance, exact), program


@pytest.mark.parametrize("name", [pytest.param("IID", marks=pytest.mark.nightly), "Joint"])
def test_all_tuples_of_four_drafts_in_rational_arithmetic(name):
    draft, target = fractions("1/2", "1/3", "1/6"), fractions("1/60", "1/60", "29/30")
    case = law_case(name, draft, 4)
    plan = otspec.optimal_plan(case.exact, target, "reduced", "rational", sets=False)
    assert plan.acceptance == plan.solution.value == oracles.optimum(case.table, target) < 1


@pytest.mark.parametrize("name", LAWS)
def test_the_instances_have_all_the_edge_cases_among_them(name):
    ks, sizes, found = set(), set(), set()
    for case, target in instances(name, seed=88, count=min(INSTANCES.values())):
        n, k = len(target), case.exact.k
        marginals = [oracles.marginal(case.table, i, n) for i in range(k)]
        drafted = {token for x in case.table for token in x}
        accepted = {token for token in range(n) if target[token] > 0}
        ks.add(k)
        sizes.add(n)
        found |= {
            kind
            for kind, present in {
                "undrafted token": len(drafted) < n,
                "unwanted token": len(accepted) < n,
                "draft equal to target": n > 1 and list(target) in marginals,
                "disjoint": not drafted & accepted,
                "tied masses": any(a == b for a, b in pairwise(sorted(target))),
                "tied tuples": len(set(case.table.values())) < len(case.table),
            }.items()
            if present
        }
    assert ks == ({2} if name == "Hub" else {1, 2, 3, 4})
    assert sizes == {1, 2, 3, 4}
    assert len(found) == (5 if name in CERTAIN else 6), found  # one tuple ties with none


def test_the_named_programs_are_the_ones_that_are_tested():
    assert set(PROGRAMS) == set(program_names(2))


def scaled(numbers):
    """Whole numbers and what they were multiplied by."""
    scale = math.lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers], scale


def bipartite_network(table, target):
    """Source → tuples → their tokens → sink, with whole capacities, and their scale."""
    capacities, scale = scaled([*table.values(), *target])
    network = networkx.DiGraph()
    network.add_nodes_from(["source", "sink"])
    for x, capacity in zip(table, capacities, strict=False):
        network.add_edge("source", x, capacity=capacity)
        network.add_edges_from((x, token) for token in x)
    for token, capacity in enumerate(capacities[len(table) :]):
        network.add_edge(token, "sink", capacity=capacity)
    return network, scale


def compact_network(table, target):
    """Source → first drafts, first → second drafts, all → sink, and the scale."""
    starts = oracles.marginal(table, 0, len(target))
    between = {x: mass for x, mass in table.items() if x[0] != x[1]}
    capacities, scale = scaled([*starts, *target, *between.values()])
    network, n = networkx.DiGraph(), len(target)
    for token in range(n):
        network.add_edge("source", token, capacity=capacities[token])
        network.add_edge(token, "sink", capacity=capacities[n + token])
    for (u, v), capacity in zip(between, capacities[2 * n :], strict=True):
        network.add_edge(u, v, capacity=capacity)
    return network, scale


@pytest.mark.parametrize("name", LAWS)
def test_the_flow_of_both_networks_is_the_optimum_and_its_cut_the_certificate(name):
    for case, target in instances(name, seed=120, count=40, most_tokens=5, most_tuples=64):
        best = otspec.optimal_acceptance(case.exact, target)
        network, scale = bipartite_network(case.table, target)
        value = networkx.maximum_flow_value(network, "source", "sink")
        assert Fraction(value, scale) == best.acceptance
        # networkx reads its minimum cut off the residual network.
        _, (reached, _) = networkx.minimum_cut(network, "source", "sink")
        cut = {token for token in range(len(target)) if token in reached}
        values = oracles.cut_values(case.table, target)
        assert values[sum(1 << token for token in cut)] == best.acceptance
        assert values[sum(1 << token for token in best.cut)] == best.acceptance
        if case.exact.k == 2:
            network, scale = compact_network(case.table, target)
            value = networkx.maximum_flow_value(network, "source", "sink")
            assert Fraction(value, scale) == best.acceptance


@pytest.mark.parametrize("name", LAWS)
def test_the_cut_read_off_the_residual_network_of_the_program_is_a_certificate(name):
    for case, target in instances(name, seed=121, count=40, most_tokens=4, ks=(1, 2, 3)):
        plan = otspec.optimal_plan(case.exact, target, "maxflow", "rational")
        seen, program = plan.support, plan.solution.program
        flow = dict(zip(program.column_names, plan.solution.primal, strict=True))
        left = {name: program.upper[i] - flow[name] for i, name in enumerate(program.column_names)}
        keys = [", ".join(map(str, key)) for key in seen.keys.tolist()]
        network = networkx.DiGraph()
        network.add_node("source")
        for row, token in zip(seen.rows.tolist(), seen.tokens.tolist(), strict=True):
            network.add_edge(("drafts", row), token)  # without a capacity: never full
            if flow[f"flow({keys[row]} -> {token})"] > 0:
                network.add_edge(token, ("drafts", row))
        for row, key in enumerate(keys):
            if left[f"source({key})"] > 0:
                network.add_edge("source", ("drafts", row))
        reached = networkx.descendants(network, "source")
        cut = [token for token in range(len(target)) if token in reached]
        assert all(left[f"sink({token})"] == 0 for token in cut)
        best = otspec.optimal_acceptance(case.exact, target)
        values = oracles.cut_values(case.table, target)
        assert values[sum(1 << token for token in cut)] == best.acceptance


@pytest.mark.parametrize("name", LAWS)
def test_the_compact_network_equals_the_bipartite_one(name):
    for case, target in instances(name, seed=122, count=60, most_tokens=5, ks=(2,)):
        values = {oracles.optimum(case.table, target)}
        values.add(otspec.optimal_plan(case.exact, target, "maxflow", "rational").solution.value)
        for sets in (False, True):
            model = formulate("compact", case.exact, target, sets)
            solution = solve(model.build(), "rational")
            accepted = model.accepted(solution)
            assert all(type(mass) is Fraction for mass in accepted)
            values |= {solution.value, accepted.sum()}
        assert len(values) == 1


def random_flow(rng, model):
    """A feasible flow of the compact network, and the most tokens that one of its paths visits.

    Walks go along edges that have something left. Some are closed to a circulation, the others
    joined to source and sink; each takes a random share of what its edges leave.
    """
    program, n, longest = model.build(), len(model.target), 0
    left = dict(zip(program.column_names, program.upper, strict=True))
    flow = dict.fromkeys(left, Fraction(0))
    for _ in range(12):
        tokens = [int(rng.integers(n))]
        for _ in range(int(rng.integers(0, 4))):
            others = [v for v in range(n) if left.get(f"flow({tokens[-1]}, {v})", 0) > 0]
            tokens += rng.permutation([v for v in others if v not in tokens])[:1].tolist()
        edges = [f"flow({u}, {v})" for u, v in pairwise(tokens)]
        back = f"flow({tokens[-1]}, {tokens[0]})"
        closed = back in left and rng.random() < 0.5
        edges += [back] if closed else [f"source({tokens[0]})", f"sink({tokens[-1]})"]
        amount = Fraction(int(rng.integers(1, 5)), 4) * min(left[edge] for edge in edges)
        for edge in edges:
            flow[edge] += amount
            left[edge] -= amount
        if amount > 0 and not closed:
            longest = max(longest, len(tokens))
    return solution_of(program, list(flow.values())), longest


def solution_of(program, flow):
    """A solution that nobody claims to be optimal."""
    primal = np.array(flow, dtype=object)
    assert not program.activity(primal).any()
    duals = np.full(program.shape[0], Fraction(0), dtype=object)
    value = program.value(primal)
    return Solution(program, "by hand", Status.OPTIMAL, value, primal, duals, 0, 0.0)


@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize("name", LAWS)
def test_any_flow_of_the_compact_network_is_a_coupling_of_the_same_value(name, sets):
    rng, through_several = np.random.default_rng(123), 0
    for case, target in instances(name, seed=123, count=120, most_tokens=5, ks=(2,)):
        model = formulate("compact", case.exact, target, sets)
        solution, longest = random_flow(rng, model)
        through_several += longest > 2
        seen, accepted = model.support, model.accepted(solution)
        per_row, per_token = [Fraction(0)] * len(seen.masses), [Fraction(0)] * len(target)
        for row, token, mass in zip(seen.rows, seen.tokens, accepted, strict=True):
            assert type(mass) is Fraction
            assert mass >= 0
            per_row[row] += mass
            per_token[token] += mass
        assert all(taken <= mass for taken, mass in zip(per_row, seen.masses, strict=True))
        assert per_token == solution.primal[len(solution.primal) - len(target) :].tolist()
        assert sum(per_token) == solution.value
    # Drafts (top, y) are paths of two tokens at most, and so are certain drafts.
    assert through_several > of_all(10) or name in ("TopPlusOne", *CERTAIN)


def test_flow_through_several_tokens_by_hand():
    # All drafts are (0, 1), (1, 2), (2, 0) or (2, 2); the flow 0 → 1 → 2 carries 1/8 that a
    # source of 0 gave, and a circulation 0 → 1 → 2 → 0 of 1/16 goes round.
    eighth = Fraction(1, 8)
    table = np.full((3, 3), Fraction(0), dtype=object)
    table[0, 1] = table[1, 2] = table[2, 0] = table[2, 2] = Fraction(1, 4)
    law, target = otspec.Joint(table), fractions(0, 0, 1)
    model = formulate("compact", law, target, sets=False)
    program = model.build()
    flow = dict.fromkeys(program.column_names, Fraction(0))
    flow |= {"source(0)": eighth, "source(2)": 2 * eighth, "sink(2)": 3 * eighth}
    flow |= {"flow(0, 1)": 3 * eighth / 2, "flow(1, 2)": 3 * eighth / 2, "flow(2, 0)": eighth / 2}
    accepted = model.accepted(solution_of(program, list(flow.values())))
    plan = Plan(model.support, np.array(target, dtype=object), accepted)
    assert accepted.sum() == 3 * eighth
    assert not accepted[model.support.tokens != 2].any()
    plan.check()


def test_compact_flows_stay_exact_where_a_token_passes_on_more_than_its_source_gives():
    draft, target = fractions("1/2", "1/3", "1/6"), fractions("2/5", "1/4", "7/20")
    plan = otspec.optimal_plan(otspec.Hub(draft), target, "compact", "rational")
    assert [type(mass) for mass in plan.accepted] == [Fraction] * len(plan.accepted)
    assert plan.acceptance == otspec.optimal_acceptance(otspec.Hub(draft), target).acceptance
    plan.check()
