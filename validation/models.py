"""Language models M_s and M_b, exactly, on small alphabets: rows after prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, product
from typing import Any

from validation.instances import Exact
from validation.notation import ONE

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
        named = [
            f"({', '.join(map(str, row))}) after {''.join(map(str, prefix)) or '()'}"
            for prefix, row in self._stored.items()
        ]
        return "; ".join(named) if self._longest else named[0].replace("()", "every prefix")


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
