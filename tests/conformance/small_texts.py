"""Texts of small models by a verifier, and how far their frequencies may be from the target."""

import math

import numpy as np

from otspec.conformance.adapters import paths_of

DRAFT = np.array([(0.5, 0.3, 0.2), (0.2, 0.6, 0.2), (0.1, 0.2, 0.7), (0.6, 0.4, 0.0)])
TARGET = np.array([(0.1, 0.3, 0.6), (0.7, 0.1, 0.2), (0.0, 0.5, 0.5), (0.25, 0.5, 0.25)])
"""The row after the text before, and after each token."""
LENGTH = 2
ERROR = 1e-9
"""The chance that the frequency of any text is further off than is allowed."""


def drawn(weights, rng):
    sums = weights.cumsum(-1)
    return (sums <= rng.random((*sums.shape[:-1], 1)) * sums[..., -1:]).sum(-1)


def completed(texts, rng):
    """Return texts of LENGTH + 1 tokens: what is not said yet is the target's."""
    for place in range(1, texts.shape[1]):
        unsaid = texts[:, place] < 0
        texts[unsaid, place] = drawn(TARGET[texts[unsaid, place - 1] + 1], rng)
    return texts


def texts_of_blocks(verify, size, rng, lengths=None, **extra):
    """Return texts, shape (size, LENGTH + 1), by a verifier that emits tokens."""
    contexts = np.zeros((size, LENGTH + 1), dtype=np.int64)
    for place in range(LENGTH):
        contexts[:, place + 1] = drawn(DRAFT[contexts[:, place]], rng) + 1
    rows = contexts[:, :-1]
    given = {"draft": DRAFT[rows], "target": TARGET[contexts], "drafts": contexts[:, 1:] - 1}
    if lengths is not None:
        extra["lengths"] = lengths
    emitted = np.asarray(verify(**given, **extra)).astype(np.int64)
    texts = np.full((size, LENGTH + 1), -1)
    texts[:, : emitted.shape[1]] = emitted
    return completed(texts, rng)


def texts_of_trees(verify, parents, size, rng, distinct=True):
    """Return texts, shape (size, depth + 1), by a verifier that says a node and a token."""
    contexts = np.zeros((size, len(parents) + 1), dtype=np.int64)
    for node, parent in enumerate(parents):
        weights = DRAFT[contexts[:, parent + 1]]
        for sibling in range(node):
            if distinct and parents[sibling] == parent:
                np.put_along_axis(weights, contexts[:, sibling + 1, None] - 1, 0, axis=1)
        contexts[:, node + 1] = drawn(weights, rng) + 1
    nodes, tokens = verify(target=TARGET[contexts], drafts=contexts[:, 1:] - 1, parents=parents)
    ways = [(0,)]
    for node, parent in enumerate(parents):
        ways.append((*ways[parent + 1], node + 1))
    texts = np.full((size, paths_of(parents).shape[1]), -1)
    for row, (node, token) in enumerate(zip(nodes, tokens, strict=True)):
        way = [*contexts[row, list(ways[node + 1][1:])] - 1, token]
        texts[row, : len(way)] = way
    return completed(texts, rng)


def farthest(texts):
    """Return how far the frequency of a text is from the target's, and how far it may be.

    By Hoeffding's inequality each frequency is further off with chance 2 exp(-2 size d²).
    """
    size, length = texts.shape
    law = np.ones(1)
    for place in range(length):
        rows = TARGET[:1] if place == 0 else np.tile(TARGET[1:], (len(law) // 3, 1))
        law = (law[:, None] * rows).ravel()
    cells = np.ravel_multi_index(tuple(texts.T), (3,) * length)
    found = np.bincount(cells, minlength=len(law)) / size
    return abs(found - law).max(), math.sqrt(math.log(2 * len(law) / ERROR) / (2 * size))
