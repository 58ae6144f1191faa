"""Section 3.3: candidates squeezed into one sequence, and a toy attention over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from validation.domains import Domain, Instance

PRIME = 2_147_483_647
"""The toy attention counts modulo this."""


class Node(NamedTuple):
    """A token of the squeezed sequence: its path of branches, its parent, its token."""

    branches: tuple[int, ...]
    parent: int
    token: int


def squeezed(config: tuple[int, ...], tokens: tuple[int, ...]) -> list[Node]:
    """Return the tree in the order of generation: level by level."""
    nodes: list[Node] = []
    level: list[tuple[int, tuple[int, ...]]] = [(-1, ())]
    for width in config:
        longer = []
        for parent, branches in level:
            for branch in range(width):
                nodes.append(Node((*branches, branch), parent, tokens[len(nodes)]))
                longer.append((len(nodes) - 1, (*branches, branch)))
        level = longer
    return nodes


def ancestors(nodes: list[Node], i: int) -> list[int]:
    """Return a node and its ancestors, by following the parents."""
    found = [i]
    while nodes[found[-1]].parent >= 0:
        found.append(nodes[found[-1]].parent)
    return found[::-1]


def rows(config: tuple[int, ...], nodes: list[Node]) -> list[list[int]]:
    """Return the candidates of the batch, each as the nodes of its tokens."""
    number = {node.branches: i for i, node in enumerate(nodes)}
    return [
        [number[branches[: depth + 1]] for depth in range(len(config))]
        for branches in product(*map(range, config))
    ]


def attention(
    tokens: Sequence[int], positions: Sequence[int], mask: Sequence[Sequence[int]]
) -> list[int]:
    """Two layers of a toy attention: each state becomes a function of the states it may see."""
    states = [token + 1 for token in tokens]
    for layer in (1, 2):
        states = [
            sum(
                pow(31 * states[i] + 17 * states[j] + 7 * (positions[i] - positions[j]) + layer, 5)
                for j in seen
            )
            % PRIME
            for i, seen in enumerate(mask)
        ]
    return states


def configurations(most: int = 8, longest: int = 3) -> Iterator[tuple[int, ...]]:
    """Yield (k_1, ..., k_gamma) by budget, then by length."""
    for budget in range(1, most + 1):
        for gamma in range(1, longest + 1):
            for config in product(range(1, budget + 1), repeat=gamma):
                if prod(config) == budget:
                    yield config


def size(config: tuple[int, ...]) -> int:
    """Return the number of tokens of the tree, the sum of the sizes of its levels."""
    return sum(prod(config[: i + 1]) for i in range(len(config)))


def trees(alphabet: int = 3) -> Domain:
    """Return the domain of configurations with tokens: all equal ones, then random ones."""
    shapes = list(configurations())

    def random(rng: np.random.Generator) -> Iterator[Instance]:
        while True:
            for config in shapes:
                tokens = rng.integers(0, alphabet, size(config)).tolist()
                prompt = rng.integers(0, 3, int(rng.integers(1, 5))).tolist()
                yield {"config": config, "tokens": tuple(tokens), "prompt": tuple(prompt)}

    return Domain(
        lambda: ({"config": c, "tokens": (0,) * size(c), "prompt": (0,)} for c in shapes),
        random,
        "budgets up to 8 of up to 3 steps",
    )
