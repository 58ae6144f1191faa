"""Rules side by side on trees of drafts: for one token, by depth, and for whole trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from otspec._base.arguments import as_list
from otspec.blocks.simulation import simulate
from otspec.blocks.trees.shapes import Shape, as_shape
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.draft_selection import DraftSelection
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.blocks.trees.verifiers.table import TREE_VERIFIERS
from otspec.blocks.trees.verifiers.token_rules import TREE_RULES
from otspec.estimate import Exact, Known, Quantity
from otspec.frames import EstimatedTokens, Rows
from otspec.models.callables import as_models
from otspec.rules import NotExactError, PairRule


@dataclass(frozen=True)
class TreeComparison:
    """What a rule keeps of a tree of drafts.

    Parameters
    ----------
    tree : str
        The children by depth, such as ``"4x2x1"``, or brackets, see
        :attr:`otspec.blocks.Shape.text`.
    rule : str
    expected : Exact or Estimate
        E[τ], the kept tokens; over logged blocks its mean, an estimate if the rule is simulated.
    error : float
        The standard error of a mean over logged blocks; 0 if exact, NaN for a single block.
    """

    tree: str
    rule: str
    expected: EstimatedTokens
    error: Annotated[float, "tokens"] = 0.0

    @property
    def nodes(self) -> int:
        """The drafted tokens of the tree."""
        return as_shape(self.tree).size

    @property
    def efficiency(self) -> Annotated[Quantity, "tokens"]:
        """Tokens per call of the target, E[τ] + 1."""
        return self.expected + 1


def compare_trees(
    draft: Any, target: Any, trees: Sequence[Any], *, size: int = 400, seed: int = 0
) -> Rows[TreeComparison]:
    """Compare all rules on trees of drafts by their exact E[τ].

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.base.BlockRule`.
    trees : sequence
        Trees such as ``"4x2x1"``, see :func:`otspec.blocks.as_shape`. Rules for pairs of drafts
        serve those only in which each node has two children or none.
    size, seed : int
        Of the simulation where a rule has no exact sum; its E[τ] is an
        :class:`otspec.estimate.Estimate`.

    Raises
    ------
    ValueError
        Unusable models or trees.
    """
    models = as_models(draft, target)
    found: list[TreeComparison] = []
    for tree in as_trees(trees):
        for rule in rules_for(tree):
            by_depth = DraftSelection(*models, tree, rule)
            found.append(TreeComparison(tree.text, rule.title, _expected(by_depth, size, seed)))
        whole = [kind(*models, tree) for kind in TREE_VERIFIERS.values() if kind.serves(tree)]
        kept = _all_expected(whole, size, seed)
        found += [TreeComparison(tree.text, rule.title, each) for rule, each in kept]
    return Rows(found, TreeComparison, "trees of drafts")


def _all_expected(
    rules: Iterable[TreeRule], size: int, seed: int
) -> Iterator[tuple[TreeRule, Known]]:
    """Yield rules for whole trees with E[τ], of which those from leaf to root agree on a path."""
    of_chain = None
    for rule in rules:
        same = isinstance(rule, LeafToRoot) and rule.as_block is not None
        kept = of_chain if same and of_chain is not None else _expected(rule, size, seed)
        of_chain = kept if same else of_chain
        yield rule, kept


def _expected(rule: TreeRule, size: int, seed: int) -> Known:
    """Return E[τ], simulated if there is no exact sum."""
    try:
        return Exact(rule.expected())
    except NotExactError:
        return simulate(rule, size, seed) - 1


def as_trees(trees: Any) -> list[Shape]:
    """Check trees of drafts."""
    given = as_list(trees, "trees", "a sequence of trees")
    return [as_shape(tree, f"trees[{i}]") for i, tree in enumerate(given)]


def rules_for(tree: Shape) -> Iterator[type[PairRule]]:
    """Yield the rules that serve a tree."""
    for rule in TREE_RULES.values():
        if rule.only_k is None or tree.widths == {rule.only_k}:
            yield rule
