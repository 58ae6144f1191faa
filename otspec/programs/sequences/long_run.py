"""Programs of the long run (Theory, 20 and 21): what they are made from, and how they are put."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arguments import as_integer
from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import as_k
from otspec.models.base import Model, Prefix
from otspec.models.callables import as_models
from otspec.models.joint_contexts import JointContexts
from otspec.programs.builder import ProgramBuilder
from otspec.solvers import LinearProgram

MOST_LENGTH = 100
"""Most tokens of a block; the programs grow as the alphabet to their power."""

Share = tuple[int, Any]
"""A column of a program, and its coefficient."""


@dataclass(frozen=True, eq=False)
class LongRunProgram(Frozen, ABC):
    """Shares of all blocks of a long text, by where they begin and what becomes of them.

    Texts that end follow one another: each block is over with an end token, and the next one
    begins a new text.

    Parameters
    ----------
    draft, target : callable
        Language models that remember finitely many tokens, over one alphabet, in one arithmetic.
    length : int
        L, the tokens of a block.

    Raises
    ------
    ValueError
        Models or a length that cannot be used.
    """

    title: ClassVar[str]
    smaller: ClassVar[str] = "use shorter blocks or models that remember less"

    draft: Model
    target: Model
    length: int

    def __post_init__(self) -> None:
        draft, target = as_models(self.draft, self.target)
        length = as_k(self.length, "length")
        length = as_integer(length, "length", 1, MOST_LENGTH, otherwise="use shorter blocks")
        if target.ended(()):
            raise ValueError(
                "target is the model of a text that is over: use that of its beginning"
            )
        self._hold(draft=draft, target=target, length=length)

    @cached_property
    def contexts(self) -> JointContexts:
        """What the two models remember."""
        return JointContexts(self.draft, self.target)

    @abstractmethod
    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message names its size.
        """

    def texts_after(self, start: Prefix, length: int) -> Iterator[tuple[Prefix, Any]]:
        """Yield the target's texts of a length after a start, with their probabilities."""
        return self.target.after(start).texts(length)


class Rows:
    """Rows of a program under construction, one by one.

    Parameters
    ----------
    model : ProgramBuilder
    like : ndarray
        Gives the arithmetic.
    """

    def __init__(self, model: ProgramBuilder, like: Array) -> None:
        self._model, self._like = model, like
        self._found: dict[str, tuple[list[tuple[int, ...]], list[list[Share]]]] = {}

    def add(self, prefix: str, name: tuple[int, ...], shares: list[Share]) -> None:
        """Add a row of the block of rows with a prefix."""
        names, rows = self._found.setdefault(prefix, ([], []))
        names.append(name)
        rows.append(shares)

    def put(self, prefix: str, lower: float, upper: float) -> None:
        """Put a block of rows, all with the same bounds, into the program, if there are any."""
        names, rows = self._found.pop(prefix, ([], []))
        if not names:
            return
        numbers = self._model.rows(prefix, padded(names), lower, upper)
        counts = [len(shares) for shares in rows]
        columns, values = zip(*(share for shares in rows for share in shares), strict=True)
        where = np.array(columns, dtype=np.intp)
        coefficients = zeros(len(values), like=self._like)
        coefficients[:] = values
        self._model.put(np.repeat(numbers, counts), where, coefficients)


def padded(names: list[tuple[int, ...]]) -> IntArray:
    """Return names of different lengths as name indices; an arrow stands where one has ended."""
    width = max(map(len, names))
    filled = [(*name, *(-1,) * (width - len(name))) for name in names]
    return np.array(filled, dtype=np.intp).reshape(len(names), width)
