"""Instances for the programs, and programs written out by hand and from definitions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from importlib.util import find_spec
from itertools import islice

import numpy as np
import oracles
import pytest
from instances import KINDS, Exact, LawCase, law_case, pairs, turn, weights
from searching import NIGHTLY, enough

import otspec
from otspec.programs import PROGRAMS
from otspec.solvers import LinearProgram

NEEDS_CDD = "pycddlib is not installed (needs libcdd-dev and libgmp-dev)"
needs_cdd = pytest.mark.skipif(find_spec("cdd") is None, reason=NEEDS_CDD)
"""For cones; exact programs need no package."""

SOLVER_NAMES = ("rational", "highs", "cvxpy")

VALUE_ERROR = 1e-9
"""How far float values may be from the exact optimum."""

INF = float("inf")

Bounds = dict[str, tuple[Fraction | float, Fraction | float]]


def program_names(k: int) -> tuple[str, ...]:
    """The programs of the optimal acceptance that k drafts have."""
    names = ("membership", "reduced", "importance", "maxflow")
    return (*names, "compact") if k == 2 else names


def chosen(programs: tuple[str, ...], solver: str, number: int) -> tuple[str, ...]:
    """Two of the programs in turn; at night all, but for cvxpy, which is handed the same rows."""
    if NIGHTLY and solver != "cvxpy":
        return programs
    return (programs * 2)[number % len(programs) :][:2]


def joint_case(draft: Exact, k: int, seed: int) -> LawCase:
    """A random joint law whose tokens are those that a draft has."""
    rng, n = np.random.default_rng(seed), len(draft)
    cells = [x for x in np.ndindex(*(n,) * k) if all(draft[token] > 0 for token in x)]
    table = dict(zip(cells, weights(rng, len(cells), 12, 0.3), strict=True))
    flat = tuple(table.get(x, Fraction(0)) for x in np.ndindex(*(n,) * k))

    def build(convert):
        return otspec.Joint(np.array(convert(flat), dtype=object).reshape((n,) * k))

    return LawCase("Joint", build, {x: mass for x, mass in table.items() if mass > 0})


def instances(
    name: str,
    seed: int,
    count: int,
    most_tokens: int = 4,
    ks: tuple[int, ...] = (1, 2, 3, 4),
    most_tuples: int = 256,
) -> Iterator[tuple[LawCase, Exact]]:
    """:func:`enough` of ``count`` cases of a law beside a target: all kinds meet all k."""
    # Laws of distinct drafts leave out what is too small for them.
    count = enough(count, least=len(KINDS) * len(ks))

    def endless() -> Iterator[tuple[LawCase, Exact]]:
        for index, (draft, target) in enumerate(pairs(seed, 100 * count, most_tokens)):
            k = ks[turn(index, len(ks))]
            if name == "Joint":
                case = joint_case(draft, k, seed + index)
                first = tuple(oracles.marginal(case.table, 0, len(draft)))
                wanted = first if target == draft else target
            else:
                case, wanted = law_case(name, draft, k, seed=seed + index), target
            if case is not None and len(case.table) <= most_tuples:
                yield case, wanted

    found = list(islice(endless(), count))
    assert len(found) == count
    return iter(found)


def set_key(x: tuple[int, ...]) -> tuple[int, ...]:
    """The distinct tokens of a tuple ascending, the largest one repeated to the same length."""
    distinct = sorted(set(x))
    return (*distinct, *[distinct[-1]] * (len(x) - len(distinct)))


def seen_table(table: oracles.Table, sets: bool) -> oracles.Table:
    """The table itself, or with the tuples of one set added up."""
    if not sets:
        return dict(table)
    added: oracles.Table = {}
    for x, mass in table.items():
        added[set_key(x)] = added.get(set_key(x), Fraction(0)) + mass
    return added


def _line(prefix: str, x: tuple[int, ...], y: int | None = None) -> str:
    inner = ", ".join(map(str, x))
    return f"{prefix}({inner})" if y is None else f"{prefix}({inner} -> {y})"


class WrittenOut:
    """A program by the names of its rows and columns: bounds, objective and coefficients."""

    def __init__(self, sense: str) -> None:
        self.sense = sense
        self.rows: Bounds = {}
        self.columns: Bounds = {}
        self.goal: dict[str, int] = {}
        self.entries: dict[tuple[str, str], int] = {}

    def column(
        self,
        name: str,
        upper: Fraction | float = INF,
        goal: int = 0,
        entries: dict[str, int] | None = None,
    ) -> None:
        self.columns[name] = (0, upper)
        self.goal[name] = goal
        for row, value in (entries or {}).items():
            self.entries[row, name] = value


def written_out(
    program: str, table: oracles.Table, target: oracles.Weights, sets: bool
) -> WrittenOut:
    """The program named, from a law's table."""
    seen = seen_table(table, sets)
    tokens = range(len(target))
    if program == "membership":
        result = WrittenOut("minimize")
        for x, mass in seen.items():
            result.rows[_line("drafts", x)] = (mass, mass)
            for y in tokens:
                entries = {_line("drafts", x): 1, _line("target", (y,)): 1}
                result.column(_line("pi", x, y), goal=int(y not in x), entries=entries)
        for y in tokens:
            result.rows[_line("target", (y,))] = (target[y], target[y])
        return result
    result = WrittenOut("maximize")
    if program == "reduced":
        for x, mass in seen.items():
            result.rows[_line("drafts", x)] = (-INF, mass)
            for y in set(x):
                entries = {_line("drafts", x): 1, _line("target", (y,)): 1}
                result.column(_line("pi", x, y), goal=1, entries=entries)
        for y in tokens:
            result.rows[_line("target", (y,))] = (-INF, target[y])
    elif program == "importance":
        for x, mass in seen.items():
            result.rows[_line("drafts", x)] = (mass, mass)
            for y in set(x):
                entries = {_line("drafts", x): 1, _line("selected", (y,)): -1}
                result.column(_line("w", x, y), entries=entries)
        for y in tokens:
            result.rows[_line("selected", (y,))] = (-INF, 0)
            entries = {_line("selected", (y,)): 1}
            result.column(_line("t", (y,)), upper=target[y], goal=1, entries=entries)
    elif program == "maxflow":
        for x, mass in seen.items():
            result.rows[_line("drafts", x)] = (0, 0)
            result.column(_line("source", x), upper=mass, entries={_line("drafts", x): 1})
            for y in set(x):
                entries = {_line("drafts", x): -1, _line("token", (y,)): 1}
                result.column(_line("flow", x, y), entries=entries)
        for y in tokens:
            result.rows[_line("token", (y,))] = (0, 0)
            entries = {_line("token", (y,)): -1}
            result.column(_line("sink", (y,)), upper=target[y], goal=1, entries=entries)
    else:
        _write_compact(result, seen, target)
    return result


