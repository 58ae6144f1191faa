"""The letters: n-gram models of English over 27 symbols, exact drafts and targets."""

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from otspec._base import Array, Frozen, cached_property, shown
from otspec._base.arguments import as_flag, as_integer, as_seed, as_tokens
from otspec.chance import Drawn
from otspec.models import NGramModel, Prefix

ALPHABET = "abcdefghijklmnopqrstuvwxyz "  # the symbols, by token id
START = "the "  # what the empty prefix continues


@dataclass(frozen=True)
class Letters(Frozen):
    """Four models of one English text, each of which remembers one more letter than the last.

    The text is ``english.txt``, which ships with the package. Each model counts which symbol
    follows which context, adds one to every count, and divides by the sum; the text goes round.
    The empty prefix is what follows "the ". Probabilities are ``Fraction`` if ``exact``.

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

    ``draft`` is the bigram model and ``target`` the trigram model of an English text; ``unigram``
    is a weaker draft, ``fourgram`` a stronger target. Probabilities are ``Fraction`` if ``exact``.

    Examples
    --------
    >>> from otspec.blocks import DraftSelection
    >>> from otspec.rules import SpecHub
    >>> pair = letters()
    >>> float(DraftSelection(pair.draft, pair.target, "2x2", SpecHub).efficiency())
    2.674452364124362
    """
    return Letters(exact)


def logged_letters(texts: int = 40, tokens: int = 6, seed: int = 0) -> dict[str, Array]:
    """Return a log of texts that the target writes, as an engine would keep it.

    ``draft_logits`` and ``target_logits``, (texts, tokens, 27), are logarithms of the models'
    probabilities before each token; ``target_tokens``, (texts, tokens), are drawn from the target.
    There are at most 10,000 texts, each of at most 1,000 tokens, which begin after "the ".
    """
    texts, tokens = as_integer(texts, "texts", 1, 10_000), as_integer(tokens, "tokens", 1, 1_000)
    rng, pair = np.random.default_rng(as_seed(seed)), letters(exact=False)
    shape = texts, tokens, len(ALPHABET)
    logits = {"draft_logits": np.empty(shape), "target_logits": np.empty(shape)}
    drawn = np.empty(shape[:2], dtype=np.int32)
    for place in np.ndindex(shape[:2]):
        prefix = tuple(drawn[place[0], : place[1]].tolist())
        logits["draft_logits"][place] = np.log(pair.draft(prefix))
        logits["target_logits"][place] = np.log(pair.target(prefix))
        drawn[place] = Drawn(rng).choose(pair.target(prefix))
    return {**logits, "target_tokens": drawn}


def logged_file() -> AbstractContextManager[Path]:
    """Give the path of :func:`logged_letters`, as long as the block lasts."""
    return as_file(files("otspec.datasets") / "letters_texts.npz")


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
    """Return the token ids of a text: lower case, and all that is no letter one space."""
    if not isinstance(text, str):
        raise ValueError(f"text is {shown(text)}: it must be a str")
    return tuple(map(ALPHABET.index, re.sub("[^a-z]+", " ", text.lower())))
