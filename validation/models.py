"""Language models M_s and M_b, exactly, on small alphabets, and the domain of pairs of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, count, product
from typing import Any

import numpy as np

from validation import domains
from validation.domains import Domain, Exact, Instance
from validation.notation import ONE, ZERO

Prefix = tuple[int, ...]
Rows = tuple[Exact, ...]
"""M(. | x) for all prefixes x shorter than some depth: (), 0, 1, .., 00, 01, .. in this order."""


class LanguageModel:
    """A rule from prefixes to distributions of the next of n tokens, and what follows from it.

    Where it is not defined, the rule returns a row of zeros."""

    def __init__(self, rule: Callable[[Prefix], Exact], n: int) -> None:
        self._rule, self.n = cache(rule), n
        self._masses: dict[Prefix, Fraction] = {(): ONE}

    def __call__(self, prefix: Prefix) -> Exact:
        """Return M(. | x)."""
        return self._rule(prefix)

    def mass(self, prefix: Prefix) -> Fraction:
        """Return M(x^l) = prod_i M(x_i | x^{i-1})."""
        if prefix not in self._masses:
            before = self.mass(prefix[:-1])
            self._masses[prefix] = before * self(prefix[:-1])[prefix[-1]] if before else before
        return self._masses[prefix]

    def after(self, prefix: Prefix) -> LanguageModel:
        """Return M(. | x, .), the model of what follows a prefix."""
        return LanguageModel(lambda more: self(prefix + more), self.n)

    def blocks(self, length: int) -> dict[Prefix, Fraction]:
        """Return M^L: the blocks of positive probability with their probabilities."""
        law: dict[Prefix, Fraction] = {(): ONE}
        for _ in range(length):
            law = {(*block, token): mass * chance for block, mass in law.items()
                   for token, chance in enumerate(self(block)) if chance}  # fmt: skip
        return law


class Table(LanguageModel):
    """The model with given rows, for all prefixes shorter than a depth, in the order of
    :data:`Rows`; beyond it only the last tokens count."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(self._row, len(rows[0]))
        self.rows = rows
        self._stored = dict(zip(prefixes_up_to(self.n, len(rows), 0), rows, strict=False))
        self._longest = max(map(len, self._stored))

    def _row(self, prefix: Prefix) -> Exact:
        return self._stored[prefix[max(len(prefix) - self._longest, 0) :]]

    def shorter(self) -> Table:
        """Return the model without the rows after the longest prefixes."""
        kept = [row for x, row in self._stored.items() if len(x) < max(self._longest, 1)]
        return Table(tuple(kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.rows,)

    def __str__(self) -> str:
        shown = {row: f"({', '.join(map(str, row))})" for row in self.rows}
        row, times = Counter(self._stored.values()).most_common(1)[0]
        if len(shown) == 1:
            return f"{shown[row]} after every prefix"
        named = [
            f"{shown[other]} after {''.join(map(str, prefix)) or '()'}"
            for prefix, other in self._stored.items()
            if times == 1 or other != row
        ]
        return "; ".join(named) + (f", else {shown[row]}" if times > 1 else "")


def memoryless(row: Exact) -> Table:
    """Return the model that draws every token from one distribution."""
    return Table((row,))


def prefixes(n: int, length: int) -> Iterator[Prefix]:
    """Yield all prefixes of one length, in lexicographic order."""
    return product(range(n), repeat=length)


def prefixes_up_to(n: int, length: int, shortest: int = 1) -> Iterator[Prefix]:
    """Yield all prefixes of some lengths, the shortest first."""
    return chain.from_iterable(prefixes(n, depth) for depth in range(shortest, length + 1))


def with_row(model: LanguageModel, prefix: Prefix, row: Exact) -> LanguageModel:
    """Return a model that differs after one prefix."""
    return LanguageModel(lambda x: row if x == prefix else model(x), model.n)


class Recording(LanguageModel):
    """A model that notes after which prefixes it was asked, also when it knows the answer."""

    def __init__(self, model: LanguageModel, asked: set[Prefix]) -> None:
        super().__init__(model, model.n)
        self._asked = asked

    def __call__(self, prefix: Prefix) -> Exact:
        """Return M(. | x), and remember x."""
        self._asked.add(prefix)
        return super().__call__(prefix)


Sizes = Sequence[tuple[int, int]]
SHORT = ((2, 1), (2, 2), (3, 1))
"""Tokens and draft length of the cheapest instances."""
SIZES = (*SHORT, (2, 3), (3, 2))
"""Tokens and draft length of the instances of blocks."""
LARGER = ((2, 4), (3, 3))
"""Those of random instances of what is quickly checked, besides."""


def models(sizes: Sizes = SIZES, larger: Sizes = (), note: str = "") -> Domain:
    """Return the domain of ``draft`` and ``target``, tables, and ``length``, the draft length L.

    Both ``sizes`` and ``larger``, for random models only, are numbers of tokens n with an L."""
    return Domain(lambda: _smallest(sizes), lambda rng: _random(rng, (*sizes, *larger)), note)


MODELS = models(larger=LARGER)
"""What claims about blocks are checked on."""


def _smallest(sizes: Sizes) -> Iterator[Instance]:
    """Yield pairs of models by n + L + all denominators.

    One pair for each relabeling of the tokens after each prefix. Rows after prefixes that have
    no probability say nothing; they put all mass on token 0 and count for no denominator."""
    for size in count(1):
        for n, length in sizes:
            for pair in _trees(n, length, size - n - length, True, True):
                draft, target = (Table(_rows(tree, n, length)) for tree in pair)
                yield {"draft": draft, "target": target, "length": length}


@cache
def _trees(n: int, depth: int, size: int, drafted: bool, wanted: bool) -> tuple[Any, ...]:
    """Return the pairs of models of some depth whose denominators sum to a size: as trees, a row
    and the trees after each token, which are empty after a prefix of no probability."""
    if depth == 0 or not (drafted or wanted):
        return (((), ()),) if size == 0 else ()
    return tuple(
        (draft and (draft, drafts), target and (target, targets))
        for first in (range(1, size + 1) if drafted else (0,))
        for second in (range(1, size - first + 1) if wanted else (0,))
        for draft, target in _ordered(n, first, second)
        for shares in domains.sums(size - first - second + n, n)
        for children in product(*(
            _trees(n, depth - 1, share - 1, any(draft[x : x + 1]), any(target[x : x + 1]))
            for x, share in enumerate(shares)
        ))
        for drafts, targets in [zip(*children, strict=True)])  # fmt: skip


@cache
def _ordered(n: int, first: int, second: int) -> tuple[tuple[Exact, Exact], ...]:
    """Return pairs of rows with these denominators, 0 for no row: one for each relabeling."""
    rows = (tuple(domains.distributions(n, each)) if each else ((),) for each in (first, second))
    pairs = (
        (pair, [[row[i : i + 1] for row in pair] for i in range(n)]) for pair in product(*rows)
    )
    return tuple(pair for pair, at in pairs if at == sorted(at, reverse=True))


def _rows(tree: tuple[Any, ...], n: int, depth: int) -> Rows:
    """Return the rows of a tree in the order of :data:`Rows`."""
    anything = (ONE, *(ZERO,) * (n - 1))
    level, rows = [tree], []
    for _ in range(depth):
        rows += [node[0] if node else anything for node in level]
        level = [child for node in level for child in (node[1] if node else ((),) * n)]
    return tuple(rows)


def _random(rng: np.random.Generator, sizes: Sizes) -> Iterator[Instance]:
    """Yield random pairs without end: dense, sparse, memoryless, partly equal."""
    for largest in domains.growing(most=30):
        n, length = sizes[int(rng.integers(len(sizes)))]
        number = sum(n**depth for depth in range(length))
        draft, target = (tuple(domains.random_distribution(rng, n, largest) for _ in range(number))
                         for _ in range(2))  # fmt: skip
        kind = int(rng.integers(6))
        if kind == 0:
            target = draft
        elif kind == 1:
            draft, target = draft[:1] * number, target[:1] * number
        elif kind == 2:
            pairs = zip(draft, target, strict=True)
            target = tuple(one if rng.integers(2) else other for one, other in pairs)
        yield {"draft": Table(draft), "target": Table(target), "length": length}
