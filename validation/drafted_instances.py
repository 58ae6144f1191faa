"""Instances of drafted trees and of several paths, and checks over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

from otspec.arithmetic import Number
from validation.block.checks import over_tables
from validation.claim import Check
from validation.drafted import Shape, named, possible
from validation.models import LanguageModel, Rows, models, table

TREES = {
    (2, 1): ("1", "2", "3"),
    (2, 2): ("1x1", "1x2", "2x1", "[[][]][]", "[][[]]", "2x2", "3x1"),
    (2, 3): ("1x1x1", "1x1x2", "1x2x1", "2x1x1", "[[[]][]][]"),
    (3, 1): ("2", "1"),
    (3, 2): ("1x1", "1x2", "[[]][]"),
}
"""Trees of up to six nodes, by the number of tokens and the depth."""
SCOPE = "n = 2, trees of up to 6 nodes, L <= 3; n = 3, up to 3 nodes"
FEW = 200
"""Pairs of models from the enumeration, so that random ones are reached as well."""
OnTrees = Callable[[LanguageModel, LanguageModel, Shape, str], Number | None]
"""(target, draft, tree, how children are drafted) to the slack of a claim."""

PATHS = {(2, 1): (1, 2, 3), (2, 2): (1, 2, 3), (2, 3): (1, 2), (3, 1): (1, 2, 3), (3, 2): (1, 2)}
"""Numbers of paths, by the number of tokens and the depth."""
PATHS_SCOPE = "n^(K L) <= 81, K <= 3, L <= 3"
OnPaths = Callable[[LanguageModel, LanguageModel, int, int], Number | None]
"""(target, draft, L, K) to the slack of a claim."""


def over_trees(
    slack: OnTrees,
    children: Sequence[str] = ("iid", "distinct"),
    trees: dict[tuple[int, int], tuple[str, ...]] = TREES,
    scope: str = SCOPE,
    enumerated: int = FEW,
) -> Check:
    """Return the check of a claim about pairs of models, a tree and a way to draft children.

    Trees of distinct children for which there are not enough tokens say nothing.
    """

    def on_rows(draft: Rows, target: Rows, length: int, tree: str, children: str) -> Number | None:
        del length
        shape, small = named(tree), table(draft)
        if not possible(children, shape, small):
            return None
        return slack(table(target), small, shape, children)

    def instances(seed: int) -> Iterator[dict[str, Any]]:
        turns = {size: cycle(named_trees) for size, named_trees in trees.items()}
        for pair in models(seed, tuple(trees), enumerated):
            tree = next(turns[len(pair["draft"][0]), pair["length"]])
            for way in children:
                yield {**pair, "tree": tree, "children": way}

    return over_tables(instances, on_rows, f"{scope}; children {', '.join(children)}")


def over_paths(
    slack: OnPaths,
    numbers: dict[tuple[int, int], tuple[int, ...]] = PATHS,
    scope: str = PATHS_SCOPE,
) -> Check:
    """Return the check of a claim about pairs of models and K paths of L tokens."""

    def on_rows(draft: Rows, target: Rows, length: int, paths: int) -> Number | None:
        return slack(table(target), table(draft), length, paths)

    def instances(seed: int) -> Iterator[dict[str, Any]]:
        for pair in models(seed, tuple(numbers), FEW):
            for paths in numbers[len(pair["draft"][0]), pair["length"]]:
                yield {**pair, "paths": paths}

    return over_tables(instances, on_rows, scope)
