"""What a verifier is tried on, pairs of small models in a vocabulary, and answers in symbols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, as_array, cached_property

BEHIND = ("same", "garbage", "nan")
"""What may stand behind the drafts of a row: what would have been drafted, anything, or NaN."""
FEWER = "fewer drafts in some rows"  # in the names of cases


@dataclass(frozen=True, eq=False)
class Case(Frozen):
    """A pair of small models whose rows depend on the last symbol."""

    name: str  # what is hard about it
    # (variants, n + 1, n): row 0 is that of the text before, row s + 1 that after symbol s. The
    # rows of a batch take one of the variants at random.
    draft: Array
    target: Array
    # (vocabulary,): which symbol each token is; n for one of probability 0. The tokens of one
    # symbol are equally likely.
    symbols: IntArray
    uneven: bool = False  # whether the rows of a batch have different numbers of drafts
    behind: str = "same"  # one of BEHIND: what stands where a row has no draft
    beside: bool = False  # whether a row stands beside each row of which nothing is kept
    # The pair of models of the texts beside each that is counted: its rows are always the same.
    other: int | None = None

    @property
    def n(self) -> int:
        """Symbols."""
        return int(self.draft.shape[-1])

    @property
    def vocabulary(self) -> int:
        """Tokens."""
        return len(self.symbols)

    @property
    def variants(self) -> int:
        """Pairs of models."""
        return int(self.draft.shape[0])

    @property
    def ways(self) -> int:
        """How many ways there are through a verifier, about."""
        both = (self.draft > 0).sum() * (self.target > 0).sum()
        return int(both) * (20 if self.uneven else 1)

    @cached_property
    def sizes(self) -> IntArray:
        """How many tokens each symbol is, shape (n,)."""
        return np.bincount(self.symbols, minlength=self.n)[: self.n]

    @cached_property
    def places(self) -> IntArray:
        """The first token of each symbol, shape (n,)."""
        return self._ordered[np.cumsum(self.sizes) - self.sizes]

    @cached_property
    def _ordered(self) -> IntArray:
        """All tokens, by their symbols."""
        return np.argsort(self.symbols, kind="stable")

    def tokens(self, symbols: IntArray, rng: np.random.Generator) -> IntArray:
        """Return tokens for symbols, each one of its symbol's at random."""
        if self.sizes.max() == 1:
            return self.places[symbols]
        starts = np.cumsum(self.sizes) - self.sizes
        return self._ordered[starts[symbols] + rng.integers(self.sizes[symbols])]

    @cached_property
    def draft_sums(self) -> Array:
        """Cumulative weights of the draft's rows."""
        return np.cumsum(self.draft, axis=-1)

    @cached_property
    def target_sums(self) -> Array:
        """Cumulative weights of the target's rows."""
        return np.cumsum(self.target, axis=-1)

    @cached_property
    def named(self) -> bool:
        """Whether tokens are symbols, by the same numbers."""
        return self.vocabulary == self.n and bool((self.symbols == np.arange(self.n)).all())

    def rows(self, values: Array) -> Array:
        """Return probabilities of tokens for those of symbols, on the last axis."""
        return values if self.named else np.take(self.shares(values), self.symbols, axis=-1)

    def shares(self, values: Array) -> Array:
        """Return the probability of one token of each symbol, and 0 for one of none: (…, n + 1)."""
        return np.concatenate([values / self.sizes, np.zeros((*values.shape[:-1], 1))], axis=-1)

    @property
    def with_rejected(self) -> "Case":
        """The case with one more pair of models, of which no draft is kept."""
        draft, target = np.zeros_like(self.draft[:1]), np.zeros_like(self.target[:1])
        draft[..., :-1] = 1 / (self.n - 1)
        target[..., -1] = 1
        return replace(
            self,
            draft=np.concatenate([self.draft, draft]),
            target=np.concatenate([self.target, target]),
        )

    @cached_property
    def after_any_symbol(self) -> "Case":
        """The case with n + 1 pairs for each: at the beginning, and after each symbol."""
        return replace(self, draft=begun(self.draft), target=begun(self.target))

    def texts(self, length: int) -> Array:
        """Return the law of the target's texts, shape (variants, n ** length)."""
        law = np.ones((self.variants, 1, 1))
        for _ in range(length):
            rows = self.target[:, :1] if law.shape[1] == 1 else self.target[:, 1:]
            # The last symbol of each text says which row follows.
            law = (law.reshape(self.variants, -1, rows.shape[1], 1) * rows[:, None]).reshape(
                self.variants, -1, 1
            )
        return law[..., 0]


def memoryless(name: str, draft: Any, target: Any, **options: Any) -> Case:
    """Return a case of weights, shape (n,), scaled to sum to 1: no row depends on the text."""
    rows = [_scaled(np.asarray(weights, dtype=float)) for weights in (draft, target)]
    repeated = [np.broadcast_to(row, (1, len(row) + 1, len(row))) for row in rows]
    return _case(name, *repeated, **options)


def remembering(name: str, draft: Any, target: Any, **options: Any) -> Case:
    """Return a case of tables, shape (n + 1, n) each: the first row, and those after a symbol."""
    tables = [_scaled(np.asarray(weights, dtype=float))[None] for weights in (draft, target)]
    return _case(name, *tables, **options)


