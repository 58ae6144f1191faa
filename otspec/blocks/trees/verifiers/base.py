"""What every rule for trees of drafts answers: how they are drawn, and what is kept of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from otspec._base import Number, shown
from otspec.blocks.base import BlockRule
from otspec.blocks.drafted_tree import ROOT, DraftedTree
from otspec.blocks.trees.shapes import LEAF, Shape, as_shape
from otspec.blocks.trees.verifiers.nodes import made_rule
from otspec.chance import Chance
from otspec.drafts import IID, DraftLaw
from otspec.models.base import Prefix
from otspec.rules import TargetOnly


class Growing:
    """A tree that is being drafted, and whether a drafted text has ended."""

    def __init__(self, tree: Shape, ended: Callable[[Prefix], bool]) -> None:
        self._ended = ended
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.texts: dict[int, Prefix] = {ROOT: ()}
        self.shapes: dict[int, Shape] = {ROOT: LEAF if ended(()) else tree}
        """What is to be drafted after each node."""
        self._families: dict[int, tuple[int, ...]] = {}

    @property
    def level(self) -> list[int]:
        """The first node to go on with: the text itself, if anything is drafted."""
        return [ROOT] if self.shapes[ROOT].children else []

    def branch(self, node: int, drafts: Sequence[int], together: bool) -> list[int]:
        """Add the drafts after a node, and return which new nodes go on."""
        # Distinct drafts may be fewer than the children. ``together``: equal drafts are one node,
        # with the children of all; else the first goes on.
        shape, nodes, places = self.shapes[node], dict[int, int](), dict[int, list[int]]()
        for place, token in enumerate(drafts):
            if token not in nodes:
                nodes[token] = len(self.tokens)
                self.tokens.append(token)
                self.parents.append(node)
                places[nodes[token]] = [place]
            elif together:
                places[nodes[token]].append(place)
        self._families[node] = tuple(nodes[token] for token in drafts)
        for child, going in places.items():
            self.texts[child] = (*self.texts[node], self.tokens[child])
            over = self._ended(self.texts[child])
            self.shapes[child] = LEAF if over else shape.after(going)
        return [child for child in places if self.shapes[child].children]

    def fields(self) -> dict[str, Any]:
        """Return the fields of the drafted tree, without the distributions."""
        certain = (node for node in self._families if self.shapes[node].top)
        return {
            "tokens": tuple(self.tokens),
            "parents": tuple(self.parents),
            "families": self._families,
            "top": frozenset(certain),
        }


@dataclass(frozen=True, eq=False)
class TreeRule(BlockRule):
    """A rule that keeps a path from the root of a tree of drafts, and says what follows it.

    Subclasses give :meth:`verify`, and :meth:`children_law` unless drawn children are i.i.d. They
    say whether they verify trees in which some are not drawn.

    Parameters
    ----------
    draft, target
        As for :class:`otspec.blocks.base.BlockRule`.
    tree : str, sequence of int, TokenTree or Shape
        Which tree is drafted, see :func:`otspec.blocks.as_shape`: ``"4x2x1"``, or any other.
    """

    tree: Shape

    name: ClassVar[str]
    """What :data:`otspec.blocks.TREE_VERIFIERS` calls the rule."""
    takes_top: ClassVar[bool] = False
    """Whether children may be the likeliest tokens, see :class:`otspec.blocks.Shape`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        tree = as_shape(self.tree)
        if not (tree.drawn or self.takes_top):
            raise ValueError(
                f"tree is {shown(tree.text)}, but {type(self).__name__} verifies trees of drawn "
                "tokens only: leave out top, or use DraftSelection"
            )
        self._hold(tree=tree)

    @classmethod
    def serves(cls, tree: Shape) -> bool:
        """Whether the rule verifies such trees."""
        return tree.drawn or cls.takes_top

    @property
    def merge(self) -> bool:
        """Whether equal i.i.d. children are one node; a rule may have a field of this name."""
        return True

    @property
    def depth(self) -> int:
        """L, the depth of the tree."""
        return self.tree.depth

    @property
    def branching(self) -> tuple[int, ...] | None:
        """The children by depth if those of one depth have equally many, else None."""
        return self.tree.branching

    def with_tree(self, tree: Any) -> Self:
        """Return the same rule for another tree."""
        return replace(self, tree=tree)

    def children_law(self, prefix: Prefix, k: int) -> DraftLaw:
        """Return the law of k drawn children of a node; distinct ones may be fewer."""
        return IID(self.draft(prefix), k)

    def drafts_law(self, prefix: Prefix, shape: Shape) -> DraftLaw:
        """Return the law of the children of a node, drawn or likeliest."""
        k = len(shape.children)
        if shape.top:
            return made_rule(TargetOnly, self.draft(prefix), self.target(prefix), k).law
        return self.children_law(prefix, k)

    def draw(self, chance: Chance) -> DraftedTree:
        """Draft a tree with the draft model, level by level."""
        growing = Growing(self.tree, self.target.ended)
        level = growing.level
        while level:
            level = [
                child
                for node in level
                for law in [self.drafts_law(growing.texts[node], growing.shapes[node])]
                for child in growing.branch(node, law.draw(chance), self.merge and law.iid)
            ]
        return DraftedTree.of_models(draft=self.draft, target=self.target, **growing.fields())

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the leaves' sequences, none the beginning of another."""
        law = self._candidates((), self.tree)
        return {sequences: self.target.number(mass) for sequences, mass in law.items()}

    def _candidates(self, prefix: Prefix, shape: Shape) -> dict[frozenset[Prefix], Any]:
        """Return the law of what may follow a node."""
        if not shape.children or self.target.ended(prefix):
            return {frozenset([()]): 1}
        law: dict[frozenset[Prefix], Any] = {}
        tuples, masses = self.drafts_law(prefix, shape).tuples()
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
            sets: dict[frozenset[Prefix], Any] = {frozenset(): mass}
            for token, child in zip(drafts, shape.children, strict=False):
                sets = _joined(sets, token, self._candidates((*prefix, token), child))
            for sequences, each in sets.items():
                law[sequences] = law.get(sequences, 0) + each
        return law


def _joined(
    sets: Mapping[frozenset[Prefix], Any], token: int, below: Mapping[frozenset[Prefix], Any]
) -> dict[frozenset[Prefix], Any]:
    """Add one independent child and what follows it to the law of a set of sequences."""
    law: dict[frozenset[Prefix], Any] = {}
    for sequences, mass in sets.items():
        for more, chance in below.items():
            union = _longest(sequences | {(token, *rest) for rest in more})
            law[union] = law.get(union, 0) + mass * chance
    return law


def _longest(sequences: frozenset[Prefix]) -> frozenset[Prefix]:
    """Leave out the sequences that others begin with."""
    if len(set(map(len, sequences))) == 1:
        return sequences
    beginnings = {text[:length] for text in sequences for length in range(len(text))}
    return sequences - beginnings
