"""What is verified: drafts of one token, a block, or a tree; and reading what a verifier says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.conformance.cases import Case
from otspec.frozen import Frozen

UNKNOWN = -1
"""A symbol that the target is still to draw."""


class Sample(NamedTuple):
    """Drafts of a batch."""

    variants: IntArray
    """Which pair of models each row has, shape (size,)."""
    drafts: IntArray
    """Symbols, shape (size, nodes)."""
    lengths: IntArray
    """How many drafts count, shape (size,)."""


class Answer(NamedTuple):
    """What a verifier says, in symbols; n stands for a token that is none of them."""

    texts: IntArray
    """Shape (size, T); after the token :data:`UNKNOWN`."""
    marks: IntArray | None
    """The accepted draft, the kept length or the kept node, from 0; None if it is not told."""


class ImpossibleError(Exception):
    """A verifier says something that no right one says."""


class Kind(Frozen, ABC):
    """A shape of drafts."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def parents(self) -> tuple[int, ...]:
        """The parent of each draft; −1 for the text."""

    @property
    def drawn(self) -> tuple[int, ...]:
        """The parent of each draft that is drawn here."""
        return self.parents

    @property
    @abstractmethod
    def length(self) -> int:
        """T, the symbols of a text that is looked at."""

    @property
    @abstractmethod
    def marks(self) -> int:
        """How many values :attr:`Answer.marks` have."""

    @abstractmethod
    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return the arrays that a verifier takes, by name, over symbols."""

    @abstractmethod
    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read what a verifier returned.

        Raises
        ------
        ImpossibleError
            It cannot be what a right verifier says.
        ValueError
            It has another form than a verifier's answer.
        """

    def draw(self, case: Case, size: int, rng: np.random.Generator) -> Sample:
        """Draw drafts as the draft model does, children after their parents."""
        return self.drafted(case, rng.integers(case.variants, size=size), rng)

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Draw drafts of given pairs of models."""
        size = len(variants)
        nodes = len(self.drawn)
        drafts = np.zeros((size, nodes), dtype=np.intp)
        for node, parent in enumerate(self.drawn):
            last = 0 if parent < 0 else drafts[:, parent] + 1
            rows = case.draft[variants, last]
            if self.distinct:
                rows = self._without_siblings(rows, drafts, node)
            drafts[:, node] = drawn(rows, rng)
        lengths = rng.integers(nodes + 1, size=size) if case.uneven else np.full(size, nodes)
        return Sample(variants, drafts, lengths)

    distinct: bool = False
    """Whether siblings are drawn without replacement."""

    def _without_siblings(self, rows: Array, drafts: IntArray, node: int) -> Array:
        rows = rows.copy()
        for other in range(node):
            if self.parents[other] == self.parents[node]:
                np.put_along_axis(rows, drafts[:, other, None], 0.0, axis=1)
        return rows

    def symbols(self, tokens: IntArray, case: Case) -> IntArray:
        """Return the symbols of tokens; n for a token that is none."""
        if not ((tokens >= 0) & (tokens < case.vocabulary)).all():
            wrong = tokens[(tokens < 0) | (tokens >= case.vocabulary)]
            raise ImpossibleError(
                f"it returns token {int(wrong.flat[0])}, of a vocabulary of {case.vocabulary}"
            )
        known = np.full(case.vocabulary, case.n, dtype=np.intp)
        known[case.places] = np.arange(case.n)
        return known[tokens]


@dataclass(frozen=True)
class Tokens(Kind):
    """k drafts of one token.

    Parameters
    ----------
    k : int
    distinct : bool
        Whether they are drawn without replacement.
    """

    k: int = 3
    distinct: bool = False
    name: ClassVar[str] = "tokens"

    @property
    def parents(self) -> tuple[int, ...]:
        """All are children of the text."""
        return (-1,) * self.k

    @property
    def length(self) -> int:
        """One token follows."""
        return 1

    @property
    def marks(self) -> int:
        """None, or one of the drafts."""
        return self.k + 1

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft and target, shape (size, n) each."""
        return {name: getattr(case, name)[sample.variants, 0] for name in ("draft", "target")}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read tokens, shape (size,), alone or with the accepted index, −1 for none."""
        size = len(sample.drafts)
        given = named(answer, ("token", "index"), least=1)
        tokens = self.symbols(integers(given["token"], (size,), "token"), case)
        if given.get("index") is None:
            return Answer(tokens[:, None], None)
        index = np.asarray(given["index"])
        if index.dtype == bool:
            raise ValueError(
                "the verifier returned flags beside tokens: return the accepted index, or nothing"
            )
        index = integers(index, (size,), "index")
        if not ((index >= -1) & (index < self.k)).all():
            raise ImpossibleError(f"it accepts draft {int(index.max())}, of {self.k}")
        claimed = np.take_along_axis(sample.drafts, np.maximum(index, 0)[:, None], axis=1)[:, 0]
        if ((index >= 0) & (claimed != tokens)).any():
            raise ImpossibleError("its token is not the draft that it accepts")
        return Answer(tokens[:, None], index + 1)


@dataclass(frozen=True)
class Tree(Kind):
    """A drafted tree.

    Parameters
    ----------
    parents : tuple of int
        Of each node, before it; −1 for the text.
    distinct : bool
        Whether siblings are drawn without replacement.
    """

    parents: tuple[int, ...] = (-1, -1, 0, 0, 1)
    distinct: bool = False
    name: ClassVar[str] = "tree"

    @cached_property
    def paths(self) -> list[tuple[int, ...]]:
        """The nodes from the text to each node."""
        paths: list[tuple[int, ...]] = []
        for node, parent in enumerate(self.parents):
            paths.append((*(paths[parent] if parent >= 0 else ()), node))
        return paths

    @property
    def length(self) -> int:
        """The deepest path and a token."""
        return max(map(len, self.paths), default=0) + 1

    @property
    def marks(self) -> int:
        """None, or one of the nodes."""
        return len(self.parents) + 1

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft and target, shape (size, nodes + 1, n): after the text, and each node."""
        start = np.zeros((len(sample.drafts), 1), dtype=np.intp)
        contexts = np.concatenate([start, sample.drafts + 1], axis=1)
        rows = sample.variants[:, None]
        return {"draft": case.draft[rows, contexts], "target": case.target[rows, contexts]}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read the last kept node, −1 for none, and the token after it, shape (size,) each."""
        size = len(sample.drafts)
        given = named(answer, ("node", "token"))
        node = integers(given["node"], (size,), "node")
        if not ((node >= -1) & (node < len(self.parents))).all():
            raise ImpossibleError(f"it keeps node {int(node.max())}, of {len(self.parents)}")
        return Answer(self._texts(node, given["token"], case, sample), node + 1)

    def _texts(self, node: IntArray, token: Any, case: Case, sample: Sample) -> IntArray:
        size = len(sample.drafts)
        tokens = self.symbols(integers(token, (size,), "token"), case)
        texts = np.full((size, self.length), UNKNOWN, dtype=np.intp)
        for last in range(-1, len(self.parents)):
            rows = np.flatnonzero(node == last)
            path = self.paths[last] if last >= 0 else ()
            texts[rows[:, None], np.arange(len(path))] = sample.drafts[rows[:, None], list(path)]
            texts[rows, len(path)] = tokens[rows]
        return texts


@dataclass(frozen=True)
class Block(Tree):
    """A block of drafts, one after another.

    Parameters
    ----------
    parents : tuple of int
        −1, 0, 1, ...; see :meth:`of_length`.
    """

    parents: tuple[int, ...] = (-1, 0)
    distinct: bool = False
    name: ClassVar[str] = "block"

    @classmethod
    def of_length(cls, length: int) -> Block:
        """Return the block of L drafts."""
        return cls(tuple(range(-1, length - 1)))

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return draft, shape (size, L, n), and target, shape (size, L + 1, n)."""
        rows = super().arrays(case, sample)
        return {"draft": rows["draft"][:, :-1], "target": rows["target"]}

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read the kept length and the token after it, or emitted tokens with −1 behind."""
        size, nodes = sample.drafts.shape
        if not isinstance(answer, tuple) and np.ndim(answer) == 2:
            answer = self._emitted(np.asarray(answer), case, sample)
        given = named(answer, ("length", "token"))
        kept = integers(given["length"], (size,), "length")
        if not ((kept >= 0) & (kept <= sample.lengths)).all():
            raise ImpossibleError(
                f"it keeps from {int(kept.min())} to {int(kept.max())} of {nodes} drafts or fewer"
            )
        return Answer(self._texts(kept - 1, given["token"], case, sample), kept)

    def _emitted(self, emitted: IntArray, case: Case, sample: Sample) -> tuple[IntArray, IntArray]:
        size, nodes = sample.drafts.shape
        emitted = integers(emitted, (size, nodes + 1), "emitted tokens")
        there = emitted >= 0
        count = there.sum(axis=1)
        if (count < 1).any() or (there[:, 1:] & ~there[:, :-1]).any():
            raise ImpossibleError("it emits no token in some row, or a gap between tokens")
        kept = count - 1
        drafted = case.places[sample.drafts]
        wrong = (emitted[:, :-1] != drafted) & (np.arange(nodes) < kept[:, None])
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            raise ImpossibleError(
                f"it emits {emitted[row].tolist()} for drafts {drafted[row].tolist()}: what comes "
                "before the last token has to be drafted"
            )
        return kept, np.take_along_axis(emitted, kept[:, None], axis=1)[:, 0]


def completed(
    texts: IntArray, case: Case, variants: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return complete texts, shape (size, T): what follows the known tokens is the target's."""
    texts = texts.copy()
    for place in range(1, texts.shape[1]):
        open_rows = np.flatnonzero(texts[:, place] == UNKNOWN)
        last = np.minimum(texts[open_rows, place - 1], case.n - 1)
        texts[open_rows, place] = drawn(case.target[variants[open_rows], last + 1], rng)
    return texts


def drawn(rows: Array, rng: np.random.Generator) -> IntArray:
    """Draw one symbol from each row of weights, shape (size, n)."""
    sums = np.cumsum(rows, axis=1)
    # Below the total, so that the symbol has a weight.
    wanted = rng.random(len(rows)) * sums[:, -1]
    symbols: IntArray = (sums <= wanted[:, None]).sum(axis=1)
    return symbols


def named(answer: Any, names: tuple[str, ...], least: int = 2) -> Mapping[str, Any]:
    """Return the parts of an answer by name: attributes, or a tuple in this order."""
    if all(hasattr(answer, name) for name in names):
        return {name: getattr(answer, name) for name in names}
    parts = answer if isinstance(answer, tuple) else (answer,)
    if not least <= len(parts) <= len(names):
        raise ValueError(f"the verifier returned {len(parts)} values: return {' and '.join(names)}")
    return dict(zip(names, parts, strict=False))


def integers(values: Any, shape: tuple[int, ...], name: str) -> IntArray:
    """Return an array of integers of a shape."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise ValueError(
            f"the verifier returned {name} of type {array.dtype} and shape {array.shape}: it must "
            f"be integers of shape {shape}"
        )
    return array.astype(np.intp)
