"""Pairs of small language models: the smallest first, then random ones."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count, product
from typing import Any

import numpy as np

from validation.domains import Domain, Instance, growing, sums
from validation.instances import Exact, distributions, random_distribution
from validation.models import Rows, Table
from validation.notation import ONE, ZERO

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

    One pair for each relabelling of the tokens after each prefix. Rows after prefixes that have
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
        for shares in sums(size - first - second + n, n)
        for children in product(*(
            _trees(n, depth - 1, share - 1, any(draft[x : x + 1]), any(target[x : x + 1]))
            for x, share in enumerate(shares)
        ))
        for drafts, targets in [zip(*children, strict=True)])  # fmt: skip


@cache
def _ordered(n: int, first: int, second: int) -> tuple[tuple[Exact, Exact], ...]:
    """Return pairs of rows with these denominators, 0 for no row: one for each relabelling."""
    rows = (tuple(distributions(n, each)) if each else ((),) for each in (first, second))
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
    for largest in growing(most=30):
        n, length = sizes[int(rng.integers(len(sizes)))]
        number = sum(n**depth for depth in range(length))
        draft, target = (tuple(random_distribution(rng, n, largest) for _ in range(number))
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
