"""Drafted tokens with what both models say of them: what ``verify(drafts, chance)`` is given."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from otspec._base import Frozen, cached_property, children_of
from otspec.distributions import Distribution
from otspec.models.base import Model, Prefix

ROOT = -1  # the number of the text that is drafted after, beside the nodes 0, 1, …

Found: TypeAlias = "int | Distribution | tuple[int, Distribution]"
"""What ``verify(drafts, chance)`` returns: a node, a distribution, or both."""


def node_and_row(found: Found) -> tuple[int, Distribution | None]:
    """Return the node that is kept, and the distribution after it if it is not the target's."""
    if isinstance(found, tuple):
        return found
    return (found, None) if isinstance(found, int) else (ROOT, found)


@dataclass(frozen=True, eq=False)
class DraftedTree(Frozen, Sequence[int]):
    """Drafted tokens, each after its parent, and the distributions of both models after each node.

    As a sequence it has the token of each node, parents before their children; so a chain is the
    drafted block itself. Node −1 is the text before.

    Parameters
    ----------
    tokens, parents : tuple of int
        The token and the parent of each node.
    draft, target : callable
        From a node to the distribution of the token after it, shape (n,); the draft's is asked only
        where something is drafted.
    families : mapping, optional
        From nodes to their children, one for each draft in the order of drawing: equal drafts that
        are one node have it several times. By default each node is one draft.
    top : frozenset of int
        The nodes whose children are not drawn but the likeliest tokens.
    """

    tokens: Prefix
    parents: tuple[int, ...]
    draft: Callable[[int], Distribution] = field(repr=False)
    target: Callable[[int], Distribution] = field(repr=False)
    families: Mapping[int, tuple[int, ...]] | None = None
    top: frozenset[int] = frozenset()

    @classmethod
    def of_models(
        cls, tokens: Sequence[int], parents: Sequence[int], draft: Model, target: Model, **more: Any
    ) -> "DraftedTree":
        """Return the tree with what two language models say; ``more`` are the other fields."""
        texts: list[Prefix] = []
        for token, parent in zip(tokens, parents, strict=True):
            texts.append((*(texts[parent] if parent >= 0 else ()), token))
        texts.append(())  # of −1
        of_draft, of_target = (_RowsAfter(model, tuple(texts)) for model in (draft, target))
        return cls(tuple(tokens), tuple(parents), of_draft, of_target, **more)

    @classmethod
    def chain(cls, block: Sequence[int], draft: Model, target: Model) -> "DraftedTree":
        """Return one drafted block."""
        return cls.of_models(block, range(ROOT, len(block) - 1), draft, target)

    @classmethod
    def of_texts(cls, texts: Iterable[Prefix], draft: Model, target: Model) -> "DraftedTree":
        """Return the tree of drafted texts, parents first, each as often as it is drafted."""
        nodes: dict[Prefix, int] = {(): ROOT}
        families: dict[int, tuple[int, ...]] = {}
        for text in texts:
            nodes.setdefault(text, len(nodes) - 1)
            parent = nodes[text[:-1]]
            families[parent] = (*families.get(parent, ()), nodes[text])
        drafted = [text for text in nodes if text]
        tokens, parents = [text[-1] for text in drafted], [nodes[text[:-1]] for text in drafted]
        return cls.of_models(tokens, parents, draft, target, families=families)

    def __len__(self) -> int:
        return len(self.tokens)

    @overload
    def __getitem__(self, node: int) -> int: ...

    @overload
    def __getitem__(self, node: slice) -> Prefix: ...

    def __getitem__(self, node: int | slice) -> int | Prefix:
        return self.tokens[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self.tokens)

    def children(self, node: int = ROOT) -> tuple[int, ...]:
        """Return the child of each draft after a node, or after the text."""
        return self._families.get(node, ())

    @cached_property
    def _families(self) -> Mapping[int, tuple[int, ...]]:
        if self.families is not None:
            return self.families
        return {node: below for node, below in enumerate(children_of(self.parents), ROOT) if below}

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the first after the text to a node, itself included."""
        found: list[int] = []
        while node != ROOT:
            found.append(node)
            node = self.parents[node]
        return tuple(reversed(found))

    def text(self, node: int) -> Prefix:
        """Return the drafted tokens up to a node, its own included."""
        return tuple(self.tokens[each] for each in self.path(node))

    def node(self, text: Prefix) -> int:
        """Return the first node at the end of a drafted text."""
        found = ROOT
        for token in text:
            found = next(child for child in self.children(found) if self.tokens[child] == token)
        return found


class _RowsAfter:
    """The distributions of a model after some texts, each asked for once."""

    def __init__(self, model: Model, texts: tuple[Prefix, ...]) -> None:
        self._model, self._texts = model, texts
        self._rows: dict[int, Distribution] = {}

    def __call__(self, node: int) -> Distribution:
        row = self._rows.get(node)
        if row is None:
            row = self._rows[node] = self._model(self._texts[node])
        return row
