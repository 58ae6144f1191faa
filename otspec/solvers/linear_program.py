"""A linear program that a reader can inspect, in floats or in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, overload

from otspec._base import Array, Frozen, IntArray, Number, as_number, is_exact, sums_by

if TYPE_CHECKING:
    from scipy import sparse


class Sense(Enum):
    """Which way the objective is optimized."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


@dataclass(frozen=True, eq=False)
class Names(Frozen, Sequence[str]):
    """Names such as ``pi(0, 1 -> 1)`` that are made only when somebody reads them.

    ``blocks`` are pairs of a prefix and the indices of its names, (m, d); ``-1`` is an arrow.
    """

    blocks: Sequence[tuple[str, IntArray]]

    def __len__(self) -> int:
        return sum(len(indices) for _, indices in self.blocks)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if position < 0:
            position += len(self)
        for prefix, indices in self.blocks:
            if 0 <= position < len(indices):
                parts = ("->" if i == -1 else f"{i}," for i in indices[position].tolist())
                return f"{prefix}({' '.join(parts).removesuffix(',').replace(', ->', ' ->')})"
            position -= len(indices)
        raise IndexError("name out of range")


@dataclass(frozen=True, eq=False)
class LinearProgram(Frozen):
    """Optimize c·x subject to row_lower ≤ A x ≤ row_upper and lower ≤ x ≤ upper.

    All arrays are float64, or all hold ``Fraction`` (bounds also ``±inf``).

    Parameters
    ----------
    title : str
    sense : Sense
    objective : ndarray, shape (n,)
        c.
    rows, columns : ndarray of int, shape (e,)
        Where A has its coefficients.
    coefficients : ndarray, shape (e,)
    row_lower, row_upper : ndarray, shape (m,)
    lower, upper : ndarray, shape (n,)
    row_names, column_names : sequence of str, lengths m and n
    """

    title: str
    sense: Sense
    objective: Array
    rows: IntArray
    columns: IntArray
    coefficients: Array
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array
    row_names: Sequence[str]
    column_names: Sequence[str]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.row_lower), len(self.objective)

    @property
    def exact(self) -> bool:
        """Whether the data are ``Fraction``."""
        return is_exact(self.objective)

    def value(self, x: Array) -> Number:
        """Return c·x."""
        return as_number((self.objective * x).sum(), like=self.objective)

    def activity(self, x: Array) -> Array:
        """Return A x: shape (n,) -> (m,)."""
        return sums_by(self.rows, self.coefficients * x[self.columns], self.shape[0])

    def prices(self, y: Array) -> Array:
        """Return Aᵀ y: shape (m,) -> (n,)."""
        return sums_by(self.columns, self.coefficients * y[self.rows], self.shape[1])

    def matrix(self) -> "sparse.csc_array":
        """Return A in floats, compressed by columns."""
        from scipy import sparse

        return sparse.csc_array(
            (self.coefficients.astype(float), (self.rows, self.columns)), shape=self.shape
        )

    def as_floats(self) -> "LinearProgram":
        """Return the same program with every number rounded to float64."""
        if not self.exact:
            return self
        numbers = "objective", "coefficients", "row_lower", "row_upper", "lower", "upper"
        return replace(self, **{name: getattr(self, name).astype(float) for name in numbers})

    def __str__(self) -> str:
        m, n = self.shape
        return (
            f"{self.title}: {self.sense.value} over {n:,} variables, {m:,} rows, "
            f"{len(self.rows):,} coefficients"
        )
