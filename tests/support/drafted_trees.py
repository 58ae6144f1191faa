"""Toy language models, and drafted trees followed one by one: what is literally said of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import oracles
from instances import KINDS, Exact, floats, pair
from searching import NIGHTLY

import otspec
from otspec.blocks import DraftSelection, Shape, as_shape
from otspec.models import TableModel
from otspec.rules import (
    ImportanceSampling,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    PlannedRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

Prefix = tuple[int, ...]
Law = dict[tuple[Prefix, int], Fraction]
"""From the kept tokens and the next one to their probability."""


def optimal(draft, target, k):
    """A rule that is no class of the library: any optimal plan."""
    return PlannedRule(otspec.optimal_plan(otspec.IID(draft, k), target))


def distinct(draft, k):
    """As many distinct drafts as there are tokens to draw, k at most."""
    support = sum(mass > 0 for mass in draft)
    return oracles.without_replacement_table(draft, min(k, support))


def top(draft, k):
    """The likeliest tokens, no more than there are to draw."""
    count = min(k, sum(mass > 0 for mass in draft))
    return oracles.fixed_table(oracles.likeliest(draft, count))


def hub(draft, _k):
    return oracles.hub_table(draft)


RULES: dict[str, tuple[Callable, Callable]] = {
    "recursive": (RecursiveRejection, oracles.iid_table),
    "k-sequential": (KSequential, oracles.iid_table),
    "importance": (ImportanceSampling, oracles.iid_table),
    "naive": (NaiveSampling, oracles.iid_table),
    "pooled": (PooledSelection, oracles.iid_table),
    "optimal": (optimal, oracles.iid_table),
    "recursive-distinct": (RecursiveRejectionWithoutReplacement, distinct),
    "pooled-distinct": (PooledSelectionWithoutReplacement, distinct),
    "spechub": (SpecHub, hub),
    "target-only": (TargetOnly, top),
    "coupling": (MaximalCoupling, oracles.iid_table),
}
"""Each rule for one token beside the table of its drafts."""

IID_RULES = ("recursive", "k-sequential", "importance", "naive", "pooled", "optimal")


def takes(rule: str, branching: object) -> bool:
    """Whether a rule can verify a tree."""
    only = getattr(RULES[rule][0], "only_k", None)
    return only is None or as_shape(branching).widths == {only}


def models(
    seed: int, count: int, n: int, length: int, support: int = 1, first: int = 0
) -> Iterator[tuple[TableModel, TableModel]]:
    """Pairs of models that look at the whole text; every kind of next tokens comes first once.

    Every eighth pair is one model twice. The draft model has ``support`` tokens everywhere.
    The kinds are gone through from the one with the number ``first`` on.
    """
    rng = np.random.default_rng(seed)
    for index in range(first, first + count):
        rows: tuple[dict, dict] = ({}, {})
        for depth in range(length + 1):
            for prefix in product(range(n), repeat=depth):
                kind = KINDS[(index if not prefix else int(rng.integers(len(KINDS)))) % len(KINDS)]
                drawn = pair(rng, n, kind)
                while sum(mass > 0 for mass in drawn[0]) < support:
                    drawn = pair(rng, n, "dense")
                for table, row in zip(rows, drawn, strict=True):
                    table[prefix] = row
        draft, target = TableModel(rows[0]), TableModel(rows[1])
        yield (draft, draft) if KINDS[index % len(KINDS)] == "equal" else (draft, target)


def models_for(rule: str, seed: int, count: int, n: int, length: int, first: int = 0) -> Iterator:
    """Pairs of models that a rule can verify: distinct pools are for two drafts only."""
    return models(seed, count, n, length, 2 if rule == "pooled-distinct" else 1, first)


FOUR = 8 if NIGHTLY else 4
"""How many kinds of models where all eight take long: by day half of them."""


def some_models(rule: str, seed: int, count: int, n: int, length: int) -> Iterator:
    """Pairs of models; of fewer kinds than eight, every other rule has the last four first."""
    first = 4 * (list(RULES).index(rule) % 2) if count < len(KINDS) else 0
    return models_for(rule, seed, count, n, length, first)


def pair_for(rule: str, seed: int, n: int, length: int) -> tuple[TableModel, TableModel]:
    """One pair of models that a rule can verify, of the kind whose turn it is."""
    return next(models_for(rule, seed, 1, n, length, seed % len(KINDS)))


def as_floats(model: TableModel) -> TableModel:
    return TableModel({prefix: floats(tuple(row)) for prefix, row in model.rows.items()})


def trees(draws: Callable, draft: Callable, tree: object, prefix: Prefix = ()) -> dict:
    """The law of the whole drafted tree, written as its children and what is below each."""
    children = as_shape(tree).children if not isinstance(tree, Shape) else tree.children
    if not children:
        return {(): Fraction(1)}
    law: dict = {}
    for tokens, mass in draws(tuple(draft(prefix)), len(children)).items():
        made = {(): mass}
        for token, child in zip(tokens, children, strict=False):
            below = trees(draws, draft, child, (*prefix, token))
            made = {
                (*done, (token, tree)): each * chance
                for done, each in made.items()
                for tree, chance in below.items()
            }
        for tree, each in made.items():
            law[tree] = law.get(tree, 0) + each
    return law


def leaves(tree: tuple, prefix: Prefix = ()) -> frozenset[Prefix]:
    """The different candidate sequences of a tree."""
    found = [leaves(below, (*prefix, token)) for token, below in tree]
    return frozenset().union(*found) if tree else frozenset([prefix])


def verified(selection: DraftSelection, draws: Callable, merges: bool) -> Law:
    """Follow all ways to verify every single tree, the rule's kernel given."""
    draft, target = selection.draft, selection.target
    law: Law = {}

    @cache
    def rule(prefix: Prefix, k: int) -> otspec.rules.Rule:
        return selection.rule(draft(prefix), target(prefix), k)

    @cache
    def kernel(prefix: Prefix, tokens: Prefix) -> Exact:
        return tuple(rule(prefix, len(tokens)).kernel(tokens))

    def walk(children: tuple, prefix: Prefix, mass: Fraction) -> None:
        if not children:
            for token, chance in enumerate(target(prefix)):
                add(prefix, token, mass * chance)
            return
        for token, chance in enumerate(kernel(prefix, tuple(token for token, _ in children))):
            same = [below for drafted, below in children if drafted == token]
            if not same:
                add(prefix, token, mass * chance)
            elif chance:
                below = sum(same if merges else same[:1], ())
                walk(below, (*prefix, token), mass * chance)

    def add(prefix: Prefix, token: int, mass: Fraction) -> None:
        if mass:
            law[prefix, token] = law.get((prefix, token), 0) + mass

    for tree, mass in trees(draws, draft, selection.tree).items():
        walk(tree, (), mass)
    return law


def answered(selection) -> Law:
    """What outcomes() says of the same."""
    return {
        (outcome.accepted, token): outcome.mass * chance
        for outcome in selection.outcomes()
        for token, chance in enumerate(outcome.following(()))
        if chance > 0
    }


def path_mass(model: Callable, path: Prefix) -> Fraction:
    """The probability of a text, token by token."""
    mass = Fraction(1)
    for depth, token in enumerate(path):
        mass *= model(path[:depth])[token]
    return mass


def certain_trees(
    n: int, nodes: int, levels: int, end: Collection[int] = ()
) -> Iterator[tuple[Prefix, ...]]:
    """All sets of so many paths, or of all, in which no path is without its beginnings.

    No path goes on after an end token.
    """
    paths = [
        x
        for depth in range(1, levels + 1)
        for x in product(range(n), repeat=depth)
        if not set(x[:-1]) & set(end)
    ]
    for chosen in combinations(paths, min(nodes, len(paths))):
        if all(path[:-1] in chosen for path in chosen if len(path) > 1):
            yield chosen
