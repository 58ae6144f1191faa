"""Rules side by side on trees of drafts: at one tree, and at many (MCSD, sec. 4.3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any

from otspec._base import MOST_ITEMS, as_flag, as_list
from otspec.blocks.decoding import simulate
from otspec.blocks.trees.shapes import Shape, as_shape
from otspec.blocks.trees.token_tree import as_text
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.draft_selection import DraftSelection
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.blocks.trees.verifiers.nodes import TREE_RULES, TokenRule
from otspec.blocks.trees.verifiers.table import TREE_VERIFIERS
from otspec.distributions import as_k
from otspec.estimate import Exact, Known, Quantity
from otspec.frames import EstimatedTokens, Rows
from otspec.models.base import MOST_DEPTH, as_models
from otspec.rules import NotExactError, PairRule


@dataclass(frozen=True)
class Configuration:
    """A tree of drafts by its children at each depth, and its efficiency E[τ] + 1."""

    branching: tuple[int, ...]
    efficiency: EstimatedTokens

    @property
    def name(self) -> str:
        """The configuration as MCSD writes it, such as ``"4x2x1"``."""
        return as_text(self.branching)

    @property
    def nodes(self) -> int:
        """Drafted tokens of the whole tree, all of which the target scores."""
        return sum(prod(self.branching[: depth + 1]) for depth in range(len(self.branching)))


def configurations(budget: int, length: int) -> Iterator[tuple[int, ...]]:
    """Return all branchings of a length with so many candidate sequences, in lexicographic order.

    Parameters
    ----------
    budget : int
        K = Π k_i, the leaves of the tree. Source: MCSD, sec. 4.3.
    length : int
        The depth of the trees.

    Raises
    ------
    ValueError
        Numbers that are not positive integers.

    Examples
    --------
    >>> list(configurations(4, 2))
    [(1, 4), (2, 2), (4, 1)]
    """
    length = as_k(length, "length", MOST_DEPTH)
    return _factored(as_k(budget, "budget", MOST_ITEMS), length)


def _factored(budget: int, length: int) -> Iterator[tuple[int, ...]]:
    if length == 1:
        yield (budget,)
        return
    for width in range(1, budget + 1):
        if budget % width == 0:
            yield from ((width, *rest) for rest in _factored(budget // width, length - 1))


def sweep(
    draft: Any,
    target: Any,
    budget: int,
    length: int,
    rule: TokenRule,
    *,
    merge: bool = True,
    size: int | None = None,
    seed: int = 0,
) -> Rows[Configuration]:
    """Compare all trees of one length and one number of candidate sequences, the best first.

    Of equals the wider at the top comes first.

    Parameters
    ----------
    draft, target, rule, merge
        As for :class:`DraftSelection`.
    budget, length : int
        Candidate sequences, the product of the branching; depth of the trees.
    size, seed : int, optional
        Simulate so many blocks for each tree; by default the efficiencies are exact.

    Raises
    ------
    ValueError
        As :class:`DraftSelection` and its :meth:`DraftSelection.expected`, or :func:`simulate`.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> [(c.name, str(c.efficiency)) for c in sweep(draft, target, 2, 2, RecursiveRejection)]
    [('2x1', '165/64'), ('1x2', '77/32')]
    """
    as_flag(merge, "merge")
    length = as_k(length, "length", MOST_DEPTH)
    found = []
    start = DraftSelection(draft, target, as_shape((1,) * length), rule, merge)
    for branching in reversed(list(configurations(budget, length))):
        selection = start.with_tree(branching)
        worth: Known = (
            Exact(selection.efficiency()) if size is None else simulate(selection, size, seed)
        )
        found.append(Configuration(branching, worth))
    ordered = sorted(found, key=lambda configuration: -configuration.efficiency.value)
    return Rows(ordered, Configuration, "trees of one number of candidate sequences")


@dataclass(frozen=True)
class TreeComparison:
    """What a rule keeps of a tree of drafts.

    Parameters
    ----------
    tree, rule : str
        The tree as :attr:`otspec.blocks.Shape.text` writes it.
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
