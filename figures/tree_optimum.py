"""What rules keep of trees of drafts, beside the most that can be kept, on the letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec.arithmetic import Number
from otspec.datasets import letters
from otspec.drafts import IID, WithoutReplacement
from otspec.models import Model
from otspec.programs import DraftedTree, TextProgram, depth_bound
from otspec.rules import (
    KSequential,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)
from otspec.trees import DraftSelection, as_branching
from otspec.trees.token_rules import TokenRule

Keeper: TypeAlias = Callable[[Model, Model, tuple[int, ...]], Number]
"""(draft, target, branching) → E[τ] at the beginning of a text."""


def by_depth(rule: TokenRule) -> Keeper:
    """Return what a rule for one token keeps, depth by depth."""

    def kept(draft: Model, target: Model, branching: tuple[int, ...]) -> Number:
        return DraftSelection(draft, target, branching, rule).expected()

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
            "k-sequential": by_depth(KSequential),
            "pooled": by_depth(PooledSelection),
        },
    ),
    "distinct": Drafts(
        WithoutReplacement,
        {
            "rejection": by_depth(RecursiveRejectionWithoutReplacement),
            "pooled": by_depth(PooledSelectionWithoutReplacement),
        },
    ),
}
"""A rule is added here; what it does not serve, it leaves out by a ``ValueError``."""
RULES = tuple(dict.fromkeys(name for drafts in DRAFTS.values() for name in drafts.rules))
PAIRS = (("unigram", "bigram"), ("bigram", "trigram"))
TREES = ("2x1", "3x1", "4x1", "2x2", "2x1x1")
WITHIN = {2: 1e-4, 3: 2e-2}
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
        models = letters(exact=False)
        values: dict[Key, dict[str, float]] = {}
        least: dict[Key, dict[str, float]] = {}
        for names in PAIRS[:1] if settings.quick else PAIRS:
            draft, target = (getattr(models, name) for name in names)
            for tree in TREES[:1] if settings.quick else TREES:
                for drafts in DRAFTS:
                    key = Key(*names, tree, drafts)
                    values[key], least[key] = _found(draft, target, as_branching(tree), drafts)
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
                short = 100 * (1 - self.values[key]["pooled"] / least[ONE])
                width = max(1 - least[name] / self.values[key][name] for name in least)
                found.append(
                    f"{key.draft} → {key.target}, {key.tree}: pooled selection keeps at least "
                    f"{short:.1f} % less than the best that corrects one token; the optima are "
                    f"{100 * width:.2f} % below the bounds at most."
                )
        return found


def _found(
    draft: Model, target: Model, branching: tuple[int, ...], drafts: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Return what rules keep and the bounds, and what programs say can be kept at least."""
    law, rules = DRAFTS[drafts]
    values: dict[str, float] = {}
    for name, keeper in rules.items():
        try:
            values[name] = float(keeper(draft, target, branching))
        except ValueError:
            continue
    tree = DraftedTree(draft, branching, law)
    values[DEPTHS] = float(depth_bound(tree, target).value)
    least: dict[str, float] = {}
    if law is IID and set(branching[1:]) == {1}:
        for name, corrects in ((ONE, "one"), (WHOLE, "block")):
            optimum = TextProgram(tree, target, corrects, WITHIN[len(branching)]).solve()
            values[name], least[name] = float(optimum.bound.value), optimum.least
    return values, least
