"""Section 3.3: candidates squeezed into one sequence, with a toy attention over it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import accumulate, product
from math import prod
from operator import mul

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import Domain
from validation.notation import ZERO, Tokens


def squeezed(config: Tokens) -> list[Tokens]:
    """Return the nodes in the order of generation, level by level: each as its choices."""
    depths = range(1, len(config) + 1)
    return [path for depth in depths for path in product(*map(range, config[:depth]))]


def ancestors(nodes: list[Tokens], i: int) -> list[int]:
    """Return a node and its ancestors, from the first level on."""
    return [nodes.index(nodes[i][:depth]) for depth in range(1, len(nodes[i]) + 1)]


def candidates(config: Tokens) -> list[list[int]]:
    """Return the rows of the batch, each as the nodes of its tokens."""
    nodes = squeezed(config)
    return [ancestors(nodes, nodes.index(row)) for row in product(*map(range, config))]


def attention(tokens, positions, mask):
    """Two layers in which each state becomes what it sees: other states at relative positions."""
    states = list(tokens)
    for _ in range(2):
        states = [
            (states[i], *sorted((positions[i] - positions[j], states[j]) for j in seen))
            for i, seen in enumerate(mask)
        ]
    return states


def configurations(most: int = 8, longest: int = 3) -> Iterator[Tokens]:
    """Yield (k_1, ..., k_gamma) by budget, then by length."""
    for budget, gamma in product(range(1, most + 1), range(1, longest + 1)):
        yield from (c for c in product(range(1, budget + 1), repeat=gamma) if prod(c) == budget)


def trees(alphabet: int = 3) -> Domain:
    """Return the domain of configurations with tokens: all equal ones, then random ones."""

    def instances(drawn):
        for config in configurations():
            size = len(squeezed(config))
            tokens, prompt = drawn(alphabet, size), drawn(3, (size - 1) % 4 + 1)
            yield {"config": config, "tokens": tuple(tokens), "prompt": tuple(prompt)}

    def random(rng):
        while True:
            yield from instances(lambda high, size: rng.integers(0, high, size).tolist())

    note = "budgets up to 8, up to 3 steps"
    return Domain(lambda: instances(lambda _, size: [0] * size), random, note)


@claim("mcsd.sec3.3a", "Figure 2 and section 3.3", trees())
def exclusive_mask(config, tokens, prompt, itself=False):
    """With all candidates in one sequence, each token at its position in its candidate (footnote
    3), a mask that lets each token see exclusively the prompt and its ancestors gives every token
    the state it has in its candidate alone.

    Printed: an attention mask that exclusively permits each token to access its ancestors; whether
    a token is among its own ancestors is not said: read literally, it is not.
    """
    nodes, c = squeezed(config), len(prompt)
    positions = [*range(c), *(c + len(node) - 1 for node in nodes)]
    mask = [[*range(i)] for i in range(c)]
    mask += [[*range(c), *(c + j for j in ancestors(nodes, i)[:-1])] for i in range(len(nodes))]
    mask = [seen + [i] * itself for i, seen in enumerate(mask)]
    states = attention((*prompt, *tokens), positions, mask)[c:]
    for row in candidates(config):
        alone = (*prompt, *(tokens[i] for i in row))
        causal = [range(i + 1) for i in range(len(alone))]
        claimed = attention(alone, range(len(alone)), causal)[c:]
        equal([states[i] for i in row], claimed, f"states of candidate {row}")
    return ZERO


corrected("mcsd.sec3.3a", Severity.MISPRINT, trees(),
          "So does the mask that lets each token see the prompt, its ancestors and itself.",
          )(partial(exclusive_mask, itself=True))  # fmt: skip


@claim("mcsd.sec3.3b", "sections 3.3 and 4.3", trees())
def tokens_of_the_tree(config, prompt, **_):
    r"""Drafts $(k_1, \dots, k_\gamma)$ make $K = \prod_i k_i$ candidates; squeezed they take
    $\sum_i \prod_{j \le i} k_j$ tokens, and together with the prompt no more than the batch with
    its copied prompts.

    Printed: $k_1, k_1, \cdots, k_\gamma$ in section 4.3; the number of tokens is not given.
    """
    nodes, rows = squeezed(config), candidates(config)
    parents = {nodes.index(node[:-1]) for node in nodes if len(node) > 1}
    equal(len(nodes) - len(parents), prod(config), "candidates")
    equal(len(nodes), sum(accumulate(config, mul)), "tokens")
    batch = sum(len(prompt) + len(row) for row in rows)
    return at_least(batch, len(prompt) + len(nodes), "tokens in the batch")


@claim("mcsd.sec3.3c", "section 3.3, last sentence", trees())
def maximally_squeezed(config, tokens, **_):
    """The tree is maximally squeezed: it has no more tokens than there are different prefixes of
    candidates.

    Printed: multiple candidates can be maximally squeezed into a single sequence, thanks to the
    k-ary tree; what maximally means is not said.
    """
    texts = [tuple(tokens[i] for i in row) for row in candidates(config)]
    prefixes = {text[:depth] for text in texts for depth in range(1, len(text) + 1)}
    return equal(len(tokens), len(prefixes), "tokens, against different prefixes")


@corrected("mcsd.sec3.3c", Severity.CONDITION, trees(alphabet=50))
def squeezed_without_replacement(config, tokens, **_):
    """That is so if all children of a token differ; equal ones (with replacement) can be merged."""
    children = zip((node[:-1] for node in squeezed(config)), tokens, strict=True)
    if len(set(children)) < len(tokens):
        return None
    return maximally_squeezed(config, tokens)
