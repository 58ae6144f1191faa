"""The letters: n-gram models of English over 27 symbols, exact drafts and targets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from otspec.arguments import as_flag, as_tokens
from otspec.frozen import Frozen
from otspec.models import NGramModel, Prefix
from otspec.raw import shown

ALPHABET = "abcdefghijklmnopqrstuvwxyz "
"""The symbols, by token id."""
START = "the "
"""What the empty prefix continues."""


@dataclass(frozen=True)
class Letters(Frozen):
    """Four models of one English text, each of which remembers one more letter than the last.

    The text is ``english.txt``, which ships with the package. Each model counts which symbol
    follows which context, adds one to every count, and divides by the sum; the text goes round.
    The empty prefix is what follows "the ".

    Parameters
    ----------
    exact : bool
        Whether probabilities are ``Fraction`` rather than float.

    Examples
    --------
    >>> pair = Letters()
    >>> pair.draft is pair.bigram, pair.target is pair.trigram
    (True, True)
    >>> pair.write([19, 7, 4, 26]), pair.read("Those:")
    ('the ', (19, 7, 14, 18, 4, 26))
    >>> str(pair.target(pair.read("th"))[4])
    '3703/5575'
    """

    exact: bool = True

    def __post_init__(self) -> None:
        self._hold(exact=as_flag(self.exact, "exact"))

    @cached_property
    def unigram(self) -> NGramModel:
        """How often each symbol occurs."""
        return _model(0, self.exact)

    @cached_property
    def bigram(self) -> NGramModel:
        """What follows a symbol."""
        return _model(1, self.exact)

    @cached_property
    def trigram(self) -> NGramModel:
        """What follows two symbols."""
        return _model(2, self.exact)

    @cached_property
    def fourgram(self) -> NGramModel:
        """What follows three symbols."""
        return _model(3, self.exact)

    @property
    def draft(self) -> NGramModel:
        """The draft of the default pair: :attr:`bigram`."""
        return self.bigram

    @property
    def target(self) -> NGramModel:
        """The target of the default pair: :attr:`trigram`."""
        return self.trigram

    def read(self, text: str) -> Prefix:
        """Return the token ids of a text: lower case, and all that is no letter one space."""
        return as_letters(text)

    def write(self, tokens: Iterable[int]) -> str:
        """Return the text of token ids."""
        return "".join(ALPHABET[token] for token in as_tokens(tokens, len(ALPHABET), "tokens"))


def letters(*, exact: bool = True) -> Letters:
    """Return a draft and a target over 27 symbols on which everything can be computed exactly.

    Parameters
    ----------
    exact : bool
        Whether probabilities are ``Fraction`` rather than float.

    Returns
    -------
    Letters
        ``draft`` is the bigram model and ``target`` the trigram model of an English text;
        ``unigram`` is a weaker draft, ``fourgram`` a stronger target.

    Raises
    ------
    ValueError
        An ``exact`` that is no truth value.

    Examples
    --------
    >>> from otspec.blocks import DraftSelection
    >>> from otspec.rules import SpecHub
    >>> pair = letters()
    >>> float(DraftSelection(pair.draft, pair.target, "2x2", SpecHub).efficiency())
    2.674452364124362
    """
    return Letters(exact)


@lru_cache(maxsize=8)  # all that there are: whoever asks gets the same, which nobody can change
def _model(order: int, exact: bool) -> NGramModel:
    """Return the model of the text that remembers so many letters."""
    start = as_letters(START)
    return NGramModel(letters_text(), len(ALPHABET), order, start=start, exact=exact)


def letters_text() -> Prefix:
    """Return the text that the letters are counted in, as token ids; it ends with a space."""
    written = (files("otspec.datasets") / "english.txt").read_text(encoding="ascii")
    return as_letters(written.rstrip() + " ")


def as_letters(text: str) -> Prefix:
    """Return the token ids of a text: lower case, and all that is no letter one space.

    Raises
    ------
    ValueError
        No text.
    """
    if not isinstance(text, str):
        raise ValueError(f"text is {shown(text)}: it must be a str")
    return tuple(map(ALPHABET.index, re.sub("[^a-z]+", " ", text.lower())))
