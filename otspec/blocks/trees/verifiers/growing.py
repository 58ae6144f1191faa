"""A tree that is being drafted, level by level: which drafts are one node, and what goes on."""

from collections.abc import Callable, Sequence
from typing import Any

from otspec.blocks.drafted_tree import ROOT, DraftedTree
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.models.base import Model, Prefix


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

    def branch(
        self, node: int, drafts: Sequence[int], together: bool
    ) -> tuple[list[int], dict[int, list[int]]]:
        """Add the drafts after a node; return which new nodes go on, and with which drafts each."""
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
        return [child for child in places if self.shapes[child].children], places

    def fields(self) -> dict[str, Any]:
        """Return the fields of the drafted tree, without the distributions."""
        certain = (node for node in self._families if self.shapes[node].top)
        return {
            "tokens": tuple(self.tokens),
            "parents": tuple(self.parents),
            "families": self._families,
            "top": frozenset(certain),
        }

    def drafted(self, draft: Model, target: Model) -> DraftedTree:
        """Return the tree as it is, with what two language models say."""
        return DraftedTree.of_models(draft=draft, target=target, **self.fields())
