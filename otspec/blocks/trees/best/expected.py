"""E[τ] of a tree of drafts, by dynamic programming over what the models remember."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, IntArray, Number, as_whole, quotient
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.nodes import AcceptedChildren, Node, Nodes, Places
from otspec.models.base import Prefix


def expected_kept(nodes: Nodes, tree: Shape, beginnings: Mapping[Prefix, Number]) -> Number:
    """Return E[τ] after a law of beginnings, from the last depth to the first."""
    # Texts after which the same is drafted and both models remember the same are one state. Exact
    # numbers are whole ones over a denominator for each depth and shape, since fractions would look
    # for a common divisor at every step. The denominator of a smaller shape divides those of the
    # larger ones of its depth, so that it stays short.
    places = _Places(nodes, {}, [], {}, {})
    open_ended = {text: mass for text, mass in beginnings.items() if not nodes.target.ended(text)}
    if not open_ended:
        return 0
    first = np.array([places.place(text) for text in open_ended])
    which = np.zeros(len(first), dtype=int)
    levels = [_Level.of([_Leads(first, which, (tree,))])]
    while len(levels) < tree.depth:
        levels.append(places.after(levels[-1]))
    values = _Values(_Level.of([]), np.array([], dtype=object), [])
    for level in reversed(levels):
        values = _before(places, level, values)
    masses, scale = as_whole(list(open_ended.values()))
    found = values.numbers[values.level.find(first, which)]
    kept = sum(mass * value for mass, value in zip(masses, found.tolist(), strict=True))
    return quotient(kept, scale * math.prod(values.factors))


class _Leads(NamedTuple):
    """Some states: what is remembered, by number, and which of the shapes is drafted there."""

    places: IntArray
    which: IntArray
    shapes: tuple[Shape, ...]


class _Level(NamedTuple):
    """The states of one depth: what is remembered, by number, and what is drafted, by number."""

    keys: IntArray
    shapes: list[Shape]  # by ascending size
    numbers: dict[Shape, int]

    @classmethod
    def of(cls, leads: Sequence[_Leads]) -> "_Level":
        """Return the level of some states."""
        shapes = sorted({shape for each in leads for shape in each.shapes}, key=attrgetter("size"))
        numbers = {shape: number for number, shape in enumerate(shapes)}
        level = cls(np.empty(0, dtype=int), shapes, numbers)
        keys = [level.key(each.places, level.numbered(each)) for each in leads]
        return level._replace(keys=np.unique(np.concatenate([level.keys, *keys])))

    def numbered(self, leads: _Leads) -> IntArray:
        """Return the numbers of the shapes of some states."""
        numbers = np.array([self.numbers[shape] for shape in leads.shapes], dtype=int)
        return numbers[leads.which]

    def key(self, places: IntArray, numbers: IntArray) -> IntArray:
        """Return what is different for different states."""
        return places * len(self.shapes) + numbers

    def find(self, places: IntArray, numbers: IntArray) -> IntArray:
        """Return where states are."""
        return np.searchsorted(self.keys, self.key(places, numbers))

    def states(self) -> Iterable[tuple[int, int]]:
        """Return them, each place with the number of its shape."""
        return (divmod(key, len(self.shapes)) for key in self.keys.tolist())


class _Values(NamedTuple):
    """What is expected to be kept after each state of a depth, over factors[0] · … · factors[s]."""

    level: _Level
    numbers: Array
    factors: list[Any]


class _Value(NamedTuple):
    """A whole number over the unit and the first factors of the next depth."""

    number: Any
    unit: Any
    factors: int


@dataclass
class _Places:
    """What both models remember of texts, numbered, with a text of each."""

    nodes: Nodes
    numbers: dict[tuple[Prefix, Prefix], int]
    texts: list[Prefix]
    steps: dict[tuple[int, Shape], tuple[AcceptedChildren, _Leads]]
    below: dict[tuple[Shape, tuple[Places, ...]], tuple[Shape, ...]]
    """What is drafted after each of the ways in which children go on."""

    def place(self, text: Prefix) -> int:
        """Return the number of what is remembered of a text."""
        number = self.numbers.setdefault(self.nodes.remembered(text), len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def node(self, place: int, shape: Shape) -> Node:
        """Return what is known of the children that a shape has after a place."""
        return self.nodes.known(self.texts[place], len(shape.children), shape.top)

    def step(self, place: int, shape: Shape) -> tuple[AcceptedChildren, _Leads]:
        """Return what is accepted after a place, and where each of it leads."""
        if (place, shape) not in self.steps:
            text = self.texts[place]
            node = self.node(place, shape)
            accepted = node.accepted(alike=len(set(shape.children[: node.rule.k])) == 1)
            tokens, which = np.unique(accepted.tokens, return_inverse=True)
            after = np.array([self.place((*text, token)) for token in tokens.tolist()], dtype=int)
            shapes = self.shapes(shape, accepted.ways)
            places = after[which]
            below = accepted.which
            ended = [self.nodes.target.ended((*text, token)) for token in tokens.tolist()]
            if any(ended):
                shapes = (*shapes, LEAF)
                below = np.where(np.array(ended)[which], len(shapes) - 1, below)
            ends = np.array([each == LEAF for each in shapes], dtype=bool)
            places[ends[below]] = 0
            self.steps[place, shape] = accepted, _Leads(places, below, shapes)
        return self.steps[place, shape]

    def shapes(self, shape: Shape, ways: tuple[Places, ...]) -> tuple[Shape, ...]:
        """Return what is drafted after each of some ways in which children go on."""
        if (shape, ways) not in self.below:
            self.below[shape, ways] = tuple(map(shape.after, ways))
        return self.below[shape, ways]

    def acceptance(self, place: int, shape: Shape) -> Number:
        """Return the probability that one of the children is accepted."""
        if shape == LEAF:
            return 0
        return self.node(place, shape).acceptance

    def after(self, level: _Level) -> _Level:
        """Return the states after one more token is kept."""
        states = [(place, level.shapes[number]) for place, number in level.states()]
        return _Level.of([self.step(place, shape)[1] for place, shape in states if shape.depth > 1])


def _before(places: _Places, level: _Level, after: _Values) -> _Values:
    """Return what is kept from one depth on, given what is from the next on."""
    one_more = _plus_one(after)
    found: list[list[_Value]] = [[] for _ in level.shapes]
    order = []
    for place, number in level.states():
        order.append((number, len(found[number])))
        found[number].append(_value(places, place, level.shapes[number], after, one_more))
    numbers, factors = _over_common(found, after.factors)
    whole = [numbers[number][index] for number, index in order]
    kind = float if any(isinstance(number, float) for number in whole) else object
    return _Values(level, np.array(whole, dtype=kind), factors)


def _over_common(found: list[list[_Value]], below: list[Any]) -> tuple[list[list[Any]], list[Any]]:
    """Bring the values of each shape over one denominator, which the next one is a multiple of."""
    numbers, factors = [], []
    common, reached = 1, 0
    for values in found:
        unit = math.lcm(common, *{value.unit for value in values})
        most = max([reached, *(value.factors for value in values)])
        factors.append(unit // common * math.prod(below[reached:most]))
        numbers.append(
            [
                value.number * (unit // value.unit) * math.prod(below[value.factors : most])
                for value in values
            ]
        )
        common, reached = unit, most
    return numbers, factors


def _value(places: _Places, place: int, shape: Shape, after: _Values, one_more: Array) -> _Value:
    """Return what is kept after a state, given what is from the next depth on."""
    if shape.depth < 2:
        (number,), unit = as_whole([places.acceptance(place, shape)])
        return _Value(number, unit, 0)
    accepted, leads = places.step(place, shape)
    numbers = after.level.numbered(leads)
    products = accepted.chances * one_more[after.level.find(leads.places, numbers)]
    order = np.argsort(numbers, kind="stable")
    terms = products[order].tolist()
    present, starts = np.unique(numbers[order], return_index=True)
    total: Any = 0
    passed = 0
    for number, (start, end) in zip(
        present.tolist(), pairwise([*starts.tolist(), len(terms)]), strict=True
    ):
        total = total * math.prod(after.factors[passed : number + 1]) + sum(terms[start:end])
        passed = number + 1
    return _Value(total, accepted.unit, passed)


def _plus_one(values: _Values) -> Array:
    """Return the values plus 1, over the same denominators."""
    ones, one = [], 1
    for factor in values.factors:
        one = one * factor
        ones.append(one)
    own = np.array(ones, dtype=values.numbers.dtype)[values.level.keys % len(values.level.shapes)]
    return values.numbers + own
