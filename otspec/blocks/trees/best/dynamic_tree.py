"""Dynamic trees: certain drafts, for each text those of greatest worth (EAGLE-2, sec. 4)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from otspec._base import Array, Number, as_numbers, cached_property
from otspec._base.arguments import as_callable, as_choice
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import DraftedTree, Found
from otspec.blocks.trees.verifiers.draft_selection import selected_by_depth
from otspec.chance import Chance
from otspec.coupling import match
from otspec.distributions import as_k
from otspec.models.base import MOST_DEPTH, Model, Prefix


class Grown(NamedTuple):
    """A node of a tree that was grown."""

    path: Prefix  # the tokens from the root to the node, itself included
    worth: Any  # the product of the estimates along the path


def grown(
    estimate: Callable[[Prefix], Array], nodes: int, levels: int, widest: int | None = None
) -> list[Grown]:
    """Return the nodes of greatest worth by descending worth, of equals the higher first.

    ``estimate``: from a path to the estimate of each next token, from 0 to 1, shape (n,). Of each
    level the ``widest`` best nodes go on, with so many children each; by default all. A child is
    worth no more than its parent, so that parents are always there; worth 0 is no node.
    """
    most = nodes if widest is None else min(widest, nodes)
    best: list[Grown] = []
    level = [Grown((), 1)]
    for _ in range(levels):
        below = [child for node in level for child in _children(node, estimate(node.path), most)]
        best = _greatest([*best, *below], nodes)
        found = set(best)
        level = _greatest((child for child in below if child in found), most)
    return best


def _children(node: Grown, estimates: Array, most: int) -> list[Grown]:
    """Return the children of greatest worth, of equals the lower token ids."""
    likeliest = np.argsort(-estimates, kind="stable")[:most].tolist()
    row = estimates.tolist()
    return [
        Grown((*node.path, token), node.worth * row[token]) for token in likeliest if row[token] > 0
    ]


def _greatest(found: Iterable[Grown], most: int) -> list[Grown]:
    """Return so many of greatest worth, of equals those that come first."""
    return sorted(found, key=lambda node: -node.worth)[:most]


MOST_NODES = 100_000  # most nodes of a tree


@dataclass(frozen=True, eq=False)
class DynamicTree(BlockRule):
    """Draft the nodes of greatest path probability, another tree for every text.

    Drafting draws nothing, and a draw from the target verifies: a node is kept if the target's text
    goes through it, and no rule keeps more of certain drafts (Theory, 13). So E[τ] is the sum of
    the target's path probabilities over the nodes. Grown by those themselves (``by="target"``) the
    tree keeps the most of all certain trees with so many nodes and levels. Nothing is drafted after
    an end token of the target.

    Law: what is kept and its continuation is the target's text. Source: EAGLE-2, sec. 4 (there a
    level goes on with ``widest`` nodes), verified as serving stacks do it, see
    :class:`otspec.rules.TargetOnly`.

    Parameters
    ----------
    draft, target
        As for :class:`otspec.blocks.base.BlockRule`.
    nodes, levels : int
        The most nodes and levels.
    widest : int, optional
        How many nodes of each level go on, with how many children each; by default all there is
        room for.
    by : str
        Whose path probabilities the tree is grown by, ``"draft"`` or ``"target"``.
    confidence : callable, optional
        From a distribution of the next token to the estimated chance of each token to be kept, from
        0 to 1, such as ``lambda row: row**0.8``.

    Raises
    ------
    ValueError
        Models, numbers or names that cannot be used; later, estimates that are none.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["2/3", "1/3"]), memoryless(["3/4", "1/4"])
    >>> rule = DynamicTree(draft, target, nodes=3, levels=2)
    >>> [path for path, _ in rule.grown], rule.expected()
    ([(0,), (0, 0), (1,)], Fraction(25, 16))
    """

    nodes: int
    levels: int
    widest: int | None = None
    by: str = "draft"
    confidence: Callable[[Array], Any] | None = None

    title: ClassVar[str] = "dynamic tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.confidence is not None:
            as_callable(self.confidence, "confidence", "a function of a distribution")
        self._hold(
            nodes=as_k(self.nodes, "nodes", MOST_NODES, otherwise="draft fewer tokens"),
            levels=as_k(self.levels, "levels", MOST_DEPTH, otherwise="use fewer levels"),
            widest=None if self.widest is None else as_k(self.widest, "widest"),
            by=as_choice(self.by, "by", ("draft", "target")),
        )

    @property
    def depth(self) -> int:
        """The most levels."""
        return self.levels

    @cached_property
    def grown(self) -> tuple[Grown, ...]:
        """The nodes, parents before their children, with what they were grown by."""
        return tuple(grown(self._estimates, self.nodes, self.levels, self.widest))

    def _estimates(self, path: Prefix) -> Array:
        if self.target.ended(path):  # nothing is drafted after an end token
            return self.target(path) * 0
        guide: Model = self.draft if self.by == "draft" else self.target
        if self.confidence is None:
            return guide(path)
        estimates = as_numbers(self.confidence(guide(path)), "confidence")
        if estimates.shape != (guide.n,) or not ((estimates >= 0) & (estimates <= 1)).all():
            raise ValueError(
                f"confidence gives {estimates.tolist()!r:.80}: it must give a chance from 0 to 1 "
                f"for each of {guide.n} tokens"
            )
        return estimates

    @property
    def drafted(self) -> DraftedTree:
        """The tree with its tokens."""
        return DraftedTree.of_texts((path for path, _ in self.grown), self.draft, self.target)

    def draw(self, chance: Chance) -> DraftedTree:  # noqa: ARG002 # nothing is drawn
        """Return the tree, which is certain."""
        return self.drafted

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Draw from the target, as long as the tree goes on with the token."""
        return matched_by_depth(drafts, chance)

    def expected(self) -> Number:
        """Return E[τ], the sum of the target's path probabilities over the nodes."""
        masses: dict[Prefix, Any] = {(): self.target.number(1)}
        for path, _ in self.grown:
            masses[path] = masses[path[:-1]] * self.target(path[:-1])[path[-1]]
        return self.target.number(sum(masses.values()) - 1)


def matched_by_depth(drafts: DraftedTree, chance: Chance) -> Found:
    """Verify a tree by draws from the target as long as its tokens go on; no draft law is asked."""
    return selected_by_depth(
        lambda node, tokens: match(drafts.target(node), tokens, chance), drafts
    )
