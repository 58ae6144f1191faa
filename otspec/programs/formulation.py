"""What every program of the transport problem (Theory, 1) states: its size, its meaning."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arguments import as_flag
from otspec._base.arithmetic import Array, IntArray
from otspec._base.digits import counted
from otspec._base.frozen import Frozen, cached_property
from otspec._base.memory import memory
from otspec._base.registry import Registry, subclass_of
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.base import as_law
from otspec.drafts.support import Support, support
from otspec.programs.builder import ProgramBuilder, arrow
from otspec.solvers import LinearProgram, Sense, Solution, SolverName, solve


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
        return (
            f"{listed}, about {counted(self.bytes >> 30)} GiB"
            if self.bytes >> 40
            else (f"{listed}, about {self.bytes / 2**30:.2g} GiB")
        )


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
    sense: ClassVar[Sense] = Sense.MAXIMISE
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
        if not self.sets:
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
