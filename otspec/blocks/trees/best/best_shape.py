"""The draft tree with the largest E[τ] of all trees of a size (Sequoia, sec. 4.1, for every rule).

With equal drafts apart, a rule for one token keeps draft i of k after a text s with a probability
a_i(s) that does not depend on what is drafted below. So with children T_1, …, T_k

    E[τ](s) = Σ_i (a_i(s) + Σ_x a_i(x | s) E[τ of T_i](sx)),

where a_i(x | s) is the probability that draft i is kept and is the token x. This is linear in what
the subtrees keep. Three modules follow from it:

1. ``acceptance_rates`` has a_i and a_i(x) after every *place*, which is what both models remember
   of a text.
2. ``allotment`` shares out the nodes among the children, child by child, by Sequoia's recursion.
3. ``children`` lists the candidates T_i, level by level, from the leaves up. Where the models
   remember nothing one candidate of each size is enough, as in Sequoia. Else one subtree may be
   better after one text and another after another text, and all of them are candidates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from otspec._base import Frozen, Number, Shown, as_number, cached_property
from otspec._base.arguments import as_callable, as_choice, as_integer
from otspec.blocks.trees.best.acceptance_rates import Chances, chances_of_models
from otspec.blocks.trees.best.allotment import KEEP, Allotment, best_at_every_place
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.distributions import as_k
from otspec.frames import Tokens
from otspec.models.base import BEGINNING, MOST_DEPTH, Prefix, as_beginnings, as_models

MOST_NODES = 4_096  # most nodes of a tree that is searched for


@dataclass(frozen=True)
class BestTree(Shown):
    """A tree of drafts and what it is worth.

    Parameters
    ----------
    tree : Shape
    expected : float or Fraction
        E[τ], the kept tokens; of equal children the first goes on.
    error : float
        The standard error of a mean over logged blocks; 0 if exact, NaN for a single block.
    """

    tree: Shape
    expected: Tokens
    error: Annotated[float, "tokens"] = 0.0

    @property
    def nodes(self) -> int:
        """The drafted tokens of the tree."""
        return self.tree.size

    @property
    def efficiency(self) -> Tokens:
        """Tokens per call of the target, E[τ] + 1."""
        return self.expected + 1


@dataclass(frozen=True, eq=False)
class BestTrees(Frozen):
    """The best trees of one rule, for every limit of nodes and of levels.

    Parameters
    ----------
    chances : Chances
        The acceptance rate of each draft after each place.
    nodes, depth : int
        The largest number of nodes and of levels.
    keep : str
        ``"all"`` or ``"likely"``, see :func:`best_tree`.

    Raises
    ------
    ValueError
        Numbers that cannot be used, or too many candidates for the subtrees.
    """

    chances: Chances
    nodes: int
    depth: int
    keep: str = "all"

    def __post_init__(self) -> None:
        as_choice(self.keep, "keep", KEEP)
        self._hold(nodes=as_nodes(self.nodes), depth=as_depth(self.depth))

    def at(self, nodes: int, depth: int) -> BestTree:
        """Return the best tree with at most so many nodes and levels; ``ValueError`` beyond."""
        nodes = as_integer(nodes, "nodes", 1, self.nodes)
        return self.rows[as_integer(depth, "depth", 1, self.depth) - 1][nodes - 1]

    @property
    def best(self) -> BestTree:
        """The best of all."""
        return self.at(self.nodes, self.depth)

    @cached_property
    def rows(self) -> tuple[tuple[BestTree, ...], ...]:
        """Row d − 1, entry n − 1: the best tree with at most d levels and n nodes."""
        start = Allotment(self.chances, self.chances.start[None], self.nodes)
        rows = []
        # Candidates of 0, 1, … levels stand below the root, so the trees have 1, 2, … levels.
        for candidates in KEEP[self.keep](self.chances, self.nodes, self.depth):
            allotted = start.among(candidates)
            found = zip(allotted.trees[0][1:], allotted.values[0, 1:].tolist(), strict=True)
            rows.append(tuple(BestTree(tree, self._number(value)) for tree, value in found))
        return tuple(rows)

    @property
    def bound(self) -> Number:
        """An upper bound on E[τ] of all trees: the best tree whose shape may depend on the text."""
        return self.bounds[-1]

    @cached_property
    def bounds(self) -> tuple[Number, ...]:
        """The same bound for 1, 2, … nodes, which models attain that remember nothing."""
        # Every node may choose the tree below it after it has seen its own text.
        values = best_at_every_place(self.chances, self.nodes, self.depth)[:, 1:]
        return tuple(self._number(self.chances.start @ column) for column in values.T)

    @cached_property
    def branchings(self) -> tuple[BestTree, ...]:
        """All trees with equally many children at each node of a level, smaller first."""
        trees = sorted(self._branchings(1, LEAF), key=lambda tree: tree.size)
        kept = self.chances.all_expected(trees)
        return tuple(
            BestTree(tree, self._number(self.chances.start @ kept[tree])) for tree in trees
        )

    def _branchings(self, levels: int, below: Shape) -> Iterator[Shape]:
        """Yield the trees whose root has one or more ``below`` as children, and higher ones."""
        for k in self.chances.widths:
            if k * (below.size + 1) > self.nodes:
                break
            tree = Shape((below,) * k)
            yield tree
            if levels < self.depth:
                yield from self._branchings(levels + 1, tree)

    @property
    def branching(self) -> BestTree | None:
        """The best branching, if there is one."""
        return max(self.branchings, key=lambda each: each.expected, default=None)

    @property
    def chain(self) -> BestTree | None:
        """The longest chain, if the rule takes single drafts."""
        return max(self.chains, key=lambda each: each.expected, default=None)

    @property
    def chains(self) -> tuple[BestTree, ...]:
        """The trees without branches."""
        return tuple(each for each in self.branchings if each.tree.size == each.tree.depth)

    def expected(self, tree: Shape) -> Number:
        """Return E[τ] of a tree; of equal children the first goes on."""
        return self._number(self.chances.start @ self.chances.expected(tree))

    def _number(self, value: Any) -> Number:
        return as_number(value, like=self.chances.start)


def best_trees(
    draft: Any,
    target: Any,
    rule: TokenRule,
    nodes: int,
    depth: int,
    *,
    widest: int | None = None,
    keep: str = "all",
    beginnings: Mapping[Prefix, Number] = BEGINNING,
) -> BestTrees:
    """Return the best trees by nodes and levels; parameters are those of :func:`best_tree`."""
    models = as_models(draft, target)
    as_callable(rule, "rule", "a class of otspec.rules, or a function of draft, target and k")
    law = as_beginnings(beginnings, models[1])
    widths = as_widths(rule, as_nodes(nodes), widest)
    chances = chances_of_models(*models, rule, widths, as_depth(depth), law)
    return BestTrees(chances, nodes, depth, keep)


def best_tree(
    draft: Any,
    target: Any,
    rule: TokenRule,
    nodes: int,
    depth: int,
    *,
    widest: int | None = None,
    keep: str = "all",
    beginnings: Mapping[Prefix, Number] = BEGINNING,
) -> BestTree:
    """Return the tree with the largest E[τ] of all trees with at most so many nodes and levels.

    Of equal children only the first goes on (``merge=False`` of
    :class:`otspec.blocks.DraftSelection`). If they go on together, another tree may be better.

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.base.BlockRule`.
    rule : callable
        (draft, target, k) → a rule for one token, such as a class of :mod:`otspec.rules`.
    nodes, depth : int
        The most drafted tokens and levels.
    widest : int, optional
        The most children of a node; by default as many as nodes.
    keep : str
        Which subtrees are candidates, if the models remember something. ``"all"``: every subtree
        that is best after some text, so that the result is the best of all trees. ``"likely"``:
        those that are best for the distribution of texts at likely nodes; :attr:`BestTrees.bound`
        says how much better the best of all trees may be.
    beginnings : mapping
        The distribution of the text before the tree, as
        :meth:`otspec.blocks.DraftSelection.expected_after` takes it.

    Raises
    ------
    ValueError
        Models, a rule or numbers that cannot be used; models that tell more than 20,000 texts
        apart; with ``keep="all"`` too many candidates.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> found = best_tree(draft, target, RecursiveRejection, nodes=6, depth=4)
    >>> found.tree.text, found.expected
    ('[[[[]]][]][]', Fraction(581, 256))
    """
    return best_trees(
        draft, target, rule, nodes, depth, widest=widest, keep=keep, beginnings=beginnings
    ).best


def as_nodes(nodes: Any) -> int:
    """Check the most nodes of a tree."""
    return as_k(nodes, "nodes", MOST_NODES, otherwise="draft fewer tokens")


def as_depth(depth: Any) -> int:
    """Check the most levels of a tree."""
    return as_k(depth, "depth", MOST_DEPTH, otherwise="use fewer levels")


def as_widths(rule: TokenRule, nodes: int, widest: Any = None) -> Sequence[int]:
    """Return how many children a node may have."""
    most = nodes if widest is None else min(as_k(widest, "widest"), nodes)
    only = getattr(rule, "only_k", None)
    if only is not None and only > most:
        raise ValueError(
            f"the rule verifies exactly {only} children, but a node may have at most {most}: allow "
            "more nodes, or use another rule"
        )
    return np.arange(1, most + 1).tolist() if only is None else [only]
