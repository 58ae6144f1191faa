"""What the target allows to be kept: whole blocks, or one token, are corrected (Theory, 8, 9)."""

from abc import ABC, abstractmethod

import numpy as np

from otspec._base.arguments import as_choice
from otspec._base.arithmetic import Array, IntArray, Number, positive_part
from otspec.programs.formulation import ProgramBuilder
from otspec.programs.sequences.drafted import Levels, highest_so_far


class Correction(ABC):
    """What may be corrected, and so how likely what is kept may begin with each text: A(s)."""

    @abstractmethod
    def left(self, prices: Levels, wanted: Levels, n: int) -> Number:
        """Return the most of E[len(s) − u(s)] over what the target allows to be kept."""

    @abstractmethod
    def ceiling(self, length: int, wanted: Array) -> Array:
        """Return what A(s) is at most for texts of a length, if no row says so."""

    @abstractmethod
    def write(
        self,
        model: ProgramBuilder,
        names: tuple[IntArray, IntArray],
        columns: tuple[IntArray, IntArray],
        parents: IntArray,
        chances: Array,
    ) -> None:
        """Write the rows for texts s of a length and the texts sy that go on from them.

        ``names`` and ``columns``: of the texts s and of the texts sy. ``parents``: for each text sy
        the place of s. ``chances``: M_b(y | s).
        """

    @abstractmethod
    def mended(self, kept: Levels, passed: Levels, wanted: Levels, n: int) -> Levels:
        """Return A of a float solution, not above what is selected nor what the target allows."""

    @abstractmethod
    def over(self, kept: Levels, wanted: Levels, n: int) -> Levels:
        """Return by how much A is above what the target allows."""


class _WholeBlock(Correction):
    """All tokens up to the end of the block: A(s) ≤ M_b(s), and A(s) ≥ Σ_y A(sy) (Theory, 8)."""

    def left(self, prices: Levels, wanted: Levels, n: int) -> Number:
        """Return E[max len(s) − u(s)] over the beginnings of the target's text."""
        gains = tuple(length - level for length, level in enumerate(prices))
        return (wanted[-1] * highest_so_far(gains, n)[-1]).sum()

    def ceiling(self, length: int, wanted: Array) -> Array:  # noqa: ARG002 -- of any length
        """Return M_b(s)."""
        return wanted

    def write(
        self,
        model: ProgramBuilder,
        names: tuple[IntArray, IntArray],
        columns: tuple[IntArray, IntArray],
        parents: IntArray,
        chances: Array,  # noqa: ARG002 -- the ceiling says what the target allows
    ) -> None:
        """Write A(s) ≥ Σ_y A(sy)."""
        rows = model.rows("longer", names[0], 0, np.inf)
        model.put(rows, columns[0])
        model.put(rows[parents], columns[1], -1)

    def mended(self, kept: Levels, passed: Levels, wanted: Levels, n: int) -> Levels:
        """Return masses that are at least the sums of those of longer texts."""
        mended: list[Array] = []
        for level, through, aim in zip(kept[::-1], passed[::-1], wanted[::-1], strict=True):
            least = mended[-1].reshape(-1, n).sum(axis=1) if mended else 0
            mended.append(np.maximum(np.minimum(np.minimum(level, through), aim), least))
        return tuple(reversed(mended))

    def over(self, kept: Levels, wanted: Levels, n: int) -> Levels:  # noqa: ARG002 -- as the other
        """Return A(s) − M_b(s)."""
        return tuple(level - aim for level, aim in zip(kept, wanted, strict=True))


class _OneToken(Correction):
    """One token, after which the plain target follows: A(sy) ≤ A(s) M_b(y | s) (Theory, 9)."""

    def left(self, prices: Levels, wanted: Levels, n: int) -> Number:
        """Return the most that whoever stops the target's text gets of len(s) − u(s)."""
        # The text s is left before a next token that is known, and nothing beyond it.
        length = len(prices) - 1
        worth: Array = wanted[-1] * (length - prices[-1])
        for depth in range(length - 1, -1, -1):
            stopped = wanted[depth + 1] * np.repeat(depth - prices[depth], n)
            worth = np.maximum(stopped, worth).reshape(-1, n).sum(axis=1)
        return worth[0]

    def ceiling(self, length: int, wanted: Array) -> Array:
        """Return M_b(s) for one token; longer texts have rows."""
        return wanted if length == 1 else np.full(len(wanted), np.inf)

    def write(
        self,
        model: ProgramBuilder,
        names: tuple[IntArray, IntArray],
        columns: tuple[IntArray, IntArray],
        parents: IntArray,
        chances: Array,
    ) -> None:
        """Write A(sy) ≤ A(s) M_b(y | s)."""
        rows = model.rows("next", names[1], -np.inf, 0)
        model.put(rows, columns[1])
        model.put(rows, columns[0][parents], -chances)

    def mended(self, kept: Levels, passed: Levels, wanted: Levels, n: int) -> Levels:
        """Return masses within what the next token leaves of those of shorter texts."""
        mended = [kept[0]]
        for length in range(1, len(kept)):
            limit = np.repeat(mended[-1], n) * next_tokens(wanted, length, n)
            least = np.minimum(kept[length], passed[length])
            mended.append(positive_part(np.minimum(least, limit)))
        return tuple(mended)

    def over(self, kept: Levels, wanted: Levels, n: int) -> Levels:
        """Return A(sy) − A(s) M_b(y | s)."""
        return tuple(
            kept[length] - np.repeat(kept[length - 1], n) * next_tokens(wanted, length, n)
            for length in range(1, len(kept))
        )


def next_tokens(wanted: Levels, length: int, n: int) -> Array:
    """Return M_b(y | s) for all texts sy of a length; 0 where s is impossible."""
    shorter = np.repeat(wanted[length - 1], n)
    return wanted[length] / np.where(shorter > 0, shorter, 1)


CORRECTIONS: dict[str, Correction] = {"block": _WholeBlock(), "one": _OneToken()}
"""By name: the whole block, or one token."""


def as_corrects(corrects: str) -> str:
    """Check what may be corrected."""
    return as_choice(corrects, "corrects", CORRECTIONS)