def prompted(name: str, draft: Any, target: Any, prompts: int) -> Case:
    """Return a case whose texts begin after a prompt of one symbol."""
    tables = [_scaled(np.asarray(weights, dtype=float)) for weights in (draft, target)]
    after = [
        np.stack([np.concatenate([table[prompt][None], table]) for prompt in range(prompts)])
        for table in tables
    ]
    return _case(name, *after)


def mixed(name: str, cases: Sequence[Case]) -> Case:
    """Return a case whose batches have rows of several cases with one number of symbols."""
    drafts, targets = zip(*((case.draft, case.target) for case in cases), strict=True)
    return _case(name, np.concatenate(drafts), np.concatenate(targets))


def narrowed(case: Case) -> Case:
    """Return a case of which the two symbols are one whose likelihood ratios are nearest."""
    draft, target = case.draft[0, 0], case.target[0, 0]
    both = draft + target
    shares = np.where(both > 0, target / np.where(both > 0, both, 1), -1.0)  # -1: of no text
    apart = np.abs(shares[:, None] - shares)
    apart[np.tril_indices(case.n)] = np.inf
    one, other = np.unravel_index(apart.argmin(), apart.shape)
    joined = []
    for table in (case.draft, case.target):
        rows = np.delete(table, other + 1, axis=1)
        rows[..., one] += rows[..., other]
        joined.append(np.delete(rows, other, axis=2))
    name = f"{case.name.removesuffix(f', {case.n} symbols')}, {case.n - 1} symbols"
    symbols = np.arange(case.n - 1)
    return replace(case, name=name, draft=joined[0], target=joined[1], symbols=symbols)


def embedded(case: Case, vocabulary: int, places: Sequence[int]) -> Case:
    """Return a case whose symbols are some tokens of a vocabulary, and all others impossible."""
    symbols = np.full(vocabulary, case.n)
    symbols[list(places)] = np.arange(case.n)
    return replace(case, name=f"{case.name}, among {vocabulary:,} tokens", symbols=symbols)


def spread(case: Case, vocabulary: int) -> Case:
    """Return a case whose symbols are ranges of a vocabulary, of which every token is possible."""
    symbols = np.arange(vocabulary) * case.n // vocabulary
    return replace(case, name=f"{case.name}, spread over {vocabulary:,} tokens", symbols=symbols)


def begun(rows: Array) -> Array:
    """Return the rows of pairs that begin as they are, and after each symbol."""
    return np.stack([np.concatenate([row[None], table[1:]]) for table in rows for row in table])


def _case(name: str, draft: Array, target: Array, **options: Any) -> Case:
    return Case(name, draft, target, np.arange(draft.shape[-1]), **options)


def _scaled(weights: Array) -> Array:
    return weights / weights.sum(axis=-1, keepdims=True)


class Answer(NamedTuple):
    """What a verifier says, in symbols; n stands for a token that is none of them."""

    texts: IntArray  # shape (size, T); after the token −1, for what the target is still to draw
    marks: IntArray | None  # accepted draft, kept length or kept node, from 0; None if not told


class ImpossibleError(Exception):
    """A verifier says something that no right one says."""

    def __init__(self, reason: str, fault: str | None = None) -> None:
        super().__init__(reason)
        self.fault = fault  # the known fault that it is, where it can be no other


PADDING = "padding counted as drafts"


def named(answer: Any, names: tuple[str, ...], least: int = 2) -> Mapping[str, Any]:
    """Return the parts of an answer by name: attributes, keys, or a tuple in this order."""
    if isinstance(answer, Mapping) and set(names[:least]) <= set(answer):
        return answer
    if all(hasattr(answer, name) for name in names):
        return {name: getattr(answer, name) for name in names}
    parts = answer if isinstance(answer, tuple) else (answer,)
    if not least <= len(parts) <= len(names):
        raise ValueError(f"the verifier returned {len(parts)} values: return {' and '.join(names)}")
    return dict(zip(names, parts, strict=False))


def integers(
    values: Any, shape: tuple[int, ...], name: str, argument: str = "verifier"
) -> IntArray:
    """Return an array of integers of a shape, which what is given as an argument returned."""
    array = as_array(values, f"what the {argument} returned as {name}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        rows = int(np.isnan(array).reshape(len(array), -1).any(axis=1).sum()) if array.ndim else 1
        raise ImpossibleError(f"it returns NaN as {name} in {rows:,} of {shape[0]:,} rows")
    if [length for length in array.shape if length != 1] == [each for each in shape if each != 1]:
        array = array.reshape(shape)  # an axis of length 1 more, or squeezed away
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise ValueError(
            f"the {argument} returned {name} of type {array.dtype} and shape {array.shape}: it "
            f"must be integers of shape {shape}"
        )
    return array.astype(np.intp)


def symbols_of(tokens: IntArray, case: Case) -> IntArray:
    """Return the symbols of tokens; n for a token that is none."""
    outside = (tokens < 0) | (tokens >= case.vocabulary)
    if outside.any():
        raise ImpossibleError(
            f"it returns token {int(tokens[outside][0])}, of a vocabulary of {case.vocabulary:,}, "
            f"in {int(outside.sum()):,} of {len(tokens):,} rows"
        )
    return case.symbols[tokens]
