"""What every formulation of the transport problem states: its size, its program, its meaning."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from otspec.arguments import as_flag
from otspec.arithmetic import Array, IntArray, zeros
from otspec.digits import counted
from otspec.distributions import Distribution, as_distribution
from otspec.drafts import DraftLaw
from otspec.drafts.contract import as_law
from otspec.drafts.support import Support, support
from otspec.frozen import Frozen
from otspec.memory import memory
from otspec.solvers import LinearProgram, Names, Sense, Solution

_BYTES_PER_COEFFICIENT = 120
_BYTES_PER_LINE = 100
"""Peak memory of building and solving, per coefficient and per row or column, in floats."""


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


class Seen(NamedTuple):
    """How many rows and pairs a support has at most."""

    rows: int
    pairs: int


@dataclass(frozen=True, eq=False)
class Formulation(Frozen, ABC):
    """One way to write the optimal acceptance as a linear program.

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

    title: ClassVar[str]
    source: ClassVar[str]
    smaller: ClassVar[str]
    """What to use instead when the program is too large."""

    law: DraftLaw
    target: Distribution
    sets: bool = True

    def __post_init__(self) -> None:
        target = as_distribution(self.target, "target")
        as_law(self.law).check_alike(target, "target")
        object.__setattr__(self, "target", target)
        as_flag(self.sets, "sets")

    @cached_property
    def support(self) -> Support:
        """The rows of the transport problem and their draft tokens."""
        return support(self.law, sets=self.sets)

    def size(self) -> Size:
        """Return the size, from n and k alone: an upper bound where probabilities are zero."""
        tuples = self.law.table_rows()
        k, n = min(self.law.k, self.law.n), self.law.n
        if not self.sets:
            return self._size(Seen(tuples, tuples * k))
        rows = pairs = 0
        for j in range(1, k + 1):
            count = math.comb(n, j)
            rows, pairs = rows + count, pairs + j * count
            if rows > tuples and pairs > tuples * k:
                break
        return self._size(Seen(min(tuples, rows), min(tuples * k, pairs)))

    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message has its size and what to use instead.
        """
        check_size(self.title, self.size(), self._advice())
        return self._build()

    def _advice(self) -> str:
        if not self.sets:
            return "use one row per draft set (sets=True)"
        return f"use {self.smaller}"

    @abstractmethod
    def _size(self, seen: Seen) -> Size:
        """Return the size for a support of so many rows and pairs."""

    @abstractmethod
    def _build(self) -> LinearProgram:
        """Build the program."""

    @abstractmethod
    def accepted(self, solution: Solution) -> Array:
        """Return the accepted mass of each pair of the support, shape (p,)."""


def check_size(title: str, size: Size, advice: str) -> None:
    """Refuse a program that would not fit in memory.

    Raises
    ------
    ValueError
        With its size and what to do instead.
    """
    if size.bytes > memory():
        raise ValueError(
            f"the {title} program has {size}, more than the {memory() / 2**30:.2g} GiB of this "
            f"machine: {advice}"
        )


@dataclass
class Lines:
    """Rows or columns under construction: blocks of named lines with bounds.

    Parameters
    ----------
    like : ndarray
        Gives the arithmetic.
    """

    like: Array

    def __post_init__(self) -> None:
        self._names: list[tuple[str, IntArray]] = []
        self._lower: list[Array] = []
        self._upper: list[Array] = []
        self._count = 0

    def add(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        """Add a block of lines with bounds and return their numbers."""
        count = len(indices)
        self._names.append((prefix, indices))
        for bounds, given in ((self._lower, lower), (self._upper, upper)):
            block = zeros(count, like=self.like)
            block[:] = given
            bounds.append(block)
        self._count += count
        return np.arange(self._count - count, self._count, dtype=np.intp)

    def __len__(self) -> int:
        return self._count

    def names(self) -> Names:
        """Return the names of all lines."""
        return Names(tuple(self._names))

    def bounds(self) -> tuple[Array, Array]:
        """Return the lower and upper bounds of all lines."""
        return np.concatenate(self._lower), np.concatenate(self._upper)


def assemble(
    title: str,
    sense: Sense,
    rows: Lines,
    columns: Lines,
    objective: IntArray,
    coefficients: list[tuple[IntArray, IntArray, int]],
    weights: Array | None = None,
) -> LinearProgram:
    """Put a program together from blocks.

    Parameters
    ----------
    title, sense
        As in :class:`LinearProgram`.
    rows, columns : Lines
    objective : ndarray of int
        The columns that the objective counts.
    coefficients : list of (rows, columns, value)
        Blocks of equal coefficients.
    weights : ndarray, optional
        Weights of the columns in the objective; by default 1.
    """
    like = columns.like
    one = zeros(1, like=like)[0] + 1
    goal = zeros(len(columns), like=like)
    goal[objective] = one if weights is None else weights
    values = np.concatenate([np.full(len(block), value) for block, _, value in coefficients])
    row_lower, row_upper = rows.bounds()
    lower, upper = columns.bounds()
    return LinearProgram(
        title,
        sense,
        goal,
        np.concatenate([block for block, _, _ in coefficients]),
        np.concatenate([block for _, block, _ in coefficients]),
        values * one,
        row_lower,
        row_upper,
        lower,
        upper,
        rows.names(),
        columns.names(),
    )


def token_indices(n: int) -> IntArray:
    """Return the tokens as name indices, shape (n, 1)."""
    return np.arange(n, dtype=np.intp)[:, None]


def arrow(keys: IntArray, tokens: IntArray) -> IntArray:
    """Return name indices that read ``x -> y``: (p, k), (p,) -> (p, k + 2)."""
    return np.column_stack([keys, np.full(len(keys), -1), tokens])
