"""What rules keep of trees of drafts, beside the most that can be kept, on the letters."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, TypeAlias

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec._base.arithmetic import Number
from otspec.blocks import DraftSelection, as_branching
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.greedy_multi_path import GreedyMultiPath
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.blocks.trees.verifiers.traversal_verify import (
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
    UniversalTreeWithoutReplacement,
)
from otspec.datasets import letters
from otspec.drafts import IID, WithoutReplacement
from otspec.models import Model
from otspec.programs import DraftedNodes, TextProgram, depth_bound
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)

Keeper: TypeAlias = Callable[[Model, Model, tuple[int, ...]], Number]
"""(draft, target, branching) → E[τ] at the beginning of a text."""


def by_depth(rule: TokenRule) -> Keeper:
    """Return what a rule for one token keeps, depth by depth."""

    def kept(draft: Model, target: Model, branching: tuple[int, ...]) -> Number:
        return DraftSelection(draft, target, branching, rule).expected()

    return kept


def of_tree(rule: type[TreeRule], most: int = 100) -> Keeper:
    """Return what a rule for whole trees keeps; trees of more nodes than ``most`` take too long."""

    def kept(draft: Model, target: Model, branching: tuple[int, ...]) -> Number:
        if sum(prod(branching[: depth + 1]) for depth in range(len(branching))) > most:
            raise ValueError(f"branching is {branching}: too large a tree")
        return rule(draft, target, branching).expected()

    return kept


class Drafts(NamedTuple):
    """How children are drawn: their law, and what keeps how much of them."""

    law: Any
    rules: dict[str, Keeper]


DRAFTS = {
    "i.i.d.": Drafts(
        IID,
        {
            "rejection": by_depth(RecursiveRejection),
            "pooled": by_depth(PooledSelection),
            "traversal": of_tree(TraversalVerify),
            "universal": of_tree(UniversalTree, 4),
            "greedy multi-path": of_tree(GreedyMultiPath),
        },
    ),
    "distinct": Drafts(
        WithoutReplacement,
        {
            "rejection": by_depth(RecursiveRejectionWithoutReplacement),
            "pooled": by_depth(PooledSelectionWithoutReplacement),
            "traversal": of_tree(TraversalVerifyWithoutReplacement, 6),
            "universal": of_tree(UniversalTreeWithoutReplacement, 4),
        },
    ),
}
"""A rule is added here; what it does not serve, it leaves out by a ``ValueError``."""
SLOW = ("universal",)
"""Left out if quick."""
RULES = tuple(dict.fromkeys(name for drafts in DRAFTS.values() for name in drafts.rules))
PAIRS = (("unigram", "bigram"), ("bigram", "trigram"))
TREES = ("2x1", "3x1", "4x1", "2x2", "2x1x1")
WITHIN, QUICK_WITHIN = {2: 1e-4, 3: 2e-2}, {2: 1e-2, 3: 1e-1}
"""By the depth of the tree, what share of the optimum tangents may add."""
ONE, WHOLE, DEPTHS = "one token, at most", "blocks, at most", "by depth, at most"


class Key(NamedTuple):
    """A pair of models, a tree, and how its children are drawn."""

    draft: str
    target: str
    tree: str
    drafts: str


@item("tree_optimum", "ours")
class TreeOptimum(Table):
    """Drafted tokens kept at the beginning of a text.

    Parameters
    ----------
    values : dict
        Pair, tree and drafts → by rule or bound how many tokens.
    least : dict
        The same of programs: so many can be kept.
    """

    title = "Tokens kept of trees and the most that can be, letters"

    values: dict[Key, dict[str, float]]
    least: dict[Key, dict[str, float]]

    @classmethod
    def compute(cls, settings: Settings) -> TreeOptimum:
        """Return all of it, in floats; one small tree if quick."""
        models, within = letters(exact=False), QUICK_WITHIN if settings.quick else WITHIN
        values: dict[Key, dict[str, float]] = {}
        least: dict[Key, dict[str, float]] = {}
        for names in PAIRS[:1] if settings.quick else PAIRS:
            draft, target = (getattr(models, name) for name in names)
            for tree in TREES[:1] if settings.quick else TREES:
                branching = as_branching(tree)
                for drafts, (law, rules) in DRAFTS.items():
                    key = Key(*names, tree, drafts)
                    drafted = DraftedNodes(draft, branching, law)
                    values[key], least[key] = _bounds(drafted, target, within[len(branching)])
                    for name, keeper in rules.items():
                        if not (settings.quick and name in SLOW):
                            values[key] |= _kept(name, keeper, draft, target, branching)
        return cls(values, least)

    def numbers(self) -> Numbers:
        """Return one row for each pair, tree and way to draw."""
        columns = (*RULES, ONE, WHOLE, DEPTHS)
        rows: list[tuple[Cell, ...]] = []
        for key, found in self.values.items():
            rows.append((*key, *(found.get(column, "") for column in columns)))
        return Numbers((*Key._fields, *columns), tuple(rows))

    def notes(self) -> list[str]:
        """Say how near the rules and the bounds are."""
        how = (
            "E[τ] at the beginning of a text. No rule keeps more than the last three columns say: "
            "with one corrected token, with whole blocks, and the sum over depths."
        )
        return [how, *self._nearest()]

    def _nearest(self) -> list[str]:
        found = []
        for key, least in self.least.items():
            if least:
                rules = [name for name in RULES if name in self.values[key]]
                best = max(rules, key=self.values[key].__getitem__)
                short = 100 * (1 - self.values[key][best] / least[ONE])
                width = max(1 - least[name] / self.values[key][name] for name in least)
                found.append(
                    f"{key.draft} → {key.target}, {key.tree}: {best} keeps most of the rules, "
                    f"{short:.1f} % less than one corrected token allows, or more; the optima are "
                    f"{100 * width:.2f} % below the bounds at most."
                )
        return found


def _bounds(
    drafted: DraftedNodes, target: Model, within: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the bounds, and what programs say can be kept at least."""
    values, least = {DEPTHS: float(depth_bound(drafted, target).value)}, {}
    if drafted.iid and set(drafted.branching[1:]) == {1}:
        for name, corrects in ((ONE, "one"), (WHOLE, "block")):
            optimum = TextProgram(drafted, target, corrects, within).solve()
            values[name], least[name] = float(optimum.bound.value), optimum.least
    return values, least


def _kept(
    name: str, keeper: Keeper, draft: Model, target: Model, branching: tuple[int, ...]
) -> dict[str, float]:
    """Return what a rule keeps by its name; nothing if it does not serve the tree."""
    try:
        return {name: float(keeper(draft, target, branching))}
    except ValueError:
        return {}
