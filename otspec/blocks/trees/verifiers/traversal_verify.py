"""Rules from leaf to root (Theory, 22): Traversal Verification, and UniVer, the lifted optimum."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar, cast

import numpy as np

from otspec import rules
from otspec._base import Array, Frozen, Number, as_callable, positive_part
from otspec.blocks.block_verification import LastToFirst
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.leaf_to_root import Arrivals, Child, LeafToRoot, with_dagger
from otspec.blocks.trees.verifiers.nodes import Places, TokenRule
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution, normalized
from otspec.models.base import Prefix
from otspec.rules import PairRule, RecursiveRejection, RecursiveRejectionWithoutReplacement


@dataclass(frozen=True, eq=False)
class UniversalTree(LeafToRoot):
    """Verify a tree from the leaves to the root with any rule for one token at every node.

    At a node of weight w the rule couples the drafted children with the scaled target, (w M_b,
    1 − w); with a rule that is optimal for its draft law that is optimal transport at every node.
    On a chain, with a rule that couples one draft maximally
    (:attr:`otspec.rules.Rule.couples_one`), it keeps what published block verification keeps.

    Law: what is kept and its continuation is the target's text; one token is corrected. Source:
    UniVer (Weng, Hu, Yairi, arXiv 2605.04543), which describes the scaling of the target by the
    probability of the prefix, the optimal transport at every node and the decisions from the leaves
    up. That the scaled target is one with a token † more, the order of the children and what is
    drawn when none is kept are our reading (Theory, 22 and 23).

    Parameters
    ----------
    draft, target, tree, merge
        As for :class:`otspec.blocks.trees.verifiers.leaf_to_root.LeafToRoot`, errors included.
    rule : callable
        (draft, target, k) → a lossless rule for one token, which also says how children are
        drawn: a class of :mod:`otspec.rules` that is made from a draft, a target and k, or any
        function. The draft never draws the last of the n + 1 tokens.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> UniversalTree(draft, target, "2x1x1").expected()
    Fraction(21, 8)
    """

    name: ClassVar[str] = "universal"
    title: ClassVar[str] = "universal tree"
    lifts: ClassVar[type[rules.PairRule]] = rules.PooledSelection

    rule: TokenRule = rules.PooledSelection

    def __post_init__(self) -> None:
        super().__post_init__()
        as_callable(self.rule, "rule", "a class of otspec.rules, or a function of draft, target, k")

    @property
    def token_rule(self) -> TokenRule:
        """The rule for one token."""
        return self.rule


@dataclass(frozen=True, eq=False)
class UniversalTreeEarliest(UniversalTree):
    """The same by the optimal rule that prefers earlier children, for trees that are not even.

    Where the first children have more below them than the others, it keeps more; where all have
    the same, :class:`UniversalTree` keeps a little more as a rule. Parameters and errors:
    :class:`UniversalTree`.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> coin = memoryless(["1/2", "1/2"])
    >>> [kind(coin, coin, "[[]][]").expected() for kind in (UniversalTree, UniversalTreeEarliest)]
    [Fraction(7, 4), Fraction(2, 1)]
    """

    name: ClassVar[str] = "universal-earliest"
    title: ClassVar[str] = "universal tree (earliest)"
    lifts: ClassVar[type[rules.PairRule]] = rules.EarliestPooledSelection

    rule: TokenRule = rules.EarliestPooledSelection


@dataclass(frozen=True, eq=False)
class UniversalTreeWithoutReplacement(UniversalTree):
    """:class:`UniversalTree` with distinct children, by the optimal rule for those."""

    name: ClassVar[str] = "universal-without-replacement"
    title: ClassVar[str] = "universal tree (distinct)"
    lifts: ClassVar[type[rules.PairRule]] = rules.PooledSelectionWithoutReplacement

    rule: TokenRule = rules.PooledSelectionWithoutReplacement


class Traversal(LastToFirst):
    """The program of traversal verification, whatever siblings are drawn from."""

    lifts: ClassVar[type[PairRule]]

    @property
    def token_rule(self) -> TokenRule:
        """Recursive rejection."""
        return self.lifts

    def left(self, offered: Distribution, token: int) -> Distribution:  # noqa: ARG002
        """Return the distribution of the next sibling after one that was deleted."""
        return offered

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Accept or delete leaves in depth-first order until one is accepted."""

        def visit(node: int, weight: Any) -> "Found | None":
            """Return the leaf that is accepted at a node of that weight or below it, if one is."""
            target, children = drafts.target(node), drafts.children(node)
            draft = drafts.draft(node) if children else target  # which is not asked for
            for child in children:
                token = drafts[child]
                # The weight of the child is min(1, w M_b(x)/M_s(x)). Equal drafts are rejected
                # again.
                accepted = visit(child, self.weight(weight, target[token], draft[token]))
                if accepted is not None:
                    return accepted
                # The child is deleted. With S = Σ_x (w M_b(x) − M_s(x))₊ the node now has the
                # weight S/(S + 1 − w) and the target (w M_b − M_s)₊/S.
                total, target = self.left_over(node, weight, target, draft)
                weight = self.allowed(total, weight)
                draft = self.left(draft, token)
            # The node is a leaf now. The root has weight 1.
            return (node, target) if self.keeps(node, weight, chance) else None

        return cast("Found", visit(ROOT, 1))  # the root is accepted if no leaf is before it


