"""The exact simplex: against all vertices, against cddlib, and from any basis at all."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import oracles
import pytest
from programs_table import INF, dense_program, needs_cdd
from searching import enough

import otspec
from otspec.solvers import SOLVERS, Sense, Solution, Status, rational, solve
from otspec.solvers.factors import Factors

MAX, MIN = Sense.MAXIMIZE, Sense.MINIMIZE
ZERO, TINY = Fraction(0), Fraction(1, 10**30)
SIZES = (Fraction(1), Fraction(1, 10**12), Fraction(1, 10**25), Fraction(10**9))
"""Numbers of one program can be this far apart; floats lose the small ones."""
FREE, NONNEGATIVE = (-INF, INF), (0, INF)


def dense_data(rng, most, hard, boxed):
    """A random program: (sense, objective, rows, variables), at times with very unequal numbers."""
    n, m = int(rng.integers(1, most + 1)), int(rng.integers(0, most + 1))

    def number(low, high):
        value = Fraction(int(rng.integers(low, high)), int(rng.integers(1, 4)))
        return value * SIZES[rng.integers(len(SIZES))] if hard else value

    def ends(kinds):
        bound = number(-3, 9)
        return {
            "none": FREE, "below": (-INF, bound), "above": (bound, INF), "fixed": (bound, bound),
            "range": (bound, bound + number(0, 5)), "sign": NONNEGATIVE,
        }[kinds[rng.integers(len(kinds))]]  # fmt: skip

    rows = [
        (
            [number(-4, 5) if rng.random() < 0.7 else ZERO for _ in range(n)],
            *ends(("none", "below", "above", "fixed", "range")),
        )
        for _ in range(m)
    ]
    kinds = ("range", "fixed") if boxed else ("none", "below", "range", "fixed", "sign", "sign")
    variables = [ends(kinds) for _ in range(n)]
    sense = (MAX, MIN)[rng.integers(2)]
    return sense, [number(-5, 6) for _ in range(n)], rows, variables


def determinant(matrix):
    """By Leibniz' formula."""
    total = ZERO
    for order in permutations(range(len(matrix))):
        sign = (-1) ** sum(order[i] > order[j] for i, j in combinations(range(len(order)), 2))
        product = Fraction(sign)
        for row, column in enumerate(order):
            product *= matrix[row][column]
        total += product
    return total


def best_vertex(sense, objective, rows, variables):
    """The best value of all feasible vertices, by Cramer's rule; None if there is none."""
    n = len(objective)
    units = [([Fraction(i == j) for j in range(n)], *ends) for i, ends in enumerate(variables)]
    limits = [*rows, *units]
    sides = [(a, bound) for a, low, high in limits for bound in {low, high} if abs(bound) < INF]
    values = []
    for tight in combinations(sides, n):
        whole = determinant([a for a, _ in tight])
        if whole == 0:
            continue
        x = [
            determinant([[*a[:j], bound, *a[j + 1 :]] for a, bound in tight]) / whole
            for j in range(n)
        ]
        sums = [sum((c * v for c, v in zip(a, x, strict=True)), ZERO) for a, _, _ in limits]
        if all(low <= at <= high for at, (_, low, high) in zip(sums, limits, strict=True)):
            values.append(sum((c * v for c, v in zip(objective, x, strict=True)), ZERO))
    return (max if sense is MAX else min)(values, default=None)


def assert_is(solution: Solution, value):
    """A checked optimum, all in fractions; or no feasible point where the value is None."""
    if value is None:
        assert solution.status is Status.INFEASIBLE
        return
    assert solution.status is Status.OPTIMAL
    assert solution.value == value
    assert list(vars(solution.check()).values()) == [0, 0, 0, 0]
    numbers = [solution.value, *solution.primal, *solution.duals]
    assert {type(number) for number in numbers} == {Fraction}


