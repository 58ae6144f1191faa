"""What an engine generates, one token or whole texts, and cases with a longer history."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, IntArray
from otspec.conformance.cases.cases import Answer, Case, integers, named, prompted, symbols_of
from otspec.conformance.cases.drafting import Sample, drafted
from otspec.conformance.cases.kinds import Kind, Tokens
from otspec.conformance.cases.text_cases import TEXTS

_PARTS = ("token", "drafts", "index")


@dataclass(frozen=True)
class DrawnToken(Tokens):
    """One token, of k drafts that the engine draws itself. Parameters: :class:`Tokens`."""

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Return given pairs of models, and no drafts."""
        return _undrafted(variants, case, rng)

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read tokens, alone or with drafts, shape (size, k), and the accepted index."""
        size = len(sample.variants)
        if hasattr(answer, "token") and not hasattr(answer, "drafts"):
            answer = answer.token  # what otspec.batch returns has no drafts, for one
        given = named(answer, _PARTS, least=1)
        if not all(name in given for name in _PARTS):
            return super().read((given["token"],), case, sample)
        drafts = integers(given["drafts"], (size, self.k), "drafts")
        there = np.ones((size, self.k), dtype=bool)
        own = Sample(sample.variants, symbols_of(drafts, case), drafts, there)
        return super().read((given["token"], given["index"]), case, own)


@dataclass(frozen=True)
class Texts(Kind):
    """Texts of several steps."""

    step: Kind  # what is drafted in one step, a block or a tree
    law: str = "iid"  # of no matter: the engine drafts
    count: int | None = None  # tokens of a text; None: one more than one step gives at most
    argument: str = "verifier"  # what the caller calls that which says them
    name: ClassVar[str] = "texts"

    @property
    def parents(self) -> tuple[int, ...]:
        """Those of one step."""
        return self.step.parents

    @property
    def kept(self) -> tuple[int, ...]:
        """No marks tell the steps of a text."""
        return (self.step.length if self.count is None else self.count - 1,)

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return the tokens of the prompts, shape (size, 1)."""
        return {"prompts": case.places[sample.variants][:, None]}

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Return given prompts, and no drafts."""
        return _undrafted(variants, case, rng)

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read texts without their prompts, shape (size, T)."""
        shape = (len(sample.variants), self.length)
        return Answer(symbols_of(integers(answer, shape, "texts", self.argument), case), None)


def _undrafted(variants: IntArray, case: Case, rng: np.random.Generator) -> Sample:
    return drafted((), "iid", case, variants, rng)


@dataclass(frozen=True)
class AtMost:
    """A grammar that allows a token so many times, and all others always.

    An engine begins with ``start``, calls ``advance`` with each token of the text, and masks the
    target by ``allowed``. The state is how often the token has come.
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


def _penalized(row: Array, text: Sequence[int], penalty: float) -> Array:
    """Lower each token's logit for each time that it was said."""
    counts = np.bincount(np.array(text, dtype=np.intp), minlength=len(row))
    return row * np.exp(-penalty * counts)


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


WEIGHTS: Mapping[str, Callable[[Array, Sequence[int], Any], Array]] = {  # of the next token
    "frequency_penalty": _penalized,
    "bad_words": _without_words,
    "grammar": _parsed,
}


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
        name=case.name, draft=case.draft, target=case.target, symbols=case.symbols, option=option
    )
