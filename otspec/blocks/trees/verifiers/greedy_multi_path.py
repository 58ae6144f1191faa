"""Greedy multi-path block verification (Theory, 26): the greatest of K paths, as one block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import cached_property, counted, read_only, remembered, shown
from otspec._base.arithmetic import Array, IntArray, Number, counted_power, zeros
from otspec.blocks.base import BlockRule, Outcome, enumerated_expected
from otspec.blocks.block_verification import BlockVerification
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found, node_and_row
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.chance import Chance
from otspec.distributions import Distribution, as_k
from otspec.models.base import MOST_DEPTH, Model, Prefix, as_prefix
from otspec.rules.base.accepted import NotExactError


class GreatestPath(Model):
    """The law of the greatest of K independent texts of the draft model.

    After each text the tokens that may be drafted are ranked by M_b/M_s, equal ones by their
    number, and texts are compared as words in a dictionary. Law: with A(s) the probability that a
    text is below all that begin with s, and K = ``paths``, the greatest begins with s with
    probability (A(s) + M_s(s))^K − A(s)^K. So after s the next token is x with probability

    M_s(x | s) · ((b + c)^{K−1} + (b + c)^{K−2} b + … + b^{K−1}) / (1 + a + … + a^{K−1}),

    where a = A/(A + M_s)(s), b = a + (1 − a) Σ M_s(y | s) over all y below x, and c = (1 − a)
    M_s(x | s): the difference of powers divided by what would cancel.
    """

    def __init__(self, draft: Model, target: Model, paths: int) -> None:
        self._draft, self._target, self._paths = draft, target, paths
        self.n, self.exact = draft.n, draft.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the law of the next token of the greatest text."""
        return self._row(as_prefix(prefix, self.n))

    @remembered
    def _row(self, text: Prefix) -> Distribution:
        share, one = self._share(text), self.number(1)
        below, own = self._below(text, share)
        sums = _powers(below + own, below, self._paths) / _powers(one, share, self._paths)
        return read_only(self._draft(text) * sums)

    def order(self, prefix: Prefix) -> IntArray:
        """Return the tokens by rank, never drafted ones first; of equal M_b/M_s smaller ones."""
        return np.argsort(self.ratios(prefix), kind="stable")

    def ratios(self, prefix: Prefix) -> Array:
        """Return M_b/M_s of each next token, which ranks it; −1 if it is never drafted."""
        drafted, wanted = self._draft(prefix), self._target(prefix)
        possible = drafted > 0
        ratios = zeros(self.n, like=wanted) - 1
        with np.errstate(over="ignore"):
            ratios[possible] = wanted[possible] / drafted[possible]
        return ratios

    def _below(self, text: Prefix, share: Any) -> tuple[Array, Array]:
        """Return b and c of each next token."""
        drafted, order = self._draft(text), self.order(text)
        below = zeros(self.n, like=drafted)
        below[order[1:]] = np.cumsum(drafted[order[:-1]])
        return share + (1 - share) * below, (1 - share) * drafted

    @cached_property
    def _shares(self) -> dict[Prefix, Any]:
        return {(): self._draft.number(0)}

    def _share(self, text: Prefix) -> Any:
        """Return A/(A + M_s) of a text; 1 after one that is never drafted."""
        # A dictionary of its own: `remembered` would take twice the depth of calls.
        if text not in self._shares:
            head, token = text[:-1], text[-1]
            below, own = (part[token] for part in self._below(head, self._share(head)))
            self._shares[text] = below / (below + own) if own > 0 else own + 1
        return self._shares[text]


def _powers(one: Any, other: Any, count: int) -> Any:
    """Return Σ one^j other^(count−1−j), which is (one^count − other^count)/(one − other)."""
    total = power = one * 0 + 1
    for _ in range(count - 1):
        power = power * other
        total = total * one + power
    return total


MOST_PATHS = 10_000  # most paths of a block
TEXT_LIMIT = 20_000
"""Most texts after which the law of the chosen path is computed for an exact sum."""