@dataclass(frozen=True, eq=False)
class TraversalVerify(Traversal, LeafToRoot):
    """Accept or delete leaves in depth-first order until one is accepted; i.i.d. children.

    The root has weight 1, and a child min(1, w M_b/M_s) of its parent's w. A leaf is accepted with
    its weight: the path to it is kept, and the next token drawn from the target of now. Else it is
    deleted; with S = Σ_x (w M_b(x) − M_s(x))₊ its parent gets the weight S/(S + 1 − w) and the
    target (w M_b − M_s)₊/S. A node whose children are all deleted is a leaf.

    Law: what is kept and its continuation is the target's text; one token is corrected. It is
    recursive rejection lifted to trees (Theory, 22), on a chain the published block verification,
    and keeps at least what recursive rejection keeps depth by depth (Theory, 23). Source: Traversal
    Verification (Weng et al., arXiv 2505.12398). There equal i.i.d. children stay apart,
    ``merge=False``; that they may be one node is ours. Parameters and errors:
    :class:`otspec.blocks.trees.verifiers.leaf_to_root.LeafToRoot`.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> TraversalVerify(draft, target, "2x1x1").expected()
    Fraction(585, 256)
    """

    name: ClassVar[str] = "traversal"
    title: ClassVar[str] = "traversal verification"
    batch: ClassVar[str | None] = "traversal_verification"
    lifts: ClassVar[type[PairRule]] = RecursiveRejection

    def arrivals(self, prefix: Prefix, weight: Number, shape: Shape) -> Arrivals:
        """Return which children of a node are visited, round by round, and what if none is kept."""
        # A token that can be rejected has left the residual: no draft before the one that is
        # visited equals it, and those after it are drawn anew.
        if not shape.children:
            return super().arrivals(prefix, weight, shape)
        draft, target = self.draft(prefix), self.target(prefix)
        masses: dict[Child, Any] = {}
        *rounds, last = rejections(draft, target, weight, len(shape.children))
        for place, left in enumerate(rounds):
            for token in np.flatnonzero((left.residual > 0) & (draft > 0)).tolist():
                drawn = left.reached * draft[token]
                weight_below = acceptance_chance(left.residual[token], drawn)
                for places, likely in equal_later(place, shape, draft[token], self.merge):
                    child = Child(token, places, weight_below)
                    masses[child] = masses.get(child, 0) + drawn * likely
        return Arrivals(masses, with_dagger(last.residual, 1 - weight))


@dataclass(frozen=True, eq=False)
class Rejections(Frozen):
    """What is left after some children of a node were rejected."""

    reached: Number  # the probability of that
    residual: Array  # the target of then, times that, shape (n,); the rest is †


def rejections(
    draft: Distribution, target: Distribution, weight: Number, k: int
) -> Iterator[Rejections]:
    """Yield what is left after 0, 1, …, k i.i.d. children."""
    # With W_i the probability that i children are rejected and c the sum of the earlier ones, the
    # residual is (w M_b − c M_s)₊.
    wanted = weight * target
    residual, drafted, reached = wanted, weight * 0, weight * 0 + 1
    for _ in range(k):
        yield Rejections(reached, residual)
        drafted += reached
        residual = positive_part(wanted - drafted * draft)
        reached = residual.sum() + 1 - weight
    yield Rejections(reached, residual)


def equal_later(place: int, shape: Shape, mass: Any, merge: bool) -> Iterator[tuple[Places, Any]]:
    """Yield which i.i.d. children from a place on are its token of that mass, and how likely."""
    # Of children after which the same is drafted it is enough how many: the next ones; of children
    # after which nothing is, not even that.
    alike = shape.even or len(set(shape.children)) == 1
    if not merge or (alike and shape.depth == 1):
        yield (place,), 1
        return
    after = range(place + 1, len(shape.children))
    if alike:
        for more, likely in enumerate(_binomial(len(after), mass)):
            if likely > 0:
                yield (place, *after[:more]), likely
        return
    for more in range(len(after) + 1):
        likely = mass**more * (1 - mass) ** (len(after) - more)
        if likely > 0:
            yield from (((place, *others), likely) for others in combinations(after, more))


def _binomial(number: int, mass: Any) -> list[Any]:
    """Return how likely 0, …, number of so many i.i.d. children are a token of that mass."""
    missed, counts = 1 - mass, range(number + 1)
    if not isinstance(mass, float):
        return [comb(number, c) * mass**c * missed ** (number - c) for c in counts]
    # From the likeliest number on both ways: of many children, powers and numbers of ways are out
    # of the range of floats.
    top, before = min(int((number + 1) * mass), number), np.arange(number)
    more, fewer = (number - before) * mass, (before + 1) * missed
    ups, downs = more[top:] / fewer[top:], fewer[:top] / more[:top]
    law = np.concatenate([np.cumprod(downs[::-1])[::-1], [1.0], np.cumprod(ups)])
    return cast("list[Any]", (law / law.sum()).tolist())


@dataclass(frozen=True, eq=False)
class TraversalVerifyWithoutReplacement(Traversal, LeafToRoot):
    """:class:`TraversalVerify` with distinct children: a deleted token leaves the draft, too."""

    name: ClassVar[str] = "traversal-without-replacement"
    title: ClassVar[str] = "traversal verification (distinct)"
    batch: ClassVar[str | None] = "traversal_verification"
    lifts: ClassVar[type[PairRule]] = RecursiveRejectionWithoutReplacement

    def left(self, offered: Distribution, token: int) -> Distribution:
        """Return the draft without the token that was deleted."""
        left = offered.copy()
        left[token] *= 0
        return normalized(left, offered)
