"""Several drafts: token-level rules applied depth by depth to the children that still agree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, ClassVar

from otspec._base import Number, as_callable, as_flag, zeros
from otspec.blocks.base import Outcome
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.trees.best.expected import expected_kept
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.nodes import Nodes, TokenRule, made_rule
from otspec.chance import Chance
from otspec.coupling import match
from otspec.distributions import Distribution, normalized
from otspec.drafts import DraftLaw
from otspec.models.base import BEGINNING, Prefix, as_beginnings
from otspec.rules import TargetOnly


@dataclass(frozen=True, eq=False)
class DraftSelection(TreeRule):
    """Verify a tree of drafts: select among the children of all nodes that agree with the text.

    At each depth the rule for one token sees the children of all nodes that agree; its selected
    token goes on with the children that equal it. K sequences drawn independently are the tree
    K x 1 x … x 1. Distinct drafts never agree twice. :class:`otspec.rules.TargetOnly` verifies
    children that are the likeliest tokens, whatever the rule; :func:`otspec.blocks.together` says
    which nodes go on where those of some are drawn and those of others are not.

    Law: what is kept and its continuation is the target's text (not given τ, which depends on it).
    Source: SpecTr, alg. 3 with alg. 4 and thm. 2, with equal drafts counted as often as they were
    drawn; MCSD, alg. 1 and 2, is the same with ``merge=False``. Errors: :class:`TreeRule`; later, a
    number of children that the rule refuses.

    Parameters
    ----------
    draft, target, tree
        As for :class:`TreeRule`. Of distinct children no more are drawn than the draft model has
        tokens: the first ones.
    rule : callable
        (draft, target, k) → a rule for one token: a class of :mod:`otspec.rules`, which also says
        how the drafts are drawn, or any function.
    merge : bool
        Whether equal i.i.d. children are one node from then on, with the children of all; else
        only the first of them goes on.
    nodes : Nodes, optional
        Of another tree, whose results serve here too if models, rule and ``merge`` are the same.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> DraftSelection(draft, target, "2x1", RecursiveRejection).expected()
    Fraction(101, 64)
    >>> DraftSelection(draft, target, "[[]][]", RecursiveRejection).expected()
    Fraction(23, 16)
    """

    rule: TokenRule
    merge: bool = True
    nodes: InitVar[Nodes | None] = field(default=None, kw_only=True)
    _nodes: Nodes = field(init=False, repr=False)

    title: ClassVar[str] = "draft selection"
    takes_top: ClassVar[bool] = True
    renews: ClassVar[bool] = True

    def __post_init__(self, nodes: Nodes | None) -> None:
        super().__post_init__()
        wanted = "a class of otspec.rules, or a function of draft, target and k"
        as_callable(self.rule, "rule", wanted)
        as_flag(self.merge, "merge")
        own = Nodes(self.draft, self.target, self.rule, self.merge)
        self._hold(_nodes=nodes if nodes == own else own)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the law of what is kept; ``ValueError`` for over 20,000 drafts at one node."""
        start = LEAF if self.target.ended(()) else self.tree
        level: dict[Prefix, dict[Shape, Any]] = {(): {start: self.target.number(1)}}
        while level:
            longer: dict[Prefix, dict[Shape, Any]] = {}
            for prefix, shapes in level.items():
                complete = shapes.pop(LEAF, self.target.number(0))
                rejected: Any = zeros(self.target.n, like=self.target(()))
                for shape, mass in shapes.items():
                    node = self._nodes.known(prefix, len(shape.children), shape.top)
                    accepted, left = node.enumerated
                    rejected = rejected + mass * left
                    for (token, places), chance in accepted.items():
                        into = longer.setdefault((*prefix, token), {})
                        over = self.target.ended((*prefix, token))
                        below = LEAF if over else shape.after(places)
                        into[below] = into.get(below, 0) + mass * chance
                # It ends at a leaf, or because nothing is accepted.
                both: Any = complete + rejected.sum()
                if both > complete:
                    row = normalized(rejected + complete * self.target(prefix), rejected)
                    yield self.ended(prefix, row, both)
                elif both > 0:
                    yield self.ended(prefix, None, both)
            level = longer

    def expected(self) -> Number:
        """Return E[τ] by dynamic programming, see :meth:`expected_after`."""
        return self.expected_after(BEGINNING)

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random, from one pass over all of them.

        Texts of which the models remember the same are one.

        Raises
        ------
        ValueError
            No law of beginnings; or more than 20,000 tuples of drafts at one node where the rule
            has no formula for ``accepted().counted``, or siblings differ: use
            :func:`otspec.blocks.simulate`.
        """
        law = as_beginnings(beginnings, self.target)
        return self.target.number(expected_kept(self._nodes, self.tree, law))

    def with_tree(self, tree: Any) -> "DraftSelection":
        """Return the same rule for another tree; what was computed serves both."""
        return replace(self, tree=tree, nodes=self._nodes)

    def children_law(self, prefix: Prefix, k: int) -> DraftLaw:
        """Return the law of k children of a node; distinct ones may be fewer."""
        return self._nodes.at(prefix, k).rule.law

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Select tokens from the root on, until none of the children is selected."""
        return verified_by_depth(self.rule, drafts, chance)


def verified_by_depth(rule: TokenRule, drafts: DraftedTree, chance: Chance) -> Found:
    """Verify a tree with a rule for one token by depth (SpecTr, alg. 3; MCSD, alg. 1 and 2)."""

    def select(node: int, tokens: Sequence[int]) -> int | Distribution:
        kind = TargetOnly if node in drafts.top else rule
        made = made_rule(kind, drafts.draft(node), drafts.target(node), len(tokens))
        found = made.verify(tokens, chance)
        # A token that is drawn from the residual may happen to be drafted: it goes on there.
        return found if isinstance(found, int) else match(found, tokens, chance)

    return selected_by_depth(select, drafts)


def selected_by_depth(
    select: Callable[[int, Sequence[int]], int | Distribution], drafts: Any
) -> Found:
    """Go on with the token that is selected after each node, until none of them is."""
    node = ROOT
    while below := drafts.children(node):
        tokens = [drafts[child] for child in below]
        found = select(node, tokens)
        if not isinstance(found, int):
            return node, found
        node = below[tokens.index(tokens[found])]
    return node
