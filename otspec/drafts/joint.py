"""Any joint law of k drafts, given as its table."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

import numpy as np

from otspec._base.arithmetic import Array, IntArray, as_numbers
from otspec.distributions import as_distribution
from otspec.drafts.base import DraftLaw


@dataclass(frozen=True, eq=False)
class Joint(DraftLaw):
    """k drafts with an arbitrary joint distribution.

    Parameters
    ----------
    table : array_like, shape (n,) * k
        ``table[x_1, ..., x_k]`` is the probability of that tuple.
    normalize : bool
        Scale the table to sum 1.

    Raises
    ------
    ValueError
        Not of shape (n,) * k, or not a distribution.

    Examples
    --------
    >>> Joint([["1/2", 0], ["1/4", "1/4"]]).inside([0])
    Fraction(1, 2)
    """

    table: Array
    k: int = field(init=False)
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        numbers = as_numbers(self.table, "table")
        if numbers.ndim < 1 or len(set(numbers.shape)) != 1:
            raise ValueError(
                f"table must have one axis of the vocabulary's length per draft, but has shape "
                f"{numbers.shape}: reshape it to (n,) * k"
            )
        flat = as_distribution(numbers.ravel(), "table", normalize=normalize)
        self._hold(table=flat.reshape(numbers.shape), k=numbers.ndim)

    def _probabilities(self) -> Array:
        return self.table

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return int(self.table.size)

    def _table(self) -> tuple[IntArray, Array]:
        tuples = np.indices(self.table.shape).reshape(self.k, -1).T
        return tuples.astype(np.intp), self.table.ravel()
