"""Trees of drafts by shared noise: what is kept is a product along the path (Theory, 33)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import instances
import numpy as np
import oracles
import pytest
from searching import enough

from otspec.blocks import DraftSelection, as_shape, best_tree
from otspec.models import TableModel, memoryless
from otspec.rules import GumbelCoupling

TREES = ["1x1x1", "2x1", "3x2", "[[[]][]][][[]]"]


def shared(draft, target, place):
    """P(the output is y and draft number ``place``), by the integrals of the race, for all y."""
    chance = [
        [oracles.race_chance(draft, target, y, k) if mass else 0 for y, mass in enumerate(target)]
        for k in (place, place + 1)
        if k
    ]
    before = chance[0] if place else [0] * len(target)
    return [mass * (now - then) for mass, now, then in zip(target, chance[-1], before, strict=True)]


def kept(draft, target, tree, prefix=()):
    """E[kept tokens]: fresh noise at every node, the children are the first tokens of a race."""
    p, q = draft(prefix).tolist(), target(prefix).tolist()
    support = sum(mass > 0 for mass in p)
    return sum(
        mass * (1 + kept(draft, target, child, (*prefix, y)))
        for place, child in enumerate(tree.children[:support])
        for y, mass in enumerate(shared(p, q, place))
        if mass
    )


def table(rng, tokens=3):
    """A random exact model that remembers one token, with zeros."""
    rows = {(): instances.pair(rng, tokens, "generic")[0]}
    for token in range(tokens):
        kind = instances.KINDS[int(rng.integers(len(instances.KINDS)))]
        rows[(token,)] = instances.pair(rng, tokens, kind)[0]
    return TableModel(rows)


@pytest.mark.parametrize("tree", TREES)
def test_what_is_kept_is_a_product_along_the_path(tree):
    rng = np.random.default_rng(40)
    for _ in range(enough(30, least=6)):
        draft, target = table(rng), table(rng)
        found = DraftSelection(draft, target, tree, GumbelCoupling).expected()
        assert found == kept(draft, target, as_shape(tree))
        assert isinstance(found, Fraction)


def trees_of(nodes: int, depth: int) -> Iterator[str]:
    """All trees of so many nodes and at most so many levels, in brackets without the root."""
    if nodes == 0:
        yield ""
        return
    if depth == 0:
        return
    for below in range(nodes):
        for first in trees_of(below, depth - 1):
            for others in trees_of(nodes - 1 - below, depth):
                yield f"[{first}]{others}"


def test_the_best_tree_keeps_as_much_as_the_best_of_all():
    rng = np.random.default_rng(41)
    for _ in range(enough(12, least=3)):
        draft, target = (memoryless(row) for row in instances.pair(rng, 3, "generic"))
        for nodes in range(1, 6):
            best = max(kept(draft, target, as_shape(text)) for text in trees_of(nodes, 3))
            assert best_tree(draft, target, GumbelCoupling, nodes, 3).expected == best