def _write_compact(result: WrittenOut, seen: oracles.Table, target: oracles.Weights) -> None:
    for v, mass in enumerate(target):
        at = _line("token", (v,))
        result.rows[at] = (0, 0)
        starts = sum((mass for (first, _), mass in seen.items() if first == v), Fraction(0))
        result.column(_line("source", (v,)), upper=starts, entries={at: 1})
        result.column(_line("sink", (v,)), upper=mass, goal=1, entries={at: -1})
    for (u, v), mass in seen.items():
        if u != v:
            entries = {_line("token", (u,)): -1, _line("token", (v,)): 1}
            result.column(_line("flow", (u, v)), upper=mass, entries=entries)


def feasible_masses(rng: np.random.Generator, seen, target: Exact) -> np.ndarray:
    """A random sub-coupling: within both marginals, hardly ever optimal.

    Pairs are met in random order and take a random share, from nothing to all, of what is left.
    """
    left, needed = list(seen.masses), list(target)
    accepted = np.full(len(seen.rows), Fraction(0), dtype=object)
    for pair in rng.permutation(len(accepted)).tolist():
        row, token = int(seen.rows[pair]), int(seen.tokens[pair])
        accepted[pair] = Fraction(int(rng.integers(0, 5)), 4) * min(left[row], needed[token])
        left[row] -= accepted[pair]
        needed[token] -= accepted[pair]
    return accepted


def dense_program(sense, objective, rows, variables, exact=True):
    """A program from dense data: rows (coefficients, lower, upper), variables (lower, upper)."""

    def array(values):
        if not exact:
            return np.array(values, dtype=float)
        kept = [value if abs(value) == INF else Fraction(value) for value in values]
        result = np.empty(len(kept), dtype=object)
        result[:] = kept
        return result

    m, n = len(rows), len(objective)
    entries = [(i, j, rows[i][0][j]) for i in range(m) for j in range(n) if rows[i][0][j]]
    places = np.array([entry[:2] for entry in entries], dtype=np.intp).reshape(-1, 2)
    return LinearProgram(
        "test",
        sense,
        array(objective),
        places[:, 0],
        places[:, 1],
        array([value for *_, value in entries]),
        array([lower for _, lower, _ in rows]),
        array([upper for *_, upper in rows]),
        array([lower for lower, _ in variables]),
        array([upper for _, upper in variables]),
        [f"row({i})" for i in range(m)],
        [f"x({j})" for j in range(n)],
    )


def formulate(program, law, target, sets):
    """The model named, of a law and a target in its arithmetic."""
    checked = np.array(target, dtype=object if law.exact else float)
    return PROGRAMS[program](law, checked, sets)