@dataclass(frozen=True, eq=False)
class GreedyMultiPath(TreeRule):
    """Choose the greatest of K independent paths of L tokens, and verify it alone.

    At each node the path goes on with the drafted child of the highest M_b/M_s, of equal ones
    the one with the larger number. The law of the chosen path has a closed form, see
    :class:`otspec.blocks.trees.verifiers.greedy_multi_path.GreatestPath`; published block
    verification with that law in place of the draft model decides how much of it is kept, and
    corrects one token.

    Law: what is kept and its continuation is the target's text, whatever the order of the ranks.
    E[τ] = Σ_s a(s) over texts of 1 to L tokens, a(∅) = 1, a(sx) = min(a(s) M_b(x | s), G(sx)),
    where G is the law of the chosen path. Where M_b/M_s is nearly the same for all tokens, and so
    where both models agree, that is less than one path keeps. Source: GBV (Thomas and Pal, 2026).

    Parameters
    ----------
    draft, target, tree
        As for :class:`TreeRule`; the tree of the paths is Kx1x…x1.
    paths, length : int, optional
        K, at most 10,000, and L, the tokens of each path, where no tree is given.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> GreedyMultiPath(draft, target, paths=2, length=2).expected()
    Fraction(15, 8)
    """

    name: ClassVar[str] = "greedy-multi-path"
    title: ClassVar[str] = "greedy multi-path"
    batch: ClassVar[str | None] = "greedy_multi_path"

    def __init__(
        self,
        draft: Any,
        target: Any,
        tree: Any = None,
        *,
        paths: int | None = None,
        length: int | None = None,
    ) -> None:
        no_numbers = paths is None and length is None
        if tree is None and no_numbers:
            raise ValueError("tree is None: give a tree such as 4x1x1, or paths and length")
        if tree is None:
            tree = _paths(paths, length)
        elif not no_numbers:
            raise ValueError("tree is given: leave out paths and length, which follow from it")
        self._hold(draft=draft, target=target, tree=tree)
        self.__post_init__()
        if not self.serves(self.tree):
            raise ValueError(
                f"tree is {shown(self.tree.text)}: the paths of this rule part at the beginning, "
                "such as 4x1x1"
            )

    @classmethod
    def serves(cls, tree: Shape) -> bool:
        """Whether a tree is paths of one length that part at the beginning."""
        return tree.branching is not None and set(tree.branching[1:]) <= {1}

    @property
    def paths(self) -> int:
        """K, how many paths are drafted."""
        return len(self.tree.children)

    @property
    def length(self) -> int:
        """L, the tokens of a path."""
        return self.depth

    @cached_property
    def chosen(self) -> GreatestPath:
        """The law of the chosen path, as a language model."""
        return GreatestPath(self.draft, self.target, self.paths)

    @cached_property
    def _verified(self) -> BlockVerification:
        return BlockVerification(self.chosen, self.target, self.length)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the law of what is kept; n^L paths are enumerated."""
        return self._verified.outcomes()

    def expected(self) -> Number:
        """Return E[τ] by the formula; ``NotExactError`` for over 20,000 texts of L − 1 tokens."""
        texts = counted_power(self.draft.n, self.length - 1)
        if texts > TEXT_LIMIT:
            raise NotExactError(
                f"{counted(texts)} texts of {self.length - 1} tokens over {self.draft.n} are too "
                "many for an exact sum: use shorter paths, or simulate()"
            )
        return self._verified.expected()

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Choose the greatest path of a drafted tree, and verify it as one block."""
        nodes = [ROOT]
        while below := drafts.children(nodes[-1]):
            # Go on with the child of the highest rank, see GreatestPath.
            tokens = [drafts[child] for child in below]
            nodes.append(below[self._highest(drafts.text(nodes[-1]), tokens)])
        # Published block verification, with the law of the chosen path in place of the draft's.
        chosen = DraftedTree(
            drafts.text(nodes[-1]),
            tuple(range(ROOT, len(nodes) - 2)),
            lambda place: self.chosen(drafts.text(nodes[place + 1])),
            lambda place: drafts.target(nodes[place + 1]),
        )
        place, row = node_and_row(self._verified.verify(chosen, chance))
        node = nodes[place + 1]
        return node if row is None else (node, row)

    def _highest(self, prefix: Prefix, drafts: Sequence[int]) -> int:
        """Return the place of the drafted token of the highest rank."""
        order = self.chosen.order(prefix).tolist()
        return max(range(len(drafts)), key=lambda place: order.index(drafts[place]))


def _paths(paths: Any, length: Any) -> Shape:
    """Check numbers of paths and of their tokens, and return their tree."""
    count, depth = (
        as_k(value, name, most, otherwise=f"use a smaller {name}")
        for name, value, most in (("paths", paths, MOST_PATHS), ("length", length, MOST_DEPTH))
    )
    return Shape.of_branching((count, *[1] * (depth - 1)), "paths")


class ClippedRanks(GreatestPath):
    """The law of the greatest of K texts by min(1, M_b/M_s), ties by the token's number."""

    def ratios(self, prefix: Prefix) -> Array:
        """Return min(1, M_b/M_s) of each next token."""
        ratios = super().ratios(prefix)
        return np.minimum(ratios, ratios * 0 + 1)


@dataclass(frozen=True, eq=False, init=False)
class FirstHighestPath(GreedyMultiPath):
    """Choose the first drafted child of the highest min(1, M_b/M_s), with the law of another one.

    The law that stands in place of the draft's is that of a stable sort by min(1, M_b/M_s), in
    which the larger of two equal tokens is above; but the path goes on with the one that was
    drafted first. All tokens with M_b ≥ M_s are equal there.

    Law: not the target's. The smallest case: a fair coin for both models, two paths and L = 1. The
    first path is chosen, 0 with probability 1/2, where 1/4 is said: the text is 0 with probability
    2/3, as :func:`otspec.auditing.audit_blocks` reports. Not in the lossless
    :data:`otspec.blocks.TREE_VERIFIERS`. With the larger of equal tokens it would be lossless
    (Theory, 26). Source: the public code of GBV. Parameters and errors:
    :class:`otspec.blocks.GreedyMultiPath`.

    Examples
    --------
    >>> from otspec.auditing import audit_blocks
    >>> from otspec.models import memoryless
    >>> coin = memoryless(["1/2", "1/2"])
    >>> report = audit_blocks(FirstHighestPath(coin, coin, "2"))
    >>> report.lossless, report.expected, report.total_variation
    (False, Fraction(5, 6), Fraction(1, 6))
    """

    name: ClassVar[str] = "first-highest-path"
    title: ClassVar[str] = "greedy multi-path (public code, lossy)"
    batch: ClassVar[str | None] = None

    @cached_property
    def chosen(self) -> GreatestPath:
        """The law that the chosen path is said to have, as a language model."""
        return ClippedRanks(self.draft, self.target, self.paths)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the law of what is kept, by enumerating all drafted trees."""
        return BlockRule.outcomes(self)

    def expected(self) -> Number:
        """Return E[τ] by enumerating the outcomes."""
        return enumerated_expected(self)

    def _highest(self, prefix: Prefix, drafts: Sequence[int]) -> int:
        ratios = self.chosen.ratios(prefix)
        # Of equal ones the first.
        return max(range(len(drafts)), key=lambda place: ratios[drafts[place]])
