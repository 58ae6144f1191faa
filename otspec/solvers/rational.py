"""Exact linear programs, from the basis at which HiGHS ends.

Nearly always this basis is optimal in fractions too. Where it is not, because floats lost a small
number, the parametric self-dual simplex method continues (Dantzig, *Linear Programming and
Extensions*, 1963, chapter 11; Vanderbei, *Linear Programming*, chapter 7). Bounds and slopes are
relaxed by random numbers, which make the basis optimal. A share μ of the relaxation is left; each
step lowers it, and at 0 the basis is optimal. So no basis comes twice. If two steps tie, which
would leave μ as it is, other numbers are drawn.
"""

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from otspec._base import zeros
from otspec.solvers.base import Solution, Solver, Status, register
from otspec.solvers.factors import Factors
from otspec.solvers.highs import basis_of
from otspec.solvers.linear_program import LinearProgram, Sense

_ZERO = Fraction(0)
_RANDOM = 1 << 30  # relaxations are by whole numbers up to this one, beyond what they have to be


class _State(NamedTuple):
    """A vertex and its prices: values + μ drift and slopes + μ turn if a share μ is left."""

    values: list[Fraction]
    drift: list[Fraction]
    slopes: list[Fraction]
    turn: list[Fraction]


class Simplex:
    """A basis of a program, which moves to an optimal one.

    Row i has a variable of its own, n + i, which equals A_i x and has the bounds of the row. Of the
    n + m variables m are basic. The others are at a bound, or at 0 if they have none; the basic
    variables follow from them.
    """

    def __init__(self, program: LinearProgram) -> None:
        m, self._n = program.shape
        self._size = m + self._n
        rows: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in range(m)]
        entries = (program.rows.tolist(), program.columns.tolist(), program.coefficients.tolist())
        for i, j, value in zip(*entries, strict=True):
            rows[i][j] += value
        # Each row is multiplied by a number that makes its coefficients whole.
        self._scale = [math.lcm(*(value.denominator for value in row.values())) for row in rows]
        self._rows = [
            {j: int(value * scale) for j, value in row.items() if value}
            for row, scale in zip(rows, self._scale, strict=True)
        ]
        scale = [1] * self._n + self._scale
        self._lower = _times(scale, [*program.lower, *program.row_lower])
        self._upper = _times(scale, [*program.upper, *program.row_upper])
        self._sign = 1 if program.sense is Sense.MAXIMIZE else -1
        goal = enumerate(program.objective)
        self._goal = {j: Fraction(self._sign * value) for j, value in goal if value}
        self._chance = np.random.default_rng(0)
        # The relaxation: by how much bounds are wider, and what is added to the objective.
        self._slack: dict[int, Fraction] = {}
        self._tilt: dict[int, Fraction] = {}
        self.steps = 0
        basic, above = basis_of(program)
        of_rows = set(range(self._n, self._size))
        try:
            self._begin(basic or of_rows, above)
        except ZeroDivisionError:  # in fractions it is no basis
            self._begin(of_rows, set())

    def run(self) -> Status:
        """Move to an optimal basis, or to a proof that there is none."""
        if any(low > high for low, high in zip(self._lower, self._upper, strict=True)):
            return Status.INFEASIBLE
        status, left = Status.OPTIMAL, _ZERO
        while wrong := self._wrong(state := self._state()):
            share, first, way = max(wrong)
            if share >= left:  # nothing is relaxed yet, or there was a tie
                self._relax()
                left = Fraction(1)
                continue
            left = share
            if first not in self._side:
                entering = self._entering(first, way, left, state)
                if entering is None:
                    return Status.INFEASIBLE
                self._exchange(entering, first, -way)
            elif (leaving := self._leaving(first, way, left, state)) is not None:
                self._exchange(first, *leaving)
            else:
                # The objective has no bound, if there is a feasible point: look for one.
                self._goal, status, left = {}, Status.UNBOUNDED, _ZERO
        return status

    def values(self) -> list[Fraction]:
        """Return all variables at the vertex: those of the program, then A x."""
        ends = {-1: self._lower, 1: self._upper}
        return self._all({j: ends[side][j] for j, side in self._side.items() if side})

    def duals(self) -> list[Fraction]:
        """Return for each row the derivative of the value with respect to its right-hand side."""
        slopes = self._slopes(self._goal)[self._n :]
        return [self._sign * y * scale for y, scale in zip(slopes, self._scale, strict=True)]

    def _begin(self, basic: Set[int], above: Set[int]) -> None:
        """Take a basis, and which of the other variables are at their upper bound."""
        self._side = {}
        for j in sorted(set(range(self._size)) - basic):
            low, high = self._lower[j] > -math.inf, self._upper[j] < math.inf
            self._side[j] = 1 if high and (j in above or not low) else -1 if low else 0
        self._factor()

    def _state(self) -> _State:
        """Return the vertex and the prices of the basis."""
        return _State(
            self.values(),
            self._all({j: side * self._slack.get(j, _ZERO) for j, side in self._side.items()}),
            self._slopes(self._goal),
            self._slopes(self._tilt),
        )

    def _wrong(self, state: _State) -> list[tuple[Fraction, int, int]]:
        """Return variables that are not optimal at μ = 0: (μ from which they are, which, way)."""
        # A basic variable beyond a bound has to rise to it (way 1) or fall to it (-1). Another has
        # to rise or to fall if that improves the objective. The condition that a variable breaks is
        # a + μ b >= 0 with a < 0; it holds from μ = -a / b.
        found = []
        for j, (value, drift, slope, turn) in enumerate(zip(*state, strict=True)):
            if j in self._side:
                way = self._improves(j, slope)
                off, relaxed = abs(slope), -way * turn
            else:
                way, off = self._outside(j, value)
                relaxed = self._slack.get(j, _ZERO) + way * drift
            if way:
                found.append((off / relaxed if relaxed else _ZERO, j, way))
        return found

    def _outside(self, j: int, value: Fraction) -> tuple[int, Fraction]:
        """Return the way from a value of variable j to its bounds, and how far it is."""
        if value < self._lower[j]:
            return 1, self._lower[j] - value
        if value > self._upper[j]:
            return -1, value - self._upper[j]
        return 0, _ZERO

    def _improves(self, j: int, slope: Fraction) -> int:
        """Return which way variable j, not a basic one, can go to raise what has this slope."""
        if self._lower[j] == self._upper[j] and j not in self._slack:
            return 0
        return (slope > 0 and self._side[j] < 1) - (slope < 0 and self._side[j] > -1)

    def _relax(self) -> None:
        """Relax bounds of basic variables and slopes of the others so that the basis is optimal."""
        self._slack, self._tilt = {}, {}
        for j in [j for j, side in self._side.items() if side == 0]:
            self._free(j)
        values, slopes = self.values(), self._slopes(self._goal)
        more = self._chance.integers(1, _RANDOM, self._size).tolist()
        for j, side in self._side.items():
            self._tilt[j] = side * (max(-side * slopes[j], _ZERO) + more[j])
        for j in self._basic():
            self._slack[j] = self._outside(j, values[j])[1] + more[j]

    def _free(self, j: int) -> None:
        """Make a variable without bounds basic, if a variable with bounds follows from it."""
        for i, rate in enumerate(self._all({j: Fraction(1)})):
            ends = self._lower[i] > -math.inf, self._upper[i] < math.inf
            if rate and any(ends):
                self._exchange(j, i, -1 if ends[0] else 1)
                break

    def _entering(self, j: int, way: int, left: Fraction, state: _State) -> int | None:
        """Return whose slope reaches 0 first when basic variable j moves to a bound; or None."""
        rates = self._slopes({j: Fraction(way)})
        ratios = [
            (abs((state.slopes[k] + left * state.turn[k]) / rates[k]), k)
            for k in self._side
            if self._improves(k, rates[k])
        ]
        return min(ratios)[1] if ratios else None

    def _leaving(self, k: int, way: int, left: Fraction, state: _State) -> tuple[int, int] | None:
        """Return the variable that is first at a bound when k moves, and which bound; or None."""
        steps = []
        for i, rate in enumerate(self._all({k: Fraction(way)})):
            end = (rate > 0) - (rate < 0)
            bound = self._upper[i] if end > 0 else self._lower[i]
            if end and -math.inf < bound < math.inf:
                value = state.values[i] + left * state.drift[i]
                bound += end * left * self._slack.get(i, _ZERO)
                steps.append(((bound - value) / rate, i, end))
        return min(steps)[1:] if steps else None

    def _exchange(self, entering: int, leaving: int, end: int) -> None:
        """Make a variable basic, and put another, or the same, at a bound instead."""
        del self._side[entering]
        self._side[leaving] = end
        self.steps += 1
        self._factor()

    def _basic(self) -> list[int]:
        return [j for j in range(self._size) if j not in self._side]

    def _factor(self) -> None:
        """Decompose the rows at a bound, in the basic variables of the program."""
        self._inner = [j for j in self._basic() if j < self._n]
        self._tight = [i for i in range(len(self._rows)) if self._n + i in self._side]
        number = {j: place for place, j in enumerate(self._inner)}
        rows = (self._rows[i] for i in self._tight)
        self._factors = Factors(
            [{number[j]: value for j, value in row.items() if j in number} for row in rows]
        )

    def _all(self, given: Mapping[int, Fraction]) -> list[Fraction]:
        """Return all variables, given those that are not basic; what is not given is 0."""
        values = [given.get(j, _ZERO) for j in range(self._size)]
        sides = []
        for i in self._tight:
            terms = (a * values[j] for j, a in self._rows[i].items() if values[j])
            sides.append(values[self._n + i] - sum(terms))
        for j, value in zip(self._inner, self._factors.solve(sides), strict=True):
            values[j] = value
        for i, row in enumerate(self._rows):
            if self._n + i not in self._side:
                terms = (a * values[j] for j, a in row.items() if values[j])
                values[self._n + i] = sum(terms, _ZERO)
        return values

    def _slopes(self, function: Mapping[int, Fraction]) -> list[Fraction]:
        """Return what a unit more of each variable that is not basic adds to a linear function."""
        slopes = [function.get(j, _ZERO) for j in range(self._size)]

        def replace(i: int, price: Fraction) -> None:
            """Count A_i x times a price as its terms."""
            slopes[self._n + i] -= price
            if price:
                for j, a in self._rows[i].items():
                    slopes[j] += a * price

        for i in range(len(self._rows)):
            if self._n + i not in self._side:
                replace(i, slopes[self._n + i])
        prices = self._factors.solve_transposed([slopes[j] for j in self._inner])
        for i, price in zip(self._tight, prices, strict=True):
            replace(i, -price)
        return slopes


def _times(scale: list[int], ends: list[Any]) -> list[Any]:
    """Return bounds times whole numbers, as fractions; infinity stays."""
    pairs = zip(scale, ends, strict=True)
    return [end if isinstance(end, float) else Fraction(factor * end) for factor, end in pairs]


def solve(program: LinearProgram) -> Solution:
    """Solve a linear program of exact data exactly."""
    if not program.exact:
        raise ValueError(
            "solver='rational' needs exact distributions: pass Fractions or strings such as '3/10'"
        )
    start = time.perf_counter()
    simplex = Simplex(program)
    status = simplex.run()
    seconds = time.perf_counter() - start
    rows, columns = program.shape
    primal, duals = zeros(columns, like=program.objective), zeros(rows, like=program.objective)
    if status is Status.OPTIMAL:
        primal[:], duals[:] = simplex.values()[:columns], simplex.duals()
    value = program.value(primal)
    return Solution(program, "rational", status, value, primal, duals, simplex.steps, seconds)


register(Solver("rational", solve, exact=True))
