"""E[τ] of a tree of drafts, by dynamic programming over what the models remember."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from otspec.arithmetic import Number, as_whole, quotient
from otspec.models.contract import Prefix
from otspec.trees.nodes import Nodes, State

_Level: TypeAlias = dict[State, tuple[Prefix, Any]]
"""What is remembered and how many nodes agree → a text, and the mass of all such texts."""


def kept_by_depth(
    nodes: Nodes, branching: Sequence[int], beginnings: Mapping[Prefix, Number]
) -> list[Number]:
    """Return for each depth how likely so many tokens are kept; E[τ] is the sum of that.

    Texts after which the same number of nodes agree and both models remember the same are one
    state. Exact masses are whole numbers over one denominator for each depth, since fractions
    would look for a common divisor at every step.

    Parameters
    ----------
    nodes : Nodes
    branching : sequence of int
    beginnings : mapping
        The law of what stands before the tree.
    """
    level, scale = _start(nodes, beginnings)
    found = []
    for width in branching[:-1]:
        level, scale = _next(nodes, level, width, scale)
        found.append(quotient(sum(mass for _, mass in level.values()), scale))
    chances = [
        nodes.known(text, state[-1] * branching[-1]).acceptance
        for state, (text, _) in level.items()
    ]
    whole, unit = as_whole(chances)
    kept = sum(mass * chance for (_, mass), chance in zip(level.values(), whole, strict=True))
    return [*found, quotient(kept, scale * unit)]


def _start(nodes: Nodes, beginnings: Mapping[Prefix, Number]) -> tuple[_Level, int]:
    """Return the texts before the tree as states of one node, and what their masses are over."""
    masses, scale = as_whole(list(beginnings.values()))
    level: _Level = {}
    for text, mass in zip(beginnings, masses, strict=True):
        _add(level, nodes, text, {1: mass})
    return level, scale


def _next(nodes: Nodes, level: _Level, width: int, scale: int) -> tuple[_Level, int]:
    """Return the states after one more token is kept, and what their masses are over."""
    known = [nodes.known(text, state[-1] * width).whole for state, (text, _) in level.items()]
    unit = math.lcm(*{own for _, own in known})
    longer: _Level = {}
    for (text, mass), (chances, own) in zip(level.values(), known, strict=True):
        share = mass * (unit // own)
        for token, counted in chances.items():
            masses = {count: share * chance for count, chance in counted.items()}
            _add(longer, nodes, (*text, token), masses)
    return longer, scale * unit


def _add(level: _Level, nodes: Nodes, text: Prefix, masses: dict[int, Any]) -> None:
    """Add a text to its states, by how many nodes agree with it."""
    remembered = nodes.remembered(text)
    for count, mass in masses.items():
        state = (*remembered, count)
        level[state] = text, level.get(state, (text, 0))[1] + mass
