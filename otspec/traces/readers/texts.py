"""Whole texts of a source: rows of both models, read as they are looked at, and the tokens."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from otspec._base import Array
from otspec.distributions import Distribution
from otspec.files import StoredArray

if TYPE_CHECKING:
    from otspec.logged import LoggedBlock

_BLOCK_BYTES = 8 * 2**20


class TextRows(Sequence[Distribution]):
    """The distributions of one model along a text, a range, each made when it is looked at.

    What is looked at twice is made twice, so that a text of any length takes no more memory than a
    block of rows. ``distribution`` takes a position, and returns the model's distribution there.
    """

    def __init__(self, positions: range, distribution: Callable[[int], Distribution]) -> None:
        self._positions, self._distribution = positions, distribution

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Distribution: ...

    @overload
    def __getitem__(self, index: slice) -> "TextRows": ...

    def __getitem__(self, index: int | slice) -> "Distribution | TextRows":
        """Return the distribution at a place, or the rows of a part of the text."""
        if isinstance(index, slice):
            return TextRows(self._positions[index], self._distribution)
        return self._distribution(self._positions[index])


class LoggedText(NamedTuple):
    """A text of a source: what both models said along it, and what was drawn.

    Parameters
    ----------
    text : int
        Its number in the source.
    draft, target : TextRows
        As the warping that was asked for makes them, one at each position.
    sampling : TextRows, optional
        What the tokens were drawn from: one of the models as it was logged, or as it was said to
        have been warped then. None if that is ``draft``.
    tokens : tuple of int
        Token i was drawn from row i; there are as many as rows, or one less.
    cluster : int
        The number in the source of the texts that depend on each other and on this one.
    """

    text: int
    draft: TextRows
    target: TextRows
    sampling: TextRows | None
    tokens: tuple[int, ...]
    cluster: int

    def block(self, length: int | None = None, end: Collection[int] = ()) -> "LoggedBlock":
        """Return the first tokens, by default all, with their rows in memory."""
        from otspec.logged import LoggedBlock  # and all that is known of blocks and trees

        tokens = self.tokens[:length]
        first = slice(len(tokens))
        sampling = None if self.sampling is None else tuple(self.sampling[first])
        return LoggedBlock(
            tuple(self.draft[first]), tuple(self.target[first]), tokens, end, sampling
        )


class BlockReader:
    """The rows of a stored array before a position, read by blocks as they are asked for."""

    def __init__(self, stored: StoredArray, stop: int) -> None:
        self._stored, self._stop = stored, stop
        row_bytes = stored.shape[-1] * np.dtype(stored.dtype).itemsize
        self._most = max(1, _BLOCK_BYTES // row_bytes)
        self._start, self._block = 0, np.empty((0, 0))

    def row(self, position: int) -> Array:
        """Return the logged numbers at a position."""
        if not self._start <= position < self._start + len(self._block):
            stop = min(position + self._most, self._stop)
            self._start, self._block = position, self._stored.rows(position, stop)
        return self._block[position - self._start]
