"""E[τ] of a tree of drafts, by dynamic programming over what the models remember."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_whole, quotient
from otspec.models.contract import Prefix
from otspec.trees.nodes import Accepted, Node, Nodes


def expected_kept(
    nodes: Nodes, branching: Sequence[int], beginnings: Mapping[Prefix, Number]
) -> Number:
    """Return E[τ], from the last depth to the first.

    Texts after which the same number of nodes agree and both models remember the same are one
    state. Exact numbers are whole ones over a denominator for each depth and number of nodes,
    since fractions would look for a common divisor at every step. Fewer nodes never become more,
    so that their denominators stay short.

    Parameters
    ----------
    nodes : Nodes
    branching : sequence of int
    beginnings : mapping
        The law of what stands before the tree.
    """
    places = _Places(nodes, {}, [], {})
    first = [places.place(text) for text in beginnings]
    start = _Level.of(np.array(first), np.ones(len(first), dtype=int))
    levels = [start]
    for width in branching[:-1]:
        levels.append(places.after(levels[-1], width))
    values = _last(places, levels.pop(), branching[-1])
    for level, width in zip(reversed(levels), branching[-2::-1], strict=True):
        values = _before(places, level, width, values)
    masses, scale = as_whole(list(beginnings.values()))
    found = values.numbers[values.level.find(np.array(first), np.ones(len(first), dtype=int))]
    kept = sum(mass * value for mass, value in zip(masses, found.tolist(), strict=True))
    return quotient(kept, scale * math.prod(values.lifts))


class _Level(NamedTuple):
    """The states of one depth: what is remembered, by number, and how many nodes agree."""

    keys: IntArray
    base: int

    @classmethod
    def of(cls, places: IntArray, counts: IntArray) -> _Level:
        base = int(counts.max(initial=0)) + 1
        return cls(np.unique(places * base + counts), base)

    def find(self, places: IntArray, counts: IntArray) -> IntArray:
        """Return where states are."""
        found: IntArray = np.searchsorted(self.keys, places * self.base + counts)
        return found

    def states(self) -> list[tuple[int, int]]:
        """Return them, each place with its counts."""
        return [divmod(key, self.base) for key in self.keys.tolist()]


class _Values(NamedTuple):
    """What is expected to be kept after each state of a depth.

    Values of states of c nodes are whole numbers over lifts[0] · … · lifts[c − 1]; floats are
    over 1.
    """

    level: _Level
    numbers: Array
    lifts: list[Any]


class _Step(NamedTuple):
    """What is accepted after a place, and where each of it leads."""

    accepted: Accepted
    places: IntArray


@dataclass
class _Places:
    """What both models remember of texts, numbered, with a text of each."""

    nodes: Nodes
    numbers: dict[tuple[Prefix, Prefix], int]
    texts: list[Prefix]
    steps: dict[tuple[int, int], _Step]

    def place(self, text: Prefix) -> int:
        """Return the number of what is remembered of a text."""
        number = self.numbers.setdefault(self.nodes.remembered(text), len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def node(self, place: int, k: int) -> Node:
        """Return the node of k children after a place."""
        return self.nodes.known(self.texts[place], k)

    def step(self, place: int, k: int) -> _Step:
        """Return what is accepted of k children after a place."""
        if (place, k) not in self.steps:
            accepted, text = self.node(place, k).whole, self.texts[place]
            tokens, which = np.unique(accepted.tokens, return_inverse=True)
            after = [self.place((*text, token)) for token in tokens.tolist()]
            self.steps[place, k] = _Step(accepted, np.array(after, dtype=int)[which])
        return self.steps[place, k]

    def after(self, level: _Level, width: int) -> _Level:
        """Return the states after one more token is kept."""
        steps = [self.step(place, count * width) for place, count in level.states()]
        none = np.empty(0, dtype=int)
        return _Level.of(
            np.concatenate([none, *(step.places for step in steps)]),
            np.concatenate([none, *(step.accepted.counts for step in steps)]),
        )


def _last(places: _Places, level: _Level, width: int) -> _Values:
    """Return what is kept of the last token: whether it is."""
    states = level.states()
    chances = [places.node(place, count * width).acceptance for place, count in states]
    counts = [count for _, count in states]
    whole, units = [], []
    for chance in chances:
        (numerator,), unit = as_whole([chance])
        whole.append(numerator)
        units.append(unit)
    return _over_common(level, whole, units, counts, [1] * max(counts, default=0))


def _before(places: _Places, level: _Level, width: int, after: _Values) -> _Values:
    """Return what is kept from one depth on, given what is from the next on."""
    numbers, units, counts = [], [], []
    one_more = _plus_one(after)
    for place, count in level.states():
        accepted, following = places.step(place, count * width)
        found = one_more[after.level.find(following, accepted.counts)]
        numbers.append(_lifted(accepted, found, after.lifts[: count * width]))
        units.append(accepted.unit)
        counts.append(count)
    most = max(counts, default=0)
    below = [math.prod(after.lifts[c * width : (c + 1) * width]) for c in range(most)]
    return _over_common(level, numbers, units, counts, below)


def _plus_one(values: _Values) -> Array:
    """Return the values plus 1, over the same denominators."""
    ones = [1]
    for lift in values.lifts:
        ones.append(ones[-1] * lift)
    own = np.array(ones, dtype=values.numbers.dtype)[values.level.keys % values.level.base]
    one_more: Array = values.numbers + own
    return one_more


def _lifted(accepted: Accepted, values: Array, lifts: list[Any]) -> Any:
    """Return the sum of chances times values, over the denominator of the highest count."""
    products = (accepted.chances * values).tolist()
    total: Any = 0
    ends = np.searchsorted(accepted.counts, np.arange(1, len(lifts) + 1), side="right").tolist()
    for lift, (start, end) in zip(lifts, pairwise([0, *ends]), strict=True):
        total = total * lift + sum(products[start:end])
    return total


def _over_common(
    level: _Level, numbers: list[Any], units: list[Any], counts: list[int], below: list[Any]
) -> _Values:
    """Bring numbers over units of their own to one for each count, which the next is a multiple of.

    Parameters
    ----------
    level : _Level
    numbers, units, counts : list
        By state.
    below : list
        What the denominators have as a factor already, more of it with every count.
    """
    common = [1]
    for count in range(1, len(below) + 1):
        own = {unit for unit, each in zip(units, counts, strict=True) if each == count}
        common.append(math.lcm(common[-1], *own))
    whole = [
        number * (common[count] // unit)
        for number, unit, count in zip(numbers, units, counts, strict=True)
    ]
    lifts = [
        more // less * lift for (less, more), lift in zip(pairwise(common), below, strict=True)
    ]
    kind = float if any(isinstance(number, float) for number in whole) else object
    return _Values(level, np.array(whole, dtype=kind), lifts)
