"""Language models M_s and M_b, exactly, on small alphabets: rows after prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, product
from typing import Any

from validation.instances import Exact
from validation.notation import ONE

Prefix = tuple[int, ...]
Rows = tuple[Exact, ...]
"""M(. | x) for all prefixes x shorter than some depth: (), 0, 1, .., 00, 01, .. in this order."""


class LanguageModel:
    """A map from prefixes to distributions of the next token, and the laws that follow from it.

    Parameters
    ----------
    rule : callable
        Prefix to distribution; a row of zeros where it is not defined.
    n : int
        The size of the alphabet.
    """

    def __init__(self, rule: Callable[[Prefix], Exact], n: int) -> None:
        self._rule, self.n = rule, n
        self._rows: dict[Prefix, Exact] = {}
        self._masses: dict[Prefix, Fraction] = {(): ONE}

    def __call__(self, prefix: Prefix) -> Exact:
        """Return M(. | x)."""
        if prefix not in self._rows:
            self._rows[prefix] = self._rule(prefix)
        return self._rows[prefix]

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
            law = {
                (*block, token): mass * chance
                for block, mass in law.items()
                for token, chance in enumerate(self(block))
                if chance
            }
        return law


class Table(LanguageModel):
    """The model with given rows; beyond their depth only the last tokens count.

    Parameters
    ----------
    rows : tuple
        As :data:`Rows` has them, for all prefixes shorter than the depth.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(self._row, len(rows[0]))
        self.rows, self.depth, stored = rows, 0, 0
        while stored < len(rows):
            stored += self.n**self.depth
            self.depth += 1

    def _row(self, prefix: Prefix) -> Exact:
        last = prefix[max(len(prefix) - self.depth + 1, 0) :]
        number = 0
        for token in last:
            number = number * self.n + token
        return self.rows[sum(self.n**shorter for shorter in range(len(last))) + number]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.rows,)

    def __str__(self) -> str:
        named = (
            f"({', '.join(map(str, row))}) after {''.join(map(str, prefix)) or '()'}"
            for prefix, row in zip(prefixes_up_to(self.n, self.depth, 0), self.rows, strict=False)
        )
        return "; ".join(named) if self.depth > 1 else next(named).replace("()", "every prefix")


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
    """A model that remembers after which prefixes it was asked, also when it knows the answer.

    Parameters
    ----------
    model : LanguageModel
    asked : set
        Where they are added.
    """

    def __init__(self, model: LanguageModel, asked: set[Prefix]) -> None:
        super().__init__(model, model.n)
        self._asked = asked

    def __call__(self, prefix: Prefix) -> Exact:
        """Return M(. | x), and remember x."""
        self._asked.add(prefix)
        return super().__call__(prefix)
