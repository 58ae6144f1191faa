"""Drafts that a drafting policy leaves, as nodes of a block or a tree."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.parents import children_of
from otspec.blocks.policies import Policy
from otspec.chance import law_of
from otspec.models import Model, Prefix, TableModel


class Left(NamedTuple):
    """One way that drafts of a policy can come out."""

    drafts: tuple[int, ...]
    """The symbol of each node; 0 where there is none."""
    there: tuple[bool, ...]
    mass: float


def model_of(rows: Array) -> Model:
    """Return the model of a table: the first row, and those after each symbol."""
    table: dict[tuple[int, ...], Array] = {(): rows[0]}
    table.update({(symbol,): row for symbol, row in enumerate(rows[1:])})
    return TableModel(table, normalize=True)


def left_by(policy: Policy, parents: tuple[int, ...], rows: Array) -> Sequence[Left]:
    """Return all ways that the drafts of a policy can come out.

    Parameters
    ----------
    parents : tuple of int
        Of each node that there is room for, before it; −1 for the text.
    rows : ndarray, shape (n + 1, n)
        The draft's row after the text, and those after each symbol.

    Raises
    ------
    ValueError
        The policy drafts more than there is room for.
    """
    return _left_by(policy, parents, tuple(map(tuple, rows.tolist())))


@lru_cache(maxsize=1024)
def _left_by(
    policy: Policy, parents: tuple[int, ...], rows: tuple[tuple[float, ...], ...]
) -> Sequence[Left]:
    draft = model_of(np.array(rows))
    grown = law_of(lambda chance: tuple(policy.grow(draft, chance)))
    return [Left(*_placed(texts, parents), float(mass)) for texts, mass in grown.items()]


def _placed(
    texts: Sequence[Prefix], parents: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return drafted texts as nodes: each below the first drafts of its text that have room."""
    free = {node: list(below) for node, below in enumerate(children_of(parents), start=-1)}
    nodes: dict[Prefix, list[int]] = {(): [-1]}
    drafts, there = [0] * len(parents), [False] * len(parents)
    for text in texts:
        room = [node for node in nodes[text[:-1]] if free[node]]
        if not room:
            raise ValueError(
                f"policy drafts {len(texts)} texts up to {max(map(len, texts))} tokens, for which "
                f"shape has no room at {text}: use a larger shape"
            )
        node = free[room[0]].pop(0)
        drafts[node], there[node] = text[-1], True
        nodes.setdefault(text, []).append(node)
    return tuple(drafts), tuple(there)
