"""Linear programs of named rows and columns, their plans, and their sizes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, Registry, as_flag, counted, memory, subclass_of, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.base import Support, as_law, support
from otspec.solvers import LinearProgram, Names, Sense, Solution, SolverName, solve


class ProgramBuilder:
    """What a formulation adds its rows, columns and coefficients to."""

    def __init__(self, like: Array) -> None:
        self._like = like
        self._rows, self._columns = _Lines(like), _Lines(like)
        self._coefficients: list[tuple[IntArray, IntArray, Array]] = []

    def rows(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        """Add a block of rows with names ``prefix(indices)`` and bounds; return their numbers."""
        return self._rows.add(prefix, indices, lower, upper)

    def columns(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        """Add a block of columns with names ``prefix(indices)`` and bounds; as :meth:`rows`."""
        return self._columns.add(prefix, indices, lower, upper)

    def put(self, rows: IntArray, columns: IntArray, value: int | Array = 1) -> None:
        """Add one coefficient for each row and column of two arrays of one length."""
        values = zeros(len(rows), like=self._like) + value
        self._coefficients.append((rows, columns, values))

    def program(
        self, title: str, sense: Sense, objective: IntArray, weights: Array | None = None
    ) -> LinearProgram:
        """Return the program.

        ``title`` and ``sense``: as in :class:`LinearProgram`. ``objective``: the columns that the
        objective counts. ``weights``: how often it counts them; by default once.
        """
        one = zeros(1, like=self._like)[0] + 1
        goal = zeros(len(self._columns), like=self._like)
        goal[objective] = one if weights is None else weights
        rows, columns, values = zip(*self._coefficients, strict=True)
        return LinearProgram(
            title,
            sense,
            goal,
            np.concatenate(rows),
            np.concatenate(columns),
            np.concatenate(values),
            *self._rows.bounds(),
            *self._columns.bounds(),
            self._rows.names(),
            self._columns.names(),
        )


class _Lines:
    """Rows or columns: blocks of named lines with bounds."""

    def __init__(self, like: Array) -> None:
        self._like = like
        self._names: list[tuple[str, IntArray]] = []
        self._lower: list[Array] = []
        self._upper: list[Array] = []
        self._count = 0

    def add(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        count = len(indices)
        self._names.append((prefix, indices))
        for bounds, given in ((self._lower, lower), (self._upper, upper)):
            block = zeros(count, like=self._like)
            block[:] = given
            bounds.append(block)
        self._count += count
        return np.arange(self._count - count, self._count, dtype=np.intp)

    def __len__(self) -> int:
        return self._count

    def names(self) -> Names:
        return Names(tuple(self._names))

    def bounds(self) -> tuple[Array, Array]:
        return np.concatenate(self._lower), np.concatenate(self._upper)


def arrow(keys: IntArray, tokens: IntArray) -> IntArray:
    """Return name indices that read ``x -> y``: (p, k), (p,) or (p, l) -> (p, k + 1 + l)."""
    return np.column_stack([keys, np.full(len(keys), -1), tokens])


@dataclass(frozen=True)
class Size:
    """The size of a linear program, known before it is built.

    Parameters
    ----------
    rows, columns, coefficients : int
    """

    rows: int
    columns: int
    coefficients: int

    @property
    def bytes(self) -> int:
        """Estimated peak memory of building and solving it."""
        lines = self.rows + self.columns
        return _BYTES_PER_COEFFICIENT * self.coefficients + _BYTES_PER_LINE * lines

    def __str__(self) -> str:
        counts = map(counted, (self.rows, self.columns, self.coefficients))
        parts = zip(counts, ("rows", "variables", "coefficients"), strict=True)
        listed = ", ".join(f"{count} {part}" for count, part in parts)
        gib = counted(self.bytes >> 30) if self.bytes >> 40 else f"{self.bytes / 2**30:.2g}"
        return f"{listed}, about {gib} GiB"


_BYTES_PER_COEFFICIENT = 120
_BYTES_PER_LINE = 100
"""Peak memory of building and solving, per coefficient and per row or column, in floats."""


@dataclass(frozen=True, eq=False)
class Formulation(Frozen, ABC):
    """One way to write the optimal acceptance as a linear program.

    A subclass says in class variables what it is, and :data:`PROGRAMS` registers it by its name.

    Parameters
    ----------
    law : DraftLaw
    target : array_like, shape (n,)
        In the law's arithmetic.
    sets : bool
        One row per set of distinct drafts instead of one per tuple; same optimum, fewer rows.

    Raises
    ------
    ValueError
        No law, or an unusable target.
    """

    name: ClassVar[str]
    """What command lines and tables call the program."""
    source: ClassVar[str]
    """Where it comes from."""
    smaller: ClassVar[str]
    """What to use instead when the program is too large."""
    sense: ClassVar[Sense] = Sense.MAXIMIZE
    in_tuples: ClassVar[bool] = False
    """Whether sets of drafts would not be its rows, so that it is written with the tuples."""

    law: DraftLaw
    target: Distribution
    sets: bool = True

    def __post_init__(self) -> None:
        target = as_law(self.law).as_target(self.target)
        law = self.law.for_target(target)
        self._hold(law=law, target=target, sets=as_flag(self.sets, "sets"))

    @cached_property
    def support(self) -> Support:
        """The rows of the transport problem and their draft tokens."""
        return support(self.law, sets=self.sets)

    def size(self) -> Size:
        """Return the size, from n and k alone: an upper bound where probabilities are zero."""
        tuples = self.law.table_rows()
        k, n = min(self.law.k, self.law.n), self.law.n
        if not self.sets:
            return self._size(tuples, tuples * k)
        rows = pairs = 0
        for j in range(1, k + 1):
            count = math.comb(n, j)
            rows, pairs = rows + count, pairs + j * count
            if rows > tuples and pairs > tuples * k:
                break
        return self._size(min(tuples, rows), min(tuples * k, pairs))

    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message has its size and what to use instead.
        """
        check_size(self.name, self.size(), self._advice())
        model = ProgramBuilder(self.target)
        objective = self._state(model)
        return model.program(f"{self.name} ({self.source})", self.sense, objective)

    def solved(self, solver: SolverName | None) -> Solution:
        """Build the linear program and solve it.

        Parameters
        ----------
        solver : str or None
            As for :func:`otspec.solvers.solve`; None leaves it to the program.

        Raises
        ------
        ValueError
            As :meth:`build`, or a program that was not solved.
        """
        return solve(self.build(), solver)

    def _advice(self) -> str:
        if not (self.sets or self.in_tuples):
            return "use one row per draft set (sets=True)"
        return f"use {self.smaller}"

    @property
    def _token_names(self) -> IntArray:
        """The tokens as name indices, shape (n, 1)."""
        return np.arange(self.law.n, dtype=np.intp)[:, None]

    @property
    def _pair_names(self) -> IntArray:
        """The pairs of the support as name indices, which read ``x -> y``: (p, k + 2)."""
        seen = self.support
        return arrow(seen.keys[seen.rows], seen.tokens)

    @abstractmethod
    def _size(self, rows: int, pairs: int) -> Size:
        """Return the size for a support of at most so many rows and pairs."""

    @abstractmethod
    def _state(self, model: ProgramBuilder) -> IntArray:
        """Add rows, columns and coefficients; return the columns that the objective counts."""

    @abstractmethod
    def accepted(self, solution: Solution) -> Array:
        """Return the accepted mass of each pair of the support, shape (p,)."""


def check_size(title: str, size: Size, advice: str) -> None:
    """Refuse a program that would not fit in memory."""
    if size.bytes > memory():
        raise ValueError(
            f"the {title} program has {size}, more than the {memory() / 2**30:.2g} GiB of this "
            f"machine: {advice}"
        )


PROGRAMS: Registry[type[Formulation]] = Registry(
    "program", "otspec.programs", subclass_of(Formulation)
)
"""The formulations of the optimal acceptance by name, in the order of tables."""
register = PROGRAMS.register
