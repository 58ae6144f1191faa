"""A language model that reads: texts, and trees of drafts behind them, each token once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from otspec.distributions import Distribution
from otspec.frozen import Frozen


class Reader(Frozen, ABC):
    """A language model with what it has read: a text, and maybe a tree behind it.

    What it was does not change: reading gives another reader. So two continuations of one text
    can be read side by side.
    """

    n: int
    """Vocabulary size."""
    exact: bool = False
    """Whether probabilities are ``Fraction`` rather than float."""
    length: int
    """Tokens of the text that was read and kept."""

    @abstractmethod
    def read(self, tokens: Sequence[int], parents: Sequence[int], last: int) -> Reading:
        """Read more tokens at once.

        Parameters
        ----------
        tokens : sequence of int
        parents : sequence of int
            Of each token the one before it, by its number among all that was read behind the
            text, new ones included; −1 for the text itself.
        last : int
            Of how many of the tokens, the last ones, the next token is asked.

        Returns
        -------
        Reading
        """

    @abstractmethod
    def keep(self, path: Sequence[int]) -> Reader:
        """Return the reader of a longer text, which has forgotten all else.

        Parameters
        ----------
        path : sequence of int
            The tokens that the text goes on with, by their numbers among all that was read behind
            it.
        """


@dataclass(frozen=True, eq=False)
class Reading(Frozen):
    """What comes of reading."""

    rows: Sequence[Distribution]
    """The distribution after each token that was asked, which is computed when it is looked at."""
    reader: Reader
    """The model that has read the tokens."""


def read_text(reader: Reader, tokens: Sequence[int], last: int = 1) -> Reading:
    """Read what follows a text, token after token."""
    return reader.read(tokens, range(-1, len(tokens) - 1), last)
