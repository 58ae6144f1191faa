"""The tree with the most tokens per second, from what trees keep and what calls cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from otspec._base import Number, Shown, as_instance
from otspec.blocks.trees.best.best_shape import BestTree, BestTrees
from otspec.blocks.trees.best.costs import StepCost
from otspec.blocks.trees.shapes import LEAF, Shape


@dataclass(frozen=True)
class TimedTree(Shown):
    """A tree of drafts, what is kept of it (E[τ]), and the seconds of drafting and verifying it."""

    tree: Shape
    expected: Number
    seconds: float

    @property
    def speed(self) -> float:
        """Tokens per second, (1 + E[τ]) / seconds; the 1 counts after an end token, too."""
        return float(1 + self.expected) / self.seconds


@dataclass(frozen=True)
class FastestTree(TimedTree):
    """The fastest tree, and the fastest ``"branching"``, ``"chain"`` and ``"no draft"``."""

    simpler: Mapping[str, TimedTree] = field(default_factory=dict)

    @property
    def losses(self) -> dict[str, float]:
        """What part of the speed each simpler choice loses."""
        return {name: 1 - each.speed / self.speed for name, each in self.simpler.items()}


def fastest_tree(trees: BestTrees, cost: StepCost) -> FastestTree:
    """Return the tree with the most tokens per second.

    Searched are, for each number of nodes and levels, the tree that keeps most, all branchings,
    and no draft at all. A tree that keeps less but has fewer nodes to read in a call of the draft
    may be faster yet, if the draft's calls cost more for more tokens.

    Parameters
    ----------
    trees : BestTrees
        The best trees by nodes and levels, see :func:`otspec.blocks.best_trees`.
    cost : StepCost

    Raises
    ------
    ValueError
        Something else.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> from otspec.blocks import best_trees
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> trees = best_trees(draft, target, RecursiveRejection, nodes=6, depth=4)
    >>> found = fastest_tree(trees, StepCost("1", "10,10,10,12,14,16,18"))
    >>> found.tree.text, round(found.speed, 4), round(found.losses["no draft"], 3)
    ('1x1', 0.1927, 0.481)
    """
    as_instance(trees, "trees", BestTrees, "what best_trees() returns")
    as_instance(cost, "cost", StepCost, "a StepCost of the draft's and the target's seconds")
    nothing = TimedTree(LEAF, trees.expected(LEAF), cost(LEAF))
    choices = {
        "branching": _fastest(trees.branchings, cost),
        "chain": _fastest(trees.chains, cost),
        "no draft": [nothing],
    }
    simpler = {name: found[0] for name, found in choices.items() if found}
    every = _fastest((tree for row in trees.rows for tree in row), cost)
    best = max([*every, *simpler.values()], key=lambda tree: tree.speed)
    return FastestTree(best.tree, best.expected, best.seconds, simpler)


def _fastest(trees: Iterable[BestTree], cost: StepCost) -> list[TimedTree]:
    """Return the fastest of some trees, if there is one."""
    timed = [TimedTree(each.tree, each.expected, cost(each.tree)) for each in trees]
    return [max(timed, key=lambda tree: tree.speed)] if timed else []
