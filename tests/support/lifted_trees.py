"""Trees verified from the leaves to the root, each drafted tree by itself, as the papers say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np
from drafted_trees import distinct, hub, top, trees
from instances import Exact
from oracles import iid_table, top_plus_one_table
from scipy.optimize import linprog

from otspec.blocks import BlockRule
from otspec.blocks.trees.shapes import Shape
from otspec.models import TableModel
from otspec.rules import Rule

Prefix = tuple[int, ...]
Drafted = tuple[tuple[int, "Drafted"], ...]
"""The children of a node: the token of each, and its own children."""
Law = dict[tuple[Prefix, int], Fraction]
"""From the kept tokens and the next one to their probability."""


def top_plus_one(draft: Exact, k: int) -> dict[Prefix, Fraction]:
    """The likeliest tokens and one drawn, no more than there are to draw."""
    return top_plus_one_table(draft, min(k, sum(mass > 0 for mass in draft)))


DRAWS = {
    "iid": iid_table,
    "distinct": distinct,
    "top": top,
    "top-plus-one": top_plus_one,
    "hub": hub,
}


def ordered_trees(nodes: int) -> list[str]:
    """All trees of so many nodes behind the text, as brackets."""

    @cache
    def forests(size: int) -> tuple[str, ...]:
        if size == 0:
            return ("",)
        return tuple(
            f"[{first}]{rest}"
            for inside in range(size)
            for first in forests(inside)
            for rest in forests(size - 1 - inside)
        )

    return list(forests(nodes))


def add(law: Law, more: Law, mass: Fraction) -> None:
    for key, chance in more.items():
        if chance:
            law[key] = law.get(key, 0) + mass * chance


def over_trees(verified: Callable, draws: Callable, draft: Callable, shape: Shape) -> Law:
    """The law of what is kept and the next token, over all drafted trees."""
    law: Law = {}
    for tree, mass in trees(draws, draft, shape).items():
        found, lost = verified(tree)
        assert lost == 0
        add(law, found, mass)
    return law


def lifted(rule, pair, merge: bool, order: Callable | None = None) -> Callable:
    """A rule for one token at every node of a drafted tree, with one token more."""
    draft, target = pair

    @cache
    def made(prefix: Prefix, weight: Fraction, k: int) -> Rule:
        return rule([*draft(prefix), 0], [*(weight * target(prefix)), 1 - weight], k)

    @cache
    def kernel(prefix: Prefix, weight: Fraction, drafts: Prefix) -> Exact:
        return tuple(made(prefix, weight, len(drafts)).kernel(drafts))

    def visited(children: Drafted, prefix: Prefix = (), weight: Fraction = Fraction(1)):
        if not children:
            return {(prefix, y): weight * q for y, q in enumerate(target(prefix))}, 1 - weight
        row = kernel(prefix, weight, tuple(token for token, _ in children))
        law: Law = {}
        left = Fraction(1)
        tokens = list(dict.fromkeys(token for token, _ in children))
        for token in order(tokens, row) if order else tokens:
            same = [below for drafted, below in children if drafted == token]
            if row[token] > 0:
                below = sum(same if merge else same[:1], ())
                found, _ = visited(below, (*prefix, token), row[token] / left)
                add(law, found, left)
                left -= row[token]
        add(law, {(prefix, y): q for y, q in enumerate(row[:-1]) if y not in tokens}, Fraction(1))
        return law, row[-1]

    return visited


def larger_first(tokens: list[int], row: Exact) -> list[int]:
    return sorted(tokens, key=lambda token: -row[token])


def smaller_first(tokens: list[int], row: Exact) -> list[int]:
    return sorted(tokens, key=lambda token: row[token])


def traversal(pair, replace: bool) -> Callable:
    """The algorithm of the paper: the first leaf is accepted, or deleted and its parent corrected.

    ``replace``: whether a deleted token stays in the draft, as for i.i.d. children.
    """
    draft, target = pair

    def traversed(children: Drafted, prefix: Prefix = (), weight: Fraction = Fraction(1)):
        wanted, drafted = list(target(prefix)), list(draft(prefix))
        law: Law = {}
        reached = Fraction(1)
        for token, below in children:
            ratio = weight * wanted[token] / drafted[token]
            found, deleted = traversed(below, (*prefix, token), min(Fraction(1), ratio))
            add(law, found, reached)
            reached *= deleted
            residual = [max(weight * q - p, 0) for q, p in zip(wanted, drafted, strict=True)]
            total = sum(residual)
            weight = total / (total + 1 - weight) if total or weight < 1 else Fraction(1)
            wanted = [each / total for each in residual] if total else wanted
            if not replace and sum(drafted) > drafted[token]:
                rest = sum(drafted) - drafted[token]
                drafted = [0 if y == token else p / rest for y, p in enumerate(drafted)]
        add(law, {(prefix, y): weight * q for y, q in enumerate(wanted)}, reached)
        return law, reached * (1 - weight)

    return traversed


def answered(rule: BlockRule) -> Law:
    """What outcomes() says of the same."""
    law: Law = {}
    for outcome in rule.outcomes():
        add(law, {(outcome.accepted, y): q for y, q in enumerate(outcome.following(()))},
            outcome.mass)  # fmt: skip
    return law


def kept(law: Law) -> Fraction:
    """E[τ]."""
    return sum((len(head) * mass for (head, _), mass in law.items()), Fraction(0))


def is_lossless(law: Law, target: TableModel, depth: int) -> bool:
    """Whether after all that is kept, or longer, the next token is the target's, exactly."""
    begins: dict[Prefix, Fraction] = {}
    for (head, _), mass in law.items():
        for length in range(len(head) + 1):
            begins[head[:length]] = begins.get(head[:length], 0) + mass
    assert begins[()] == 1
    assert max(map(len, begins)) <= depth
    return all(
        begins.get((*head, y), 0) + law.get((head, y), 0) == mass * q
        for head, mass in begins.items()
        for y, q in enumerate(target(head))
    )


