"""E[τ] of a tree of drafts, by dynamic programming over what the models remember."""

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Number, as_whole, is_exact, quotient
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.nodes import AcceptedChildren, Node, Nodes, Places
from otspec.models.base import Prefix


def expected_kept(nodes: Nodes, tree: Shape, beginnings: Mapping[Prefix, Number]) -> Number:
    """Return E[τ] after a law of beginnings, from the last depth to the first."""
    # Texts after which the same is drafted and both models remember the same are one state. Exact
    # numbers are whole ones over a denominator for each depth and shape, since fractions would look
    # for a common divisor at every step.
    open_ended = {text: mass for text, mass in beginnings.items() if not nodes.target.ended(text)}
    if not open_ended:
        return 0
    places = _Places(nodes)
    first = [places.place(text) for text in open_ended]
    levels = [{tree: set(first)}]
    while len(levels) < tree.depth:
        levels.append(places.after(levels[-1]))
    after = {LEAF: places.nothing()}
    for level in reversed(levels):
        known = {shape: places.values(shape, list(at), after) for shape, at in level.items()}
        after = {LEAF: places.nothing(), **known}
    masses, scale = as_whole(list(open_ended.values()))
    found, unit = after[tree]
    kept = sum(mass * value for mass, value in zip(masses, found[first].tolist(), strict=True))
    return quotient(kept, scale * unit)


class _Values(NamedTuple):
    """What is expected to be kept of a shape after each place, over the unit."""

    numbers: Array  # (places + 1,): the last one is 0, where a text is over
    unit: int


class _Places:
    """What both models remember of texts, numbered, with a text of each."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.numbers: dict[tuple[Prefix, Prefix], int] = {}
        self.texts: list[Prefix] = []
        self.known: dict[tuple[int, int, bool, bool], AcceptedChildren] = {}
        self.shapes: dict[tuple[Shape, Places], Shape] = {}

    def place(self, text: Prefix) -> int:
        """Return the number of what is remembered of a text."""
        number = self.numbers.setdefault(self.nodes.remembered(text), len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def node(self, place: int, shape: Shape) -> Node:
        """Return what is known of the children that a shape has after a place."""
        return self.nodes.known(self.texts[place], len(shape.children), shape.top)

    def accepted(self, place: int, shape: Shape) -> AcceptedChildren:
        """Return what is accepted after a place, with the places after that in place of tokens."""
        node = self.node(place, shape)
        alike = len(set(shape.children[: node.rule.k])) == 1
        key = place, len(shape.children), shape.top, alike
        if key not in self.known:
            found, ended = node.accepted(alike), self.nodes.target.ended
            after = np.zeros(self.nodes.target.n, int)  # −1: the text is over
            for token in set().union(*(tokens.tolist() for _, tokens, _ in found.ways)):
                longer = (*self.texts[place], token)
                after[token] = -1 if ended(longer) else self.place(longer)
            ways = [(way, after[tokens], chances) for way, tokens, chances in found.ways]
            self.known[key] = AcceptedChildren(tuple(ways), found.unit)
        return self.known[key]

    def below(self, shape: Shape, way: Places) -> Shape:
        """Return what is drafted after the children of a shape that go on."""
        if (shape, way) not in self.shapes:
            self.shapes[shape, way] = shape.after(way)
        return self.shapes[shape, way]

    def after(self, level: Mapping[Shape, Collection[int]]) -> dict[Shape, set[int]]:
        """Return the states after one more token is kept: by shape, the places."""
        longer: dict[Shape, set[int]] = {}
        for shape, places in level.items():
            for place in places if shape.depth > 1 else ():
                for way, after, _ in self.accepted(place, shape).ways:
                    if (below := self.below(shape, way)).children:
                        longer.setdefault(below, set()).update(after[after >= 0].tolist())
        return longer

    def nothing(self) -> _Values:
        """Return that nothing is kept."""
        kind = object if is_exact(self.nodes.target(())) else float
        return _Values(np.zeros(len(self.texts) + 1, kind), 1)

    def values(self, shape: Shape, places: list[int], after: Mapping[Shape, _Values]) -> _Values:
        """Return what is kept of a shape after places, given what is from the next depth on."""
        found = self.nothing().numbers
        if shape.depth < 2:
            found[places], unit = as_whole([self.node(each, shape).acceptance for each in places])
            return _Values(found, unit)
        laws = [self.accepted(place, shape) for place in places]
        common = math.lcm(*{law.unit for law in laws})
        # Nothing is drafted any more where all texts are over.
        ways = {
            way: after.get(self.below(shape, way), after[LEAF])
            for law in laws
            for way, *_ in law.ways
        }
        unit = math.lcm(*{below.unit for below in ways.values()})
        more = {
            way: (below.numbers + below.unit, unit // below.unit) for way, below in ways.items()
        }
        for place, law in zip(places, laws, strict=True):
            total: Any = 0
            for way, to, chances in law.ways:
                one_more, factor = more[way]
                total += (chances * one_more[to]).sum() * factor
            found[place] = total * (common // law.unit)
        return _Values(found, unit * common)