def bounded(seed, count):
    """Programs whose feasible points are bounded, with their best vertex."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        data = dense_data(rng, 3, hard=bool(index % 2), boxed=True)
        yield dense_program(*data), best_vertex(*data)


def test_the_optimum_is_the_best_vertex():
    found = []
    for program, value in bounded(380, enough(200)):
        found.append(SOLVERS["rational"](program))
        assert_is(found[-1], value)
    assert {each.status for each in found} == {Status.OPTIMAL, Status.INFEASIBLE}
    assert any(each.iterations for each in found)  # the basis of HiGHS was not always the last


def test_any_basis_leads_to_the_optimum(monkeypatch):
    rng, singular = np.random.default_rng(381), 0
    for program, value in bounded(382, enough(100)):
        m, n = program.shape
        for _ in range(3):
            basic = set(rng.permutation(m + n)[:m].tolist())
            above = set(rng.permutation(m + n)[: (m + n) // 2].tolist())
            monkeypatch.setattr(rational, "basis_of", lambda _, found=(basic, above): found)
            assert_is(SOLVERS["rational"](program), value)
            held = [j - n for j in range(n, m + n) if j not in basic]
            dense = np.zeros((m, n)).astype(object)
            dense[program.rows, program.columns] = program.coefficients
            singular += determinant(dense[held][:, sorted(j for j in basic if j < n)]) == 0
    assert singular >= 5
    monkeypatch.setattr(rational, "basis_of", lambda _: (set(), set()))
    for program, value in bounded(383, enough(40)):
        assert_is(SOLVERS["rational"](program), value)


def test_ties_are_broken_by_other_numbers(monkeypatch):
    monkeypatch.setattr(rational, "_RANDOM", 3)
    monkeypatch.setattr(rational, "basis_of", lambda _: (set(), set()))
    relaxed, before = [], rational.Simplex._relax
    monkeypatch.setattr(
        rational.Simplex, "_relax", lambda self: (relaxed.append(self), before(self))
    )
    for program, value in bounded(384, enough(60)):
        assert_is(SOLVERS["rational"](program), value)
    for n in range(2, 6):
        # As often as a target and a draft have equal masses: every vertex is degenerate.
        law, target = otspec.IID([Fraction(1, n)] * n, 2), [Fraction(1, n)] * n
        assert otspec.optimal_plan(law, target, "membership").acceptance == 1
    assert len(relaxed) > len(set(map(id, relaxed)))


def skewed(rng, n, base):
    """Probabilities that are powers of 1/base apart."""
    masses = [Fraction(int(rng.integers(1, 9)), base ** int(rng.integers(0, 6))) for _ in range(n)]
    return tuple(mass / sum(masses) for mass in masses)


@pytest.mark.parametrize("base", [10**4, 10**20])
def test_masses_that_floats_lose_are_counted(base):
    rng, steps = np.random.default_rng(385), 0
    for index in range(enough(20, least=4)):
        draft, target = skewed(rng, 4, base), skewed(rng, 4, base)
        program = ("reduced", "membership", "importance", "maxflow")[index % 4]
        plan = otspec.optimal_plan(otspec.IID(draft, 2), target, program)
        assert plan.acceptance == oracles.optimum(oracles.iid_table(draft, 2), target)
        steps += plan.solution.iterations
    assert steps > 0


@pytest.mark.parametrize(
    ("data", "status"),
    [
        # The objective rises for ever, but no point satisfies the other rows.
        ((MAX, [1, 0], [([0, 1], 2, INF)], [NONNEGATIVE, (0, 1)]), Status.INFEASIBLE),
        ((MAX, [1, 0], [([0, 1], 2, INF)], [FREE, (0, 1)]), Status.INFEASIBLE),
        ((MIN, [0, 1], [([1, 0], 5, 4)], [FREE, FREE]), Status.INFEASIBLE),
        ((MIN, [1], [], [(3, 2)]), Status.INFEASIBLE),
        # What decides is less than a float can tell.
        ((MAX, [1], [([1], 1 + TINY, INF)], [(0, 1)]), Status.INFEASIBLE),
        ((MAX, [TINY], [], [NONNEGATIVE]), Status.UNBOUNDED),
        ((MAX, [1, TINY], [([1, 1], 0, 0)], [FREE, FREE]), Status.UNBOUNDED),
    ],
)  # fmt: skip
def test_why_there_is_no_optimum_is_told_exactly(data, status):
    assert SOLVERS["rational"](dense_program(*data)).status is status


def test_numbers_beyond_floats_are_exact():
    huge = 10**400
    data = (MAX, [huge, 1], [([huge, 1], -INF, huge**2)], [(0, huge - 1), NONNEGATIVE])
    solution = solve(dense_program(*data))
    assert_is(solution, huge**2)


@needs_cdd
def test_the_optimum_is_that_of_cddlib():
    import cdd
    import cdd.gmp

    rng, found = np.random.default_rng(386), dict.fromkeys(Status, 0)
    for index in range(enough(800)):
        sense, objective, rows, variables = dense_data(rng, 7, bool(index % 2), boxed=False)
        n = len(objective)
        units = [([Fraction(i == j) for j in range(n)], *ends) for i, ends in enumerate(variables)]
        limits = [(a, low, high) for a, low, high in [*rows, *units]]
        conditions = [[-low, *a] for a, low, _ in limits if low > -INF]
        conditions += [[high, *(-c for c in a)] for a, _, high in limits if high < INF]
        matrix = cdd.gmp.matrix_from_array(
            [*conditions, [1, *[0] * n]],
            rep_type=cdd.RepType.INEQUALITY,
            obj_type=cdd.LPObjType.MAX if sense is MAX else cdd.LPObjType.MIN,
            obj_func=[0, *objective],
        )
        wanted = cdd.gmp.linprog_from_matrix(matrix)
        cdd.gmp.linprog_solve(wanted)
        solution = SOLVERS["rational"](dense_program(sense, objective, rows, variables))
        found[solution.status] += 1
        if wanted.status is cdd.LPStatusType.OPTIMAL:
            assert_is(solution, Fraction(wanted.obj_value))
        elif wanted.status is cdd.LPStatusType.INCONSISTENT:
            assert solution.status is Status.INFEASIBLE
        else:  # nothing bounds the objective: cddlib does not say whether any point is feasible
            assert solution.status in (Status.UNBOUNDED, Status.INFEASIBLE)
    assert min(found[each] for each in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)) >= 10


def test_factors_solve_a_system_and_its_transpose():
    rng, singular = np.random.default_rng(387), 0
    for index in range(enough(150)):
        n = index % 7
        dense = rng.integers(-4, 5, (n, n)) * (rng.random((n, n)) < 0.6)
        if n > 1 and index % 5 == 0:
            dense[-1] = dense[0] * 2 - dense[1]
        rows = [{j: int(a) for j, a in enumerate(row) if a} for row in dense]
        sides = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 9, (n, 2))]
        if round(np.linalg.det(dense)) == 0:
            singular += 1
            with pytest.raises(ZeroDivisionError, match="singular"):
                Factors(rows)
            continue
        factors = Factors(rows)
        exact = dense.astype(object)
        assert list(exact @ np.array(factors.solve(sides), dtype=object)) == sides
        assert list(exact.T @ np.array(factors.solve_transposed(sides), dtype=object)) == sides
    assert singular >= 10