def optimum(draws: Callable, pair, shape: Shape) -> float:
    """The most that any rule keeps that corrects one token: a linear program, by HiGHS.

    Variables ρ(D, s): the probability that s or more is kept of the drafted tree D. At every node
    of D at most what is kept above; and after s no more than the target says of the next token.
    """
    draft, target = pair
    places: dict[tuple[frozenset[Prefix], Prefix], int] = {}
    rows: list[dict[int, float]] = []
    most: list[float] = []
    begins: dict[Prefix, dict[int, float]] = {}
    masses: dict[frozenset[Prefix], Fraction] = {}
    for tree, mass in trees(draws, draft, shape).items():
        nodes = frozenset(texts_of(tree))
        masses[nodes] = masses.get(nodes, 0) + mass
    for nodes, mass in masses.items():
        for text in nodes:
            places[nodes, text] = place = len(places)
            begins.setdefault(text, {})[place] = float(mass)
        for head in {(), *nodes}:
            below = [text for text in nodes if text[:-1] == head]
            row = {places[nodes, text]: 1.0 for text in below if (nodes, text) in places}
            rows.append(row | ({places[nodes, head]: -1.0} if head else {}))
            most.append(0.0 if head else 1.0)
    for text, row in begins.items():
        head, chance = text[:-1], float(target(text[:-1])[text[-1]])
        rows.append(dict(row))
        for place, mass in begins.get(head, {}).items():
            rows[-1][place] = rows[-1].get(place, 0) - chance * mass
        most.append(0.0 if head else chance)
    matrix = np.zeros((len(rows), len(places)))
    for index, row in enumerate(rows):
        for place, value in row.items():
            matrix[index, place] = value
    goal = np.array([-float(masses[nodes]) for nodes, _ in places])
    return -float(linprog(goal, matrix, most, bounds=(0, 1)).fun)


def texts_of(tree: Drafted, prefix: Prefix = ()) -> Iterator[Prefix]:
    """The texts of all nodes."""
    for token, below in tree:
        yield (*prefix, token)
        yield from texts_of(below, (*prefix, token))
