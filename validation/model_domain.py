"""Pairs of small language models: the smallest first, then random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count, product
from typing import Any

import numpy as np

from validation.domains import Domain, Instance, growing, sums
from validation.instances import Exact, distributions, random_distribution
from validation.models import Rows, Table
from validation.notation import ONE, ZERO

SHORT = ((2, 1), (2, 2), (3, 1))
"""Tokens and draft length of the cheapest instances."""
SIZES = (*SHORT, (2, 3), (3, 2))
"""Tokens and draft length of the instances of blocks."""
LARGER = ((2, 4), (3, 3))
"""Those of random instances of what is quickly checked, besides."""


def models(
    sizes: Sequence[tuple[int, int]] = SIZES,
    larger: Sequence[tuple[int, int]] = (),
    note: str = "",
) -> Domain:
    """Return the domain of ``draft`` and ``target``, tables, and ``length``, the draft length L.

    Parameters
    ----------
    sizes : sequence of pairs
        Numbers of tokens n and lengths L.
    larger : sequence of pairs
        More of them, for random models only.
    note : str
        What the evidence says besides.
    """
    some, more = tuple(sizes), (*sizes, *larger)
    return Domain(lambda: _smallest(some), lambda rng: _random(rng, more), note)


MODELS = models(larger=LARGER)
"""What claims about blocks are checked on."""


def _smallest(sizes: Sequence[tuple[int, int]]) -> Iterator[Instance]:
    """Yield pairs of models by n + L + all denominators.

    One pair for each relabelling of the tokens after each prefix. Rows after prefixes that have
    no probability say nothing; they put all mass on token 0 and count for no denominator.
    """
    for size in count(1):
        for n, length in sizes:
            for draft, target in _trees(n, length, size - n - length, True, True):
                yield {
                    "draft": Table(_rows(draft, n, length)),
                    "target": Table(_rows(target, n, length)),
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
                for shares in sums(left + n, n):
                    options = [
                        _trees(n, depth - 1, share - 1, *alive)
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


def _rows(tree: _Tree, n: int, depth: int) -> Rows:
    """Return the rows of a tree in the order of :data:`Rows`."""
    anything = (ONE, *(ZERO,) * (n - 1))
    level, rows = [tree], []
    for _ in range(depth):
        rows += [node[0] if node else anything for node in level]
        level = [child for node in level for child in (node[1] if node else (None,) * n)]
    return tuple(rows)


def _random(rng: np.random.Generator, sizes: Sequence[tuple[int, int]]) -> Iterator[Instance]:
    """Yield random pairs without end: dense, sparse, memoryless, partly equal."""
    for largest in growing(most=30):
        n, length = sizes[int(rng.integers(len(sizes)))]
        number = sum(n**depth for depth in range(length))
        draft, target = (
            tuple(random_distribution(rng, n, largest) for _ in range(number)) for _ in range(2)
        )
        kind = int(rng.integers(6))
        if kind == 0:
            target = draft
        elif kind == 1:
            draft, target = draft[:1] * number, target[:1] * number
        elif kind == 2:
            target = tuple(
                one if rng.integers(2) else other for one, other in zip(draft, target, strict=True)
            )
        yield {"draft": Table(draft), "target": Table(target), "length": length}
