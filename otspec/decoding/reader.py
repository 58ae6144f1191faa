"""A language model that reads: texts, and trees of drafts behind them, each token once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from otspec._base.frozen import Frozen
from otspec.distributions import Distribution

Result = TypeVar("Result")


class Reader(Frozen, ABC):
    """A language model with what it has read, a text and maybe a tree; it is never changed."""

    n: int
    """Vocabulary size."""
    exact: bool = False
    """Whether probabilities are ``Fraction`` rather than float."""
    length: int
    """Tokens of the text that was read and kept."""

    @abstractmethod
    def read(self, tokens: Sequence[int], parents: Sequence[int], last: int) -> Reading:
        """Read more tokens, and ask the next token of the ``last`` ones.

        ``parents``: by number among all that was read behind the text; −1 for the text itself.
        """

    @classmethod
    def read_all(cls, requests: Sequence[Request]) -> list[Reading]:
        """Read for several texts: here one after the other, in a batch where a reader can."""
        return [each.reader.read(each.tokens, each.parents, each.last) for each in requests]

    @abstractmethod
    def keep(self, path: Sequence[int]) -> Reader:
        """Return the reader of a text longer by a path, numbers of what was read."""


@dataclass(frozen=True, eq=False)
class Reading(Frozen):
    """What comes of reading."""

    rows: Sequence[Distribution]
    """The distribution after each token that was asked, which is computed when it is looked at."""
    reader: Reader
    """The model that has read the tokens."""


class Request(NamedTuple):
    """What is to be read: a reader, and the arguments of :meth:`Reader.read`."""

    reader: Reader
    tokens: Sequence[int]
    parents: Sequence[int]
    last: int
    drafting: bool = False
    """Whether the reader is the draft model."""


Reads: TypeAlias = Generator[Request, Reading, Result]
"""A function that asks to read, and goes on with what comes of it."""


def alone(reads: Reads[Result]) -> Result:
    """Run a function that asks to read, and read each of its requests by itself."""
    try:
        request = next(reads)
        while True:
            [reading] = request.reader.read_all([request])
            request = reads.send(reading)
    except StopIteration as done:
        result: Result = done.value
        return result


def read_text(reader: Reader, tokens: Sequence[int]) -> Reading:
    """Read what follows a text, token after token."""
    return reader.read(tokens, range(-1, len(tokens) - 1), 1)
