"""Drafts of a batch, drawn as a draft model would, and those that a policy leaves."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, IntArray, children_of
from otspec.blocks.policies import Policy
from otspec.chance import law_of
from otspec.conformance.cases.cases import Case
from otspec.drafts import LAWS, TooFewTokensError
from otspec.models import Model, Prefix, TableModel


class Sample(NamedTuple):
    """Drafts of a batch."""

    variants: IntArray  # which pair of models each row has, shape (size,)
    drafts: IntArray  # symbols, shape (size, nodes)
    tokens: IntArray  # the tokens that stand for them
    there: IntArray  # bool: whether they count

    @property
    def lengths(self) -> IntArray:
        """How many drafts count, shape (size,)."""
        return self.there.sum(axis=1)


UNKNOWN = -1  # a symbol that the target is still to draw


def drafted(
    parents: tuple[int, ...], law: str, case: Case, variants: IntArray, rng: np.random.Generator
) -> Sample:
    """Draw drafts, siblings together and after their parents."""
    size = len(variants)
    drafts = np.zeros((size, len(parents)), dtype=np.intp)
    there = np.ones((size, len(parents)), dtype=bool)
    for parent, children in enumerate(children_of(parents), start=-1):
        if children:
            last = np.zeros(size, dtype=np.intp) if parent < 0 else drafts[:, parent] + 1
            drafts[:, children], found = _siblings(case, variants, last, len(children), law, rng)
            there[:, children] = found & (there[:, [parent]] if parent >= 0 else True)
    if case.uneven:
        subsets = np.array(patterns(parents))
        there &= subsets[rng.integers(len(subsets), size=size)]
    return Sample(variants, drafts, case.tokens(drafts, rng), there)


def _siblings(
    case: Case, variants: IntArray, last: IntArray, count: int, law: str, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw siblings after each text, shape (size, count); and whether there are so many."""
    size = len(last)
    if law == "iid":
        sums = case.draft_sums[variants, last]
        drafts = np.stack([drawn(sums, rng) for _ in range(count)], axis=1)
        return drafts, np.ones((size, count), dtype=bool)
    # Which of equally likely tokens are drafted depends on their numbers, not on their symbols.
    order = np.argsort(case.places)
    drafts, found = np.zeros((size, count), dtype=np.intp), np.zeros((size, count), dtype=bool)
    for variant, context in np.ndindex(*case.draft.shape[:2]):
        which = np.flatnonzero((variants == variant) & (last == context))
        if which.size:
            row = case.draft[variant, context, order]
            many = siblings_of(row, law, count)
            tokens = LAWS[law](row, many).sample(which.size, rng)
            drafts[which[:, None], np.arange(many)] = order[tokens]
            found[which, :many] = True
    return drafts, found


def siblings_of(row: Array, law: str, count: int) -> int:
    """Return how many siblings are drawn: of distinct ones, as many as there are tokens."""
    try:
        LAWS[law](row, count)
    except TooFewTokensError:
        return int(np.count_nonzero(row))
    return count


def patterns(parents: tuple[int, ...]) -> list[tuple[bool, ...]]:
    """Return the sets of nodes that rows of different lengths have, each equally often."""
    # The first nodes up to any number; and all without some node, its later siblings, and what is
    # below them.
    count = len(parents)
    sets = [tuple(node < first for node in range(count)) for first in range(count + 1)]
    for missing in range(count):
        there = [True] * count
        for node, parent in enumerate(parents):
            after = node >= missing and parent == parents[missing]
            there[node] = not after and (parent < 0 or there[parent])
        sets.append(tuple(there))
    return sorted(set(sets))


def completed(
    texts: IntArray, case: Case, variants: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return complete texts, shape (size, T): what follows the known symbols is the target's."""
    texts = texts.copy()
    for place in range(1, texts.shape[1]):
        open_rows = np.flatnonzero(texts[:, place] == UNKNOWN)
        last = np.minimum(texts[open_rows, place - 1], case.n - 1)
        texts[open_rows, place] = drawn(case.target_sums[variants[open_rows], last + 1], rng)
    return texts


def drawn(sums: Array, rng: np.random.Generator) -> IntArray:
    """Draw one symbol from each row of cumulative weights, shape (size, n)."""
    # Below the total, so that the symbol has a weight.
    wanted = rng.random(len(sums)) * sums[:, -1]
    return (sums <= wanted[:, None]).sum(axis=1)


class Left(NamedTuple):
    """One way that drafts of a policy can come out."""

    drafts: tuple[int, ...]  # the symbol of each node; 0 where there is none
    there: tuple[bool, ...]
    mass: float


def model_of(rows: Any) -> Model:
    """Return the model of a table: the first row, and those after each symbol."""
    table: dict[tuple[int, ...], Any] = {(): rows[0]}
    table.update({(symbol,): row for symbol, row in enumerate(rows[1:])})
    return TableModel(table, normalize=True)


def left_by(policy: Policy, parents: tuple[int, ...], rows: Array) -> Sequence[Left]:
    """Return all ways that the drafts of a policy can come out."""
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
