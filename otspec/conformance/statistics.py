"""What is compared with the law of a right verifier, coarse before fine, so that a fault shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.conformance.cases import Case
from otspec.frozen import Frozen


class Looked(Protocol):
    """What of a verifier's answers is looked at."""

    @property
    def length(self) -> int:
        """T, the symbols of a text."""

    @property
    def marks(self) -> int:
        """How many values marks have."""


@dataclass(frozen=True)
class TextsOnly:
    """Texts of T symbols, without marks.

    Parameters
    ----------
    length : int
    marks : int
    """

    length: int
    marks: int = 1


@dataclass(frozen=True, eq=False)
class Statistic(Frozen):
    """A law that the counts of a case are compared with.

    Parameters
    ----------
    name : str
    cells : ndarray of int, shape (marks, fine cells)
        To which cell each fine cell belongs.
    expected : ndarray, shape (cells,)
    labels : tuple of str
        What each cell is, such as ``text (0, 2)``.
    """

    name: str
    cells: IntArray
    expected: Array
    labels: tuple[str, ...]

    def counts(self, fine: IntArray) -> IntArray:
        """Return the counts of cells, from those of fine cells."""
        total = np.zeros(len(self.expected), dtype=np.int64)
        np.add.at(total, self.cells, fine)
        return total

    def label(self, cell: int) -> str:
        """Return what a cell is."""
        return self.labels[cell]


def fine_counts(
    kind: Looked, case: Case, texts: IntArray, marks: IntArray | None, variants: IntArray
) -> IntArray:
    """Return how often each mark came with each text, shape (marks, fine cells).

    Fine cells are the texts of all variants in the order of their symbols, and one more for all
    that have a token of probability 0; without marks all have the first one.
    """
    width = case.variants * case.n**kind.length + 1
    cells = variants.astype(np.intp)
    for place in range(kind.length):
        cells = cells * case.n + texts[:, place]
    cells = np.where((texts == case.n).any(axis=1), width - 1, cells)
    rows = np.zeros(len(texts), dtype=np.intp) if marks is None else marks
    return np.bincount(rows * width + cells, minlength=kind.marks * width).reshape(
        kind.marks, width
    )


def text_statistics(kind: Looked, case: Case) -> list[Statistic]:
    """Return the laws of the first token, the first two, and so on to the whole text."""
    return [_of_beginnings(kind, case, length) for length in range(1, kind.length + 1)]


def dependence(between: str) -> Statistic:
    """Return the law of whether two of a kind agree more or less than others do."""
    return Statistic(
        f"dependence between {between}",
        np.array([[0, 1]]),
        np.array([0.5, 0.5]),
        (f"that {between} agree more than others", f"that {between} agree less than others"),
    )


def _of_beginnings(kind: Looked, case: Case, length: int) -> Statistic:
    law = case.texts(length).ravel() / case.variants
    part = np.arange(case.variants * case.n**kind.length) // case.n ** (kind.length - length)
    cells = np.append(part, len(law))
    shape = (case.variants, *(case.n,) * length)
    labels = []
    for variant, *symbols in np.ndindex(*shape):
        tokens = ", ".join(str(int(case.places[symbol])) for symbol in symbols)
        pair = f" of pair {variant}" if case.variants > 1 else ""
        labels.append(f"token {tokens}{pair}" if length == 1 else f"text ({tokens}){pair}")
    return Statistic(
        _name(length, kind.length),
        np.broadcast_to(cells, (kind.marks, len(cells))),
        np.append(law, 0.0),
        (*labels, "a token of probability 0"),
    )


def _name(length: int, whole: int) -> str:
    if whole == 1:
        return "law of the output"
    if length == whole:
        return "law of the text"
    return "law of the first token" if length == 1 else f"law of the first {length} tokens"
