"""The models M_s and M_b of section 2, exactly, on small alphabets, smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, count, islice, product
from typing import Any

import numpy as np

from validation.instances import ENUMERATED, Exact, distributions, random_distribution
from validation.notation import ONE, ZERO

Prefix = tuple[int, ...]
Rows = tuple[Exact, ...]
"""M(. | x) for all prefixes x shorter than some depth: (), 0, 1, .., 00, 01, .. in this order."""

SHORT = ((2, 1), (2, 2), (3, 1))
"""Tokens and draft length of the cheapest instances."""
SIZES = (*SHORT, (2, 3), (3, 2))
"""Tokens and draft length of all instances of blocks."""


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


def table(rows: Rows) -> LanguageModel:
    """Return the model with these rows; beyond their depth only the last tokens count."""
    n = len(rows[0])
    depth, stored = 0, 0
    while stored < len(rows):
        stored += n**depth
        depth += 1

    def rule(prefix: Prefix) -> Exact:
        last = prefix[len(prefix) - (depth - 1) :] if len(prefix) >= depth else prefix
        number = 0
        for token in last:
            number = number * n + token
        return rows[sum(n**shorter for shorter in range(len(last))) + number]

    return LanguageModel(rule, n)


def memoryless(row: Exact) -> LanguageModel:
    """Return the model that draws every token from one distribution."""
    return table((row,))


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


def smallest_models(sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[dict[str, Any]]:
    """Yield pairs of models by n + L + all denominators.

    One pair for each relabelling of the tokens after each prefix. Rows after prefixes that have
    no probability say nothing; they put all mass on token 0 and count for no denominator.
    """
    for size in count(1):
        for n, length in sizes:
            for draft, target in _trees(n, length, size - n - length, True, True):
                yield {
                    "draft": _rows(draft, n, length),
                    "target": _rows(target, n, length),
                    "length": length,
                }


_Tree = tuple[Exact, tuple[Any, ...]] | None
"""A row and the trees after each token; None after a prefix of no probability."""


@cache
def _trees(
    n: int, depth: int, size: int, drafted: bool, wanted: bool
) -> tuple[tuple[_Tree, _Tree], ...]:
    """Return the pairs of models of some depth whose denominators sum to a size."""
    if depth == 0 or not (drafted or wanted):
        return ((None, None),) if size == 0 else ()
    found: list[tuple[_Tree, _Tree]] = []
    for first in range(1, size + 1) if drafted else (0,):
        for second in range(1, size - first + 1) if wanted else (0,):
            for draft, target in _ordered(n, first, second):
                left = size - first - second
                after = [(bool(draft and draft[x]), bool(target and target[x])) for x in range(n)]
                for shares in _shares(left, n):
                    options = [
                        _trees(n, depth - 1, share, *alive)
                        for share, alive in zip(shares, after, strict=True)
                    ]
                    for children in product(*options):
                        drafts, targets = zip(*children, strict=True)
                        found.append(
                            (
                                (draft, drafts) if draft else None,
                                (target, targets) if target else None,
                            )
                        )
    return tuple(found)


@cache
def _ordered(n: int, first: int, second: int) -> tuple[tuple[Exact, Exact], ...]:
    """Return pairs of rows with these denominators, 0 for no row: one for each relabelling."""
    drafts = tuple(distributions(n, first)) if first else ((),)
    targets = tuple(distributions(n, second)) if second else ((),)
    return tuple(
        (draft, target)
        for draft in drafts
        for target in targets
        if all(
            (draft[i : i + 1], target[i : i + 1]) >= (draft[i + 1 : i + 2], target[i + 1 : i + 2])
            for i in range(n - 1)
        )
    )


def _shares(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a total as a sum of so many terms, in order."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _shares(total - first, parts - 1))


def _rows(tree: _Tree, n: int, depth: int) -> Rows:
    """Return the rows of a tree in the order of :data:`Rows`."""
    anything = (ONE, *(ZERO,) * (n - 1))
    level, rows = [tree], []
    for _ in range(depth):
        rows += [node[0] if node else anything for node in level]
        level = [child for node in level for child in (node[1] if node else (None,) * n)]
    return tuple(rows)


def random_models(seed: int, sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[dict[str, Any]]:
    """Yield random pairs of models without end: dense, sparse, memoryless, partly equal."""
    rng = np.random.default_rng(seed)
    largest = 4.0
    while True:
        n, length = sizes[int(rng.integers(len(sizes)))]
        largest = min(largest * 1.01, 30)
        number = sum(n**depth for depth in range(length))
        kind = int(rng.integers(6))
        draft, target = (
            tuple(random_distribution(rng, n, int(largest)) for _ in range(number))
            for _ in range(2)
        )
        if kind == 0:
            target = draft
        elif kind == 1:
            draft, target = draft[:1] * number, target[:1] * number
        elif kind == 2:
            pairs = zip(draft, target, strict=True)
            target = tuple(one if rng.integers(2) else other for one, other in pairs)
        yield {"draft": draft, "target": target, "length": length}


def models(
    seed: int, sizes: Sequence[tuple[int, int]] = SIZES, enumerated: int = ENUMERATED
) -> Iterator[dict[str, Any]]:
    """Yield the smallest pairs of models, then random ones without end.

    Yields
    ------
    dict
        ``draft`` and ``target``, the :data:`Rows` of both, and ``length``, the draft length L.
    """
    return chain(islice(smallest_models(sizes), enumerated), random_models(seed, sizes))
