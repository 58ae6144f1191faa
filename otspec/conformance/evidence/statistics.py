"""Statistics that are compared with those of a correct verifier, coarse before fine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from otspec._base import Array, Frozen, IntArray
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.kinds import Kind


@dataclass(frozen=True)
class TextsOnly:
    """Texts of T symbols, without marks."""

    length: int
    marks: int = 1


Looked: TypeAlias = Kind | TextsOnly  # what of a verifier's answers is looked at


@dataclass(frozen=True, eq=False)
class Statistic(Frozen):
    """A law that the counts of a case are compared with."""

    name: str
    cells: IntArray  # (marks, fine cells): to which cell each fine cell belongs
    expected: Array  # (cells,)
    labels: tuple[str, ...]  # what each cell is, such as ``text (0, 2)``
    meaning: str = ""  # what it means if this law is another, where its name does not say so
    # Of several samples with this law each: what is compared there, and the fault that explains it
    ways: tuple[tuple[str, str], ...] = ()
    fault: str = ""  # that of one way

    @property
    def samples(self) -> int:
        """How many samples have this law."""
        return max(1, len(self.ways))

    def counts(self, fine: IntArray) -> IntArray:
        """Return the counts of cells, from those of fine cells; (ways, cells) if there are ways."""
        total = np.zeros(self.samples * len(self.expected), dtype=fine.dtype)
        np.add.at(total, self.cells, fine)
        return total.reshape(len(self.ways), -1) if self.ways else total

    def of_way(self, place: int) -> "Statistic":
        """Return the law of one of the ways."""
        between, fault = self.ways[place]
        meaning = f"{between} {self.meaning}" if self.meaning else ""
        return replace(self, name=f"{self.name} {between}", meaning=meaning, ways=(), fault=fault)


def fine_counts(
    kind: Looked, case: Case, texts: IntArray, marks: IntArray | None, variants: IntArray
) -> IntArray:
    """Return how often each mark came with each text, shape (marks, fine cells)."""
    # Fine cells are the texts of all variants in the order of their symbols, and one more for all
    # that have a token of probability 0; without marks all have the first one.
    width = case.variants * case.n**kind.length + 1
    cells = variants.astype(np.intp)
    for place in range(kind.length):
        cells = cells * case.n + texts[:, place]
    cells = np.where((texts == case.n).any(axis=1), width - 1, cells)
    rows = np.zeros(len(texts), dtype=np.intp) if marks is None else marks
    return np.bincount(rows * width + cells, minlength=kind.marks * width).reshape(-1, width)


def text_statistics(kind: Looked, case: Case) -> list[Statistic]:
    """Return the laws of the first token, the first two, and so on to the whole text."""
    return [_of_beginnings(kind, case, length) for length in range(1, kind.length + 1)]


def among_tokens(case: Case, chosen: IntArray) -> Statistic:
    """Return the law of the first token: its symbol, and whether it is one of those chosen."""
    # case: of one pair of models. chosen: (n,), how many of each symbol's tokens, all equally
    # likely, are chosen.
    share, last = chosen / case.sizes, np.cumsum(case.sizes) - 1
    first = case.target[0, 0]
    law = np.concatenate([first * share, first * (1 - share)])
    kinds = ("a token said often in earlier calls", "another token")
    return _statistic(
        "law of the first token, by tokens",
        np.arange(2 * case.n)[None],
        law,
        tuple(f"{kind} of {end + 1 - size} to {end}" for kind in kinds
              for end, size in zip(last.tolist(), case.sizes.tolist(), strict=True)),
    )  # fmt: skip


def dependence(ways: tuple[tuple[str, str], ...]) -> Statistic:
    """Return the law of whether two of a kind agree more or less than others do, in each way."""
    return Statistic(
        "dependence between",
        np.arange(2 * len(ways))[None],
        np.array([0.5, 0.5]),
        ("their answers agree more than others", "their answers agree less than others"),
        "depend on each other",
        ways=ways,
    )


def of_two_rows(case: Case, ways: Sequence[str]) -> Statistic:
    """Return the joint law of the pairs and first tokens of two rows, the same in each way."""
    first = _of_beginnings(TextsOnly(1), case, 1)
    count = len(first.expected)  # of which the last is impossible
    cells = np.full((len(ways), count, count), (count - 1) ** 2)
    cells[:, :-1, :-1] = np.arange((count - 1) ** 2).reshape(count - 1, count - 1)
    cells += np.arange(len(ways))[:, None, None] * ((count - 1) ** 2 + 1)
    law = np.append(np.outer(first.expected[:-1], first.expected[:-1]), 0.0)
    labels = [f"{one}, then {two}" for one, two in product(first.labels[:-1], repeat=2)]
    return Statistic(
        "joint law of",
        cells.reshape(1, -1),
        law,
        (*labels, first.labels[-1]),
        ways=tuple((way, "") for way in ways),
    )


def joint_statistics(kind: Kind, case: Case, law: Array) -> list[Statistic]:
    """Return the laws of whether a draft is accepted, of which or how many, and of the token."""
    variants, count, n = law.shape
    accepted = np.arange(kind.marks) if kind.name == "tokens" else np.array(kind.kept)
    texts = np.indices((variants, *(n,) * kind.length)).reshape(kind.length + 1, -1)
    # The token after what is kept, for each mark and each text.
    after = np.stack([texts[1 + kept] for kept in kind.kept])
    joint = (texts[0] * count + accepted[:, None]) * n + after
    what, marked = "{} tokens kept", "kept length"
    if kind.name == "tokens":
        what, marked = "draft {} accepted", "accepted draft"
    position = [what.format(i) if i else "nothing accepted" for i in range(count)]
    labels = tuple(
        f"{position[mark]}, then token {case.places[symbol]}{_of_pair(variant, case)}"
        for variant, mark, symbol in np.ndindex(*law.shape)
    )
    coarse = np.broadcast_to(accepted[:, None], joint.shape)
    marginal = law.sum(axis=(0, 2))
    return [
        _statistic(
            "acceptance",
            np.minimum(coarse, 1),
            np.array([marginal[0], marginal[1:].sum()]),
            ("nothing accepted", "something accepted"),
        ),
        _statistic("position", coarse, marginal, tuple(position)),
        _statistic(f"joint law of {marked} and token", joint, law.ravel(), labels),
    ]


def _statistic(name: str, cells: IntArray, law: Array, labels: tuple[str, ...]) -> Statistic:
    """Return a statistic with one more cell, for texts that have a token of probability 0."""
    last = np.full((len(cells), 1), len(law))
    return Statistic(
        name,
        np.concatenate([cells, last], axis=1),
        np.append(law, 0.0),
        (*labels, "a token of probability 0"),
    )


def _of_pair(variant: int, case: Case) -> str:
    return f" of pair {variant}" if case.variants > 1 else ""


def _of_beginnings(kind: Looked, case: Case, length: int) -> Statistic:
    law = case.texts(length).ravel() / case.variants
    part = np.arange(case.variants * case.n**kind.length) // case.n ** (kind.length - length)
    texts = [", ".join(text) for text in product(map(str, case.places.tolist()), repeat=length)]
    words = [f"token {text}" if length == 1 else f"text ({text})" for text in texts]
    pairs = [_of_pair(variant, case) for variant in range(case.variants)]
    labels = [word + pair for pair in pairs for word in words]
    cells = np.broadcast_to(part, (kind.marks, len(part)))
    return _statistic(_name(length, kind.length), cells, law, tuple(labels))


def _name(length: int, whole: int) -> str:
    if whole == 1:
        return "law of the output"
    if length == whole:
        return "law of the text"
    return "law of the first token" if length == 1 else f"law of the first {length} tokens"


def no_answers(kind: Kind, case: Case) -> Array:
    """Return chances of 0 of the cells of :func:`.statistics.fine_counts`."""
    return np.zeros((kind.marks, case.variants * case.n**kind.length + 1))


def add_answer(
    law: Array, case: Case, variant: int, mark: int, symbols: Sequence[int], mass: float
) -> None:
    """Add the chance of an answer to those of the texts that begin with it."""
    # The target says what follows the verifier's token.
    if case.n in symbols:
        law[mark, -1] += mass
        return
    texts = (law.shape[1] - 1) // case.variants
    first, width = variant * texts, texts
    for symbol in symbols:
        width //= case.n
        first += symbol * width
    law[mark, first : first + width] += mass * _continued(case, variant, symbols[-1], width)


@lru_cache(maxsize=4096)
def _continued(case: Case, variant: int, symbol: int, texts: int) -> Array:
    """Return the target's law of the texts after a symbol, of which there are so many."""
    law, rows = np.ones((case.n, 1)), case.target[variant, 1:]
    while law.shape[1] < texts:
        law = (rows[..., None] * law).reshape(case.n, -1)
    return law[symbol]
