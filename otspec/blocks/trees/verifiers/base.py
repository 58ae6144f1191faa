"""What every rule for trees of drafts answers: how they are drawn, and what is kept of one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from otspec._base.arguments import as_generator, as_instance
from otspec._base.arithmetic import Number
from otspec._base.coerce import shown
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.trees.shapes import LEAF, Shape, as_shape
from otspec.blocks.trees.token_tree import TokenTree
from otspec.blocks.trees.verifiers.token_rules import made_rule
from otspec.drafts import IID, DraftLaw
from otspec.models.base import Prefix
from otspec.rules import TargetOnly


class DraftedTree(NamedTuple):
    """A tree and its tokens."""

    tree: TokenTree
    tokens: Prefix
    """The token of each node."""


@dataclass(frozen=True, eq=False)
class TreeRule(BlockRule):
    """A rule that keeps a path from the root of a tree of drafts, and says what follows it.

    Subclasses give :meth:`verify` and :meth:`outcomes`, :meth:`children_law` unless drawn children
    are i.i.d., and say whether they verify trees in which some are not drawn.

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.base.BlockRule`.
    tree : str, sequence of int, TokenTree or Shape
        Which tree is drafted, see :func:`otspec.blocks.as_shape`: ``"4x2x1"``, or any other.

    Raises
    ------
    ValueError
        Models or a tree that cannot be used.
    """

    tree: Shape

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

    def after(self, prefix: Prefix, shape: Shape) -> Shape:
        """Return what is drafted after a text: nothing if the target's is over."""
        return LEAF if self.target.ended(prefix) else shape

    def draw(self, rng: np.random.Generator) -> DraftedTree:
        """Draw a tree of drafts from the draft model, level by level."""
        as_generator(rng)
        parents: list[int] = []
        tokens: list[int] = []
        level: list[tuple[int, Prefix, Shape]] = [(-1, (), self.after((), self.tree))]
        while level:
            below: list[tuple[int, Prefix, Shape]] = []
            for node, prefix, shape in level:
                if not shape.children:
                    continue
                drafts = self.drafts_law(prefix, shape).sample(1, rng)[0].tolist()
                for token, child in zip(drafts, shape.children, strict=False):
                    text = (*prefix, token)
                    below.append((len(parents), text, self.after(text, child)))
                    parents.append(node)
                    tokens.append(token)
            level = below
        return DraftedTree(TokenTree(tuple(parents)), tuple(tokens))

    @abstractmethod
    def verify(self, drafted: DraftedTree, rng: np.random.Generator) -> Outcome:
        """Keep a path of a drafted tree.

        Parameters
        ----------
        drafted : DraftedTree
            As :meth:`draw` returns it; its tree may also be another one of the same shape.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            No drafted tree, or no generator.
        """

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw a tree of drafts and verify it."""
        return self.verify(self.draw(rng), rng)

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the set of candidate sequences, the leaves of the tree.

        Returns
        -------
        dict
            From sets of sequences, of which none is the beginning of another, to their
            probabilities, for :class:`otspec.programs.CandidateProgram`; all trees are
            enumerated, so only the smallest sizes.
        """
        law = self._candidates((), self.after((), self.tree))
        return {sequences: self.target.number(mass) for sequences, mass in law.items()}

    def _candidates(self, prefix: Prefix, shape: Shape) -> dict[frozenset[Prefix], Any]:
        """Return the law of what may follow a node."""
        if not shape.children:
            return {frozenset([()]): 1}
        law: dict[frozenset[Prefix], Any] = {}
        tuples, masses = self.drafts_law(prefix, shape).tuples()
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
            sets: dict[frozenset[Prefix], Any] = {frozenset(): mass}
            for token, child in zip(drafts, shape.children, strict=False):
                text = (*prefix, token)
                sets = _joined(sets, token, self._candidates(text, self.after(text, child)))
            for sequences, each in sets.items():
                law[sequences] = law.get(sequences, 0) + each
        return law


class Agreeing(NamedTuple):
    """A node of a drafted tree that agrees with a text, and what is drafted after it."""

    node: int
    shape: Shape


class Siblings(NamedTuple):
    """What is drafted after a text that some nodes agree with, see :func:`together`."""

    top: bool
    places: list[list[Agreeing]]
    """The nodes of each child: several, if it is one of the likeliest tokens of several nodes."""


def drafted_after(agreeing: Iterable[Agreeing], tree: TokenTree) -> Siblings:
    """Return the children of nodes that agree with a text."""
    going = [each for each in agreeing if each.shape.children]
    top = bool(going) and going[0].shape.top
    places: list[list[Agreeing]] = []
    for node, shape in going:
        children = list(map(Agreeing, tree.children(node), shape.children))
        if shape.top and top:
            places += [[] for _ in children[len(places) :]]
            for place, child in zip(places, children, strict=False):
                place.append(child)
        elif shape.top == top:
            places += [[child] for child in children]
    return Siblings(top, places)


def as_drafted(drafted: Any) -> DraftedTree:
    """Check a drafted tree.

    Raises
    ------
    ValueError
        Something else, or another number of tokens than nodes.
    """
    as_instance(drafted, "drafted", DraftedTree, "a DraftedTree, as draw() returns it")
    as_instance(drafted.tree, "drafted.tree", TokenTree, "a TokenTree, as draw() returns it")
    if len(drafted.tokens) != len(drafted.tree):
        raise ValueError(
            f"drafted has {len(drafted.tokens)} tokens, but its tree has {len(drafted.tree)} "
            "nodes: pass one token for each node"
        )
    checked: DraftedTree = drafted
    return checked


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
