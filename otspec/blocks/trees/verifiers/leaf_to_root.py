"""A rule for one token lifted to trees, verified from the leaves to the root (Theory, 22)."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np

from otspec._base import Array, Frozen, Number, as_flag, as_number, cached_property, counted, zeros
from otspec.blocks.base import Outcome
from otspec.blocks.block_verification import BlockVerification
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import STATE_LIMIT
from otspec.blocks.trees.shapes import LEAF, Shape
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.nodes import TUPLE_LIMIT, Places, TokenRule, made_rule
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution, normalized
from otspec.drafts import DraftLaw
from otspec.models.base import BEGINNING, Prefix, as_beginnings
from otspec.rules import NotExactError, PairRule, Rule


class Child(NamedTuple):
    """A child of a node that may be visited."""

    token: int
    places: Places
    """Which of the drafted children it is: equal ones may be one."""
    weight: Number
    """With which probability it is kept if it is visited."""


@dataclass(frozen=True, eq=False)
class Arrivals(Frozen):
    """What happens below a node, given its drafts or over all of them."""

    masses: dict[Child, Any]
    """The probability that a child is visited, in the order of visits if the drafts are given."""
    rest: Array
    """The probability that no child is kept and y is drawn instead, shape (n + 1,); † is last."""


def with_dagger(row: Array, rest: Number) -> Array:
    """Return a row over one token more, †: shape (n,) -> (n + 1,)."""
    return np.concatenate([row, zeros(1, like=row) + rest])


def rule_of_weight(
    rule: TokenRule, draft: Distribution, target: Distribution, weight: Number, k: int
) -> Rule:
    """Return a rule for one token at a node of that weight, over one token more, †."""
    none = as_number(0, like=draft)
    wanted = with_dagger(weight * target, 1 - weight)
    return made_rule(rule, with_dagger(draft, none), wanted, k)


def at_leaf(target: Distribution, weight: Number) -> Arrivals:
    """Return what happens at a node without children."""
    return Arrivals({}, with_dagger(weight * target, 1 - weight))


def given_drafts(rule: Rule, drafts: Sequence[int], merge: bool) -> Arrivals:
    """Return what happens below a node whose drafts are known; equal i.i.d. ones may merge."""
    rest = rule.kernel(drafts).copy()
    left = as_number(1, like=rest)
    masses = {}
    for token, places in _together(drafts, merge and rule.law.iid).items():
        weight = acceptance_chance(rest[token], left)
        if weight > 0:
            masses[Child(token, places, weight)] = left
        left = left * (1 - weight)
        rest[token] = 0 * left
    return Arrivals(masses, rest)


def _together(drafts: Sequence[int], merge: bool) -> dict[int, Places]:
    places: dict[int, Places] = {}
    for place, token in enumerate(drafts):
        if merge or token not in places:
            places[token] = (*places.get(token, ()), place)
    return places


def over_drafts(rule: Rule, merge: bool) -> Arrivals:
    """Return what happens below a node over all drafts, by enumerating them."""
    rows = rule.law.table_rows()
    if rows > TUPLE_LIMIT:
        raise NotExactError(
            f"{counted(rows)} tuples of k = {rule.law.k} drafts over {rule.law.n - 1} tokens are "
            "too many for an exact sum: use a smaller tree, or simulate()"
        )
    masses: dict[Child, Any] = {}
    rest = zeros(rule.law.n, like=rule.target)
    tuples, chances = rule.law.tuples()
    for drafts, chance in zip(tuples.tolist(), chances.tolist(), strict=True):
        given = given_drafts(rule, drafts, merge)
        rest = rest + chance * given.rest
        for child, mass in given.masses.items():
            masses[child] = masses.get(child, 0) + chance * mass
    return Arrivals(masses, rest)


_Level: TypeAlias = dict[Any, tuple[Prefix, Any]]
"""(draft's context, target's context, weight, shape) → a text, the probability of a visit."""


@dataclass(frozen=True, eq=False)
class LeafToRoot(TreeRule):
    """Visit the children of a node, each with a weight; if none is kept, keep the node, or go up.

    A node of weight w is kept, itself or something below it, with probability w. There the rule
    for one token has the draft (M_s, 0) and the target (w M_b, 1 − w), over one token more, † for
    "not kept". Its output is a drafted child x_i with the probability a_i: the children are visited
    in turn, with the weights a_i/(1 − Σ_{j<i} a_j). If none is kept, the output is one that is no
    draft: † goes up, another token corrects, and the node is kept. The root has weight 1.

    Law: what is kept and its continuation is the target's text, for every lossless rule for one
    token. One token is corrected. Subclasses say which rule it is. Errors:
    :class:`otspec.blocks.TreeRule`; later, a number of children that the rule refuses.

    Parameters
    ----------
    draft, target, tree
        As for :class:`otspec.blocks.TreeRule`.
    merge : bool
        Whether equal i.i.d. children are one node, with the children of all; else only the first
        of them is visited.
    """

    lifts: ClassVar[type[PairRule]]
    """The rule for one token that is lifted, if nothing else is said."""
    renews: ClassVar[bool] = True

    merge: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag(self.merge, "merge")

    @property
    @abstractmethod
    def token_rule(self) -> TokenRule:
        """The rule for one token: (draft, target, k) → a rule."""

    def children_law(self, prefix: Prefix, k: int) -> DraftLaw:
        """Return the law of k children of a node; distinct ones may be fewer."""
        return self.rule_at(prefix, self._one, k).law

    @property
    def as_block(self) -> BlockVerification | None:
        """Block verification with the same E[τ]: on a chain, by a class that couples one draft."""
        couples = isinstance(self.token_rule, type) and getattr(
            self.token_rule, "couples_one", False
        )
        if not (self.tree.chain and couples):
            return None
        return BlockVerification(self.draft, self.target, self.depth)

    def rule_at(self, prefix: Prefix, weight: Number, k: int) -> Rule:
        """Return the rule for k children of a node of a weight, over one token more, †."""
        return rule_of_weight(self.token_rule, self.draft(prefix), self.target(prefix), weight, k)

    def arrivals(self, prefix: Prefix, weight: Number, shape: Shape) -> Arrivals:
        """Return which children of a node are visited, over all drafts, and what if none is kept.

        ``prefix``: the text up to the node. ``weight``: with which probability it, or something
        below it, is kept. Raises ``NotExactError``: more than 20,000 tuples of drafts.
        """
        if not shape.children:
            return at_leaf(self.target(prefix), weight)
        return over_drafts(self.rule_at(prefix, weight, len(shape.children)), self.merge)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the law of what is kept; ``NotExactError`` for over 20,000 drafts at one node."""
        start = self._one, self._open((), self.tree)
        level: dict[Prefix, dict[tuple[Number, Shape], Any]] = {(): {start: 1}}
        while level:
            longer: dict[Prefix, dict[tuple[Number, Shape], Any]] = {}
            for prefix, visits in level.items():
                row: Any = zeros(self.target.n, like=self.target(()))
                for (weight, shape), mass in visits.items():
                    arrivals = self._known(prefix, weight, shape)
                    row = row + mass * arrivals.rest[:-1]
                    for child, arriving in arrivals.masses.items():
                        into = longer.setdefault((*prefix, child.token), {})
                        below = self._open((*prefix, child.token), shape.after(child.places))
                        key = child.weight, below
                        into[key] = into.get(key, 0) + mass * arriving
                if row.sum() > 0:
                    yield self.ended(prefix, row / row.sum(), row.sum())
            level = longer

    def expected(self) -> Number:
        """Return E[τ], see :meth:`expected_after`."""
        return self.expected_after(BEGINNING)

    def expected_after(self, beginnings: Mapping[Prefix, Number]) -> Number:
        """Return E[τ] after a beginning drawn at random: the weights of all that is visited.

        Texts of which the models remember the same, with one weight and shape, are one state.
        Raises ``ValueError``: no law of beginnings. ``NotExactError``: more than 20,000 tuples of
        drafts at one node, or a million states: use :func:`otspec.blocks.simulate`.
        """
        # On a chain, a rule that couples one draft maximally has the formula of block verification.
        if (block := self.as_block) is not None:
            return block.expected_after(beginnings)
        level: _Level = {}
        for text, mass in as_beginnings(beginnings, self.target).items():
            self._add(level, text, self._one, self._open(text, self.tree), mass)
        kept: Any = 0
        states = 0
        while level:
            longer: _Level = {}
            for (*_, weight, shape), (text, mass) in level.items():
                arrivals = self._known(text, weight, shape)
                for child, arriving in arrivals.masses.items():
                    reached = mass * arriving
                    kept += reached * child.weight
                    below = self._open((*text, child.token), shape.after(child.places))
                    if below.children:
                        self._add(longer, (*text, child.token), child.weight, below, reached)
            states += len(longer)
            if states > STATE_LIMIT:
                raise NotExactError(
                    f"tree is {self.tree.text}: there are more than {STATE_LIMIT:,} states, too "
                    "many for an exact sum; use a smaller tree, or simulate()"
                )
            level = longer
        return self.target.number(kept)

    def _open(self, text: Prefix, shape: Shape) -> Shape:
        """Return what is drafted after a text: nothing if the target's is over."""
        return LEAF if self.target.ended(text) else shape

    def _add(self, level: _Level, text: Prefix, weight: Number, shape: Shape, mass: Any) -> None:
        """Add the probability that a node is visited to its state."""
        key = *self._remembered(text), weight, shape
        _, more = level.get(key, (text, 0))
        level[key] = text, mass + more

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Visit the nodes of a drafted tree, each after all that is below it, until one is kept."""

        def visit(node: int, weight: Number) -> "Found | None":
            """Return what is kept at a node or below it, with probability ``weight``."""
            target, below = drafts.target(node), drafts.children(node)
            if below:
                tokens = [drafts[child] for child in below]
                rule = rule_of_weight(
                    self.token_rule, drafts.draft(node), target, weight, len(tokens)
                )
                arrivals = given_drafts(rule, tokens, self.merge)
            else:
                arrivals = at_leaf(target, weight)
            for child in arrivals.masses:
                kept = visit(below[child.places[0]], child.weight)
                if kept is not None:
                    return kept
            # None of the children is kept. The output of the rule is no draft: † goes up.
            corrected, dagger = arrivals.rest[:-1], arrivals.rest[-1]
            total = corrected.sum()
            if node != ROOT and not chance.accept(total, total + dagger):
                return None
            return node, normalized(corrected, target)

        return cast("Found", visit(ROOT, self._one))  # the root is kept if nothing below it is

    def _known(self, prefix: Prefix, weight: Number, shape: Shape) -> Arrivals:
        """Return the arrivals, from what was computed where the models tell nothing apart."""
        state = *self._remembered(prefix), weight, shape
        if state not in self._arrivals:
            self._arrivals[state] = self.arrivals(prefix, weight, shape)
        return self._arrivals[state]

    def _remembered(self, prefix: Prefix) -> tuple[Prefix, Prefix]:
        return self.draft.context(prefix), self.target.context(prefix)

    @property
    def _one(self) -> Number:
        return self.target.number(1)

    @cached_property
    def _arrivals(self) -> dict[Any, Arrivals]:
        return {}
