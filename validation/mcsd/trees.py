"""Section 3.3: candidates squeezed into one sequence, and what each token sees."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from validation.checks import Slack, over
from validation.claim import Check, Claim, Corrected, at_least, equal

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


def attention(tokens: list[int], positions: list[int], mask: list[list[int]]) -> list[int]:
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


def in_batch(prompt: tuple[int, ...], row: list[int]) -> list[int]:
    """Return the states of one candidate alone, by causal attention."""
    sequence = [*prompt, *row]
    every = list(range(len(sequence)))
    return attention(sequence, every, [every[: i + 1] for i in every])[len(prompt) :]


def in_tree(prompt: tuple[int, ...], nodes: list[Node], itself: bool = True) -> list[int]:
    """Return the states of all nodes in one sequence with the tree mask."""
    c = len(prompt)
    sequence = [*prompt, *(node.token for node in nodes)]
    positions = [*range(c), *(c + len(node.branches) - 1 for node in nodes)]
    mask = [list(range(i + 1 if itself else i)) for i in range(c)]
    for i in range(len(nodes)):
        lineage = ancestors(nodes, i) if itself else ancestors(nodes, i)[:-1]
        mask.append([*range(c), *(c + j for j in lineage)])
    return attention(sequence, positions, mask)[c:]


def sees_its_candidate(
    config: tuple[int, ...], tokens: tuple[int, ...], prompt: tuple[int, ...], itself: bool = True
) -> Fraction:
    """Every token of the tree has the state that it has in its candidates alone."""
    nodes = squeezed(config, tokens)
    states = in_tree(prompt, nodes, itself)
    for row in rows(config, nodes):
        alone = in_batch(prompt, [nodes[i].token for i in row])
        equal([states[i] for i in row], alone, f"candidate {row}")
    return Fraction(0)


def exclusively(
    config: tuple[int, ...], tokens: tuple[int, ...], prompt: tuple[int, ...]
) -> Fraction:
    """The same if a token sees its proper ancestors only."""
    return sees_its_candidate(config, tokens, prompt, itself=False)


def counts(config: tuple[int, ...], tokens: tuple[int, ...], prompt: tuple[int, ...]) -> Fraction:
    """There are prod k_i candidates, and no more tokens than in a batch with copied prompts."""
    nodes = squeezed(config, tokens)
    leaves = set(range(len(nodes))) - {node.parent for node in nodes}
    equal(len(leaves), prod(config), "candidates")
    equal(len(nodes), sum(prod(config[: i + 1]) for i in range(len(config))), "tokens")
    batch = sum(len(prompt) + len(row) for row in rows(config, nodes))
    return at_least(Fraction(batch), Fraction(len(prompt) + len(nodes)), "tokens in the batch")


def no_shorter(
    config: tuple[int, ...], tokens: tuple[int, ...], prompt: tuple[int, ...]
) -> Fraction:
    """No tree with the same candidates has fewer tokens."""
    del prompt
    nodes = squeezed(config, tokens)
    prefixes = {
        tuple(nodes[j].token for j in row[: depth + 1])
        for row in rows(config, nodes)
        for depth in range(len(config))
    }
    return equal(len(nodes), len(prefixes), "tokens, against different prefixes")


def no_shorter_if_distinct(
    config: tuple[int, ...], tokens: tuple[int, ...], prompt: tuple[int, ...]
) -> Fraction | None:
    """So it is if the children of every token differ: without replacement."""
    nodes = squeezed(config, tokens)
    children = [(node.parent, node.token) for node in nodes]
    if len(set(children)) < len(children):
        return None
    return no_shorter(config, tokens, prompt)


def configurations(most: int = 8, longest: int = 3) -> Iterator[tuple[int, ...]]:
    """Yield (k_1, ..., k_gamma) by budget, then by length."""
    for budget in range(1, most + 1):
        for gamma in range(1, longest + 1):
            for config in product(range(1, budget + 1), repeat=gamma):
                if prod(config) == budget:
                    yield config


def trees(seed: int, distinct: bool = False) -> Iterator[dict[str, Any]]:
    """Yield configurations with tokens: all equal ones first, then random ones without end."""
    rng = np.random.default_rng(seed)
    shapes = list(configurations())
    size = {c: sum(prod(c[: i + 1]) for i in range(len(c))) for c in shapes}
    plain = ({"config": c, "tokens": (0,) * size[c], "prompt": (0,)} for c in shapes)

    def random() -> Iterator[dict[str, Any]]:
        while True:
            for c in shapes:
                tokens = rng.integers(0, 50 if distinct else 3, size[c])
                prompt = rng.integers(0, 3, int(rng.integers(1, 5)))
                yield {
                    "config": c,
                    "tokens": tuple(map(int, tokens)),
                    "prompt": tuple(map(int, prompt)),
                }

    return chain(plain, random())


def _check(slack: Slack, distinct: bool = False) -> Check:
    return over(lambda seed: trees(seed, distinct), slack, "budget <= 8, gamma <= 3")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.sec3.3a",
        "Figure 2 and section 3.3",
        r"With all candidates in one sequence, each token at its position in its candidate "
        r"(footnote 3), a mask that lets each token see exclusively the prompt and its ancestors "
        r"gives every token the state it has in its candidate alone.",
        _check(exclusively),
        printed="an attention mask that exclusively permits each token to access its ancestors; "
        "whether a token is among its own ancestors is not said: read literally, it is not.",
        corrected=Corrected(
            r"So does the mask that lets each token see the prompt, its ancestors and itself.",
            _check(sees_its_candidate),
        ),
    ),
    Claim(
        "mcsd.sec3.3b",
        "sections 3.3 and 4.3",
        r"Drafts $(k_1, \dots, k_\gamma)$ make $K = \prod_i k_i$ candidates; squeezed they take "
        r"$\sum_i \prod_{j \le i} k_j$ tokens, and together with the prompt no more than the "
        r"batch with its copied prompts.",
        _check(counts),
        printed=r"$k_1, k_1, \cdots, k_\gamma$ in section 4.3; the number of tokens is not given.",
    ),
    Claim(
        "mcsd.sec3.3c",
        "section 3.3, last sentence",
        r"The tree is maximally squeezed: it has no more tokens than there are different prefixes "
        r"of candidates.",
        _check(no_shorter),
        printed="multiple candidates can be maximally squeezed into a single sequence, thanks to "
        "the k-ary tree; what maximally means is not said.",
        corrected=Corrected(
            r"That is so if the children of every token differ, as without replacement; equal "
            r"ones with replacement could be merged.",
            _check(no_shorter_if_distinct, distinct=True),
        ),
    ),
)
