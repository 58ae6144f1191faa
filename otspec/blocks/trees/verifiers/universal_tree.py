"""Tree verification by conditional optimal transport, UniVer (Theory, 22): the lifted optimum."""

from dataclasses import dataclass
from typing import ClassVar

from otspec import rules
from otspec._base.arguments import as_callable
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.blocks.trees.verifiers.token_rules import TokenRule


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
