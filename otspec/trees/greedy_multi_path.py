"""Greedy multi-path block verification (Theory, 26): the greatest of K paths, as one block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from otspec.arguments import as_generator, as_instance, as_integer, as_list, as_tokens
from otspec.arithmetic import Number
from otspec.blocks.block_verify_published import BlockVerifyPublished
from otspec.blocks.contract import BlockRule, Outcome
from otspec.blocks.greatest_path import GreatestPath
from otspec.blocks.single_draft import MOST_LENGTH
from otspec.distributions import as_k
from otspec.drafts.contract import draw
from otspec.models.contract import Prefix, as_beginnings
from otspec.raw import shown
from otspec.trees.contract import DraftedTree
from otspec.trees.token_tree import TokenTree

MOST_PATHS = 10_000
"""Most paths of a block."""


@dataclass(frozen=True, eq=False)
class GreedyMultiPath(BlockRule):
    """Choose the greatest of K independent paths of L tokens, and verify it alone.

    At each node the path goes on with the drafted child of the highest M_b/M_s, of equal ones
    the one with the larger number. The law of the chosen path has a closed form, see
    :class:`otspec.blocks.greatest_path.GreatestPath`; published block verification with that law
    in place of the draft model decides how much of it is kept, and corrects one token.

    Law: what is kept and its continuation is the target's text, whatever the order of the ranks.
    E[τ] = Σ_s a(s) over texts of 1 to L tokens, a(∅) = 1, a(sx) = min(a(s) M_b(x | s), G(sx)),
    where G is the law of the chosen path. Where M_b/M_s is nearly the same for all tokens, and
    so where both models agree, that is less than one path keeps (validation book, gbv.thm4).
    Source: GBV (Thomas and Pal, 2026).

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.contract.BlockRule`.
    paths : int
        K, at most 10,000.
    length : int
        L, the tokens of each path.

    Raises
    ------
    ValueError
        Models or numbers that cannot be used.

    Examples
    --------
    >>> from otspec.blocks import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> GreedyMultiPath(draft, target, paths=2, length=2).expected()
    Fraction(2, 1)
    """

    title: ClassVar[str] = "greedy multi-path block verification"
    batch: ClassVar[str | None] = "greedy_multi_path"

    paths: int
    length: int

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = {"paths": (self.paths, MOST_PATHS), "length": (self.length, MOST_LENGTH)}
        checked = {
            name: as_integer(as_k(value, name), name, 1, most, otherwise=f"use fewer {name}")
            for name, (value, most) in numbers.items()
        }
        self._hold(**checked)

    @property
    def depth(self) -> int:
        """L, the tokens of a path."""
        return self.length

    @cached_property
    def chosen(self) -> GreatestPath:
        """The law of the chosen path, as a language model."""
        return GreatestPath(self.draft, self.target, self.paths)

    @cached_property
    def _verified(self) -> BlockVerifyPublished:
        return BlockVerifyPublished(self.chosen, self.target, self.length)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield each beginning of a block with the probability that it is what is kept.

        n^L paths are enumerated.
        """
        return self._verified.outcomes()

    def expected(self) -> Number:
        """Return E[τ] by the formula, text by text: n^L of them."""
        return self._verified.expected()

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random, by the formula after each."""
        total: Any = self.target.number(0)
        for text, mass in as_beginnings(beginnings, self.target).items():
            after = self.restarted(self.draft.after(text), self.target.after(text))
            total += mass * after.expected()
        return self.target.number(total)

    def sample(self, rng: np.random.Generator) -> Outcome:
        """Draw K paths and verify them."""
        return self.verify(self.draw(rng), rng)

    def draw(self, rng: np.random.Generator) -> DraftedTree:
        """Draw K paths from the draft model, as the tree Kx1x…x1."""
        as_generator(rng)
        tree = TokenTree.of_branching((self.paths, *[1] * (self.length - 1)))
        tokens: list[int] = []
        for node in range(len(tree)):
            text = tuple(tokens[before] for before in tree.path(node)[:-1])
            tokens.append(int(draw(self.draft(text), 1, rng)[0]))
        return DraftedTree(tree, tuple(tokens))

    def verify(self, drafted: DraftedTree, rng: np.random.Generator) -> Outcome:
        """Choose the greatest path of a drafted tree, and draw how much of it is kept.

        Parameters
        ----------
        drafted : DraftedTree
            As :meth:`draw` returns it.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            No drafted tree, or another one than of K paths of L tokens that can be drafted.
        """
        wanted = "a DraftedTree, as draw() returns it"
        tree, tokens = as_instance(drafted, "drafted", DraftedTree, wanted)
        if tree != TokenTree.of_branching((self.paths, *[1] * (self.length - 1))):
            raise ValueError(
                f"drafted is a tree of {len(tree)} nodes: it must be {self.paths} paths of "
                f"{self.length} tokens, as draw() returns them"
            )
        paths = [tuple(tokens[node] for node in tree.path(leaf)) for leaf in tree.leaves]
        return self._verified.verify(self.greatest(paths), rng)

    def greatest(self, paths: Sequence[Prefix]) -> Prefix:
        """Return the greatest of some paths.

        Parameters
        ----------
        paths : sequence of sequence of int
            Texts of L tokens.

        Raises
        ------
        ValueError
            None at all, or something else.
        """
        given = as_list(paths, "paths", "a sequence of paths")
        left = [as_tokens(path, self.draft.n, f"paths[{i}]") for i, path in enumerate(given)]
        if not left or any(len(path) != self.length for path in left):
            raise ValueError(f"paths is {shown(paths)}: give paths of {self.length} tokens each")
        for depth in range(self.length):
            order = self.chosen.order(left[0][:depth]).tolist()
            highest = max((path[depth] for path in left), key=order.index)
            left = [path for path in left if path[depth] == highest]
        return left[0]

    def candidates(self) -> dict[frozenset[Prefix], Number]:
        """Return the law of the set of drafted paths; all K-tuples of paths are enumerated."""
        law: dict[frozenset[Prefix], Any] = {frozenset(): self.target.number(1)}
        for _ in range(self.paths):
            more: dict[frozenset[Prefix], Any] = {}
            for sequences, mass in law.items():
                for path, chance in self.draft.texts(self.length):
                    union = sequences | {path}
                    more[union] = more.get(union, 0) + mass * chance
            law = more
        return law
