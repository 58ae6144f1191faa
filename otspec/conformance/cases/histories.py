"""Targets that depend on the whole text: penalties, bad words, and a grammar that counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array
from otspec.conformance.cases.cases import Case, prompted
from otspec.conformance.cases.library import TEXTS


@dataclass(frozen=True)
class AtMost:
    """A grammar that allows a token so many times, and all others always.

    Its states are how many there were: an engine begins with ``start``, goes on by ``advance`` with
    each token that it says, and masks the target by ``allowed``.
    """

    token: int
    most: int
    start: int = 0

    def advance(self, state: int, token: int) -> int:
        """Return the state after one more token."""
        return state + (token == self.token)

    def allowed(self, state: int, vocabulary: int) -> Array:
        """Return which tokens may come, bool, shape (V,)."""
        mask = np.ones(vocabulary, dtype=bool)
        mask[self.token] = state < self.most
        return mask


HISTORIES: Mapping[str, Any] = {
    "frequency_penalty": 0.75,
    "bad_words": ((0, 0, 1), (1, 1)),
    "grammar": AtMost(0, 2),
}
"""Options that an engine may take, with the values that it is tried with."""
NO_HISTORY: dict[str, Any] = {"frequency_penalty": 0.0, "bad_words": (), "grammar": None}
"""Their values on all other cases."""


def _penalised(row: Array, text: Sequence[int], penalty: float) -> Array:
    """Lower each token's logit for each time that it was said."""
    counts = np.bincount(np.array(text, dtype=np.intp), minlength=len(row))
    lowered: Array = row * np.exp(-penalty * counts)
    return lowered


def _without_words(row: Array, text: Sequence[int], words: Sequence[Sequence[int]]) -> Array:
    """Make the last token of a word impossible after the others."""
    left = row.copy()
    for *before, last in words:
        if list(text[len(text) - len(before) :]) == before:
            left[last] = 0.0
    return left


def _parsed(row: Array, text: Sequence[int], grammar: AtMost) -> Array:
    """Make what a grammar does not allow impossible."""
    state = grammar.start
    for token in text:
        state = grammar.advance(state, token)
    return np.where(grammar.allowed(state, len(row)), row, 0.0)


WEIGHTS: Mapping[str, Callable[[Array, Sequence[int], Any], Array]] = {
    "frequency_penalty": _penalised,
    "bad_words": _without_words,
    "grammar": _parsed,
}
"""The weights of the next token, from its row and the text after the prompt."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WithHistory(Case):
    """A case whose target depends on the whole text after the prompt."""

    option: str  # one of HISTORIES

    def texts(self, length: int) -> Array:
        """Return the law of the target's texts, shape (variants, n ** length)."""
        law = np.ones((self.variants, self.n**length))
        for cell, text in enumerate(product(range(self.n), repeat=length)):
            for place, token in enumerate(text):
                context = text[place - 1] + 1 if place else 0
                for variant in range(self.variants):
                    row = self.target[variant, context]
                    weights = WEIGHTS[self.option](row, text[:place], HISTORIES[self.option])
                    law[variant, cell] *= weights[token] / weights.sum()
        return law


def history_case(option: str) -> tuple[Case, WithHistory]:
    """Return two models over two tokens, and the law that an option gives the target."""
    pair = TEXTS["rows that depend on the text"]
    case = prompted(option.replace("_", " "), *pair, len(pair[0]))
    return case, WithHistory(
        name=case.name,
        draft=case.draft,
        target=case.target,
        symbols=case.symbols,
        option=option,
    )
