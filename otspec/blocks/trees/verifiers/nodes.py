"""Rules for one token at the nodes of a tree: what each does after each prefix, found once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from otspec import rules
from otspec._base import Frozen, Registry, cached_property, counted, shown, subclass_of
from otspec._base.arithmetic import Array, IntArray, Number, over_one_denominator, zeros
from otspec.distributions import Distribution
from otspec.drafts import TooFewTokensError
from otspec.models.base import Model, Prefix
from otspec.rules import NotExactError, Rule, TargetOnly

TokenRule: TypeAlias = Callable[[Distribution, Distribution, int], Rule]
"""(draft, target, k) → a rule for one token, such as a class of :mod:`otspec.rules`."""


def made_rule(rule: TokenRule, draft: Distribution, target: Distribution, k: int) -> Rule:
    """Return the rule for k drafts, or for fewer if there are not so many distinct ones."""
    # A rule for pairs of drafts takes no single one: maximal coupling verifies that.
    try:
        return _checked(rule(draft, target, k), len(draft), k)
    except TooFewTokensError:
        possible = min(k, int(np.count_nonzero(draft)))
    if possible == 1 and getattr(rule, "only_k", None) is not None:
        return rules.MaximalCoupling(draft, target)
    return _checked(rule(draft, target, possible), len(draft), possible)


def _checked(made: Any, n: int, k: int) -> Rule:
    """Check what a caller's function returned; the law, which a rule may make late, is made."""
    if isinstance(made, type) or not hasattr(made, "accepted"):
        raise ValueError(
            f"rule returned {shown(made)}: it must return a rule for one token, such as "
            "otspec.rules.PooledSelection(draft, target, k)"
        )
    if isinstance(made, Rule) and (made.law.n, made.law.k) != (n, k):
        raise ValueError(
            f"rule returned one for k = {made.law.k} drafts of {made.law.n} tokens, but was "
            f"asked for k = {k} of {n}: make it from the draft, the target and the k it is given"
        )
    return made


TREE_RULES: Registry[type[rules.PairRule]] = Registry(
    "rule for trees", "otspec.tree_rules", subclass_of(rules.PairRule)
)
"""The rules for one token with which trees are compared, by name, in the order of tables."""
for _rule in (
    rules.RecursiveRejection,
    rules.KSequential,
    rules.ImportanceSampling,
    rules.PooledSelection,
    rules.RecursiveRejectionWithoutReplacement,
    rules.PooledSelectionWithoutReplacement,
    rules.SpecHub,
    rules.GumbelCoupling,
    rules.TargetOnly,
):
    TREE_RULES.register(_rule)


TUPLE_LIMIT = 20_000
"""Most tuples of drafts that are enumerated after one prefix, where a rule has no formula."""

State: TypeAlias = tuple[Prefix, Prefix, int, bool]
"""What draft and target remember of a prefix, a number of children and whether they are drawn."""
Places: TypeAlias = tuple[int, ...]  # which of the children go on together, ascending; at least one


@dataclass(frozen=True, eq=False)
class AcceptedChildren(Frozen):
    """What is accepted of the children of a node, by which of them go on with it."""

    ways: tuple[tuple[Places, IntArray, Array], ...]  # which, the tokens, their chances · unit
    unit: int  # exact chances are whole numbers over it; of floats it is 1

    @classmethod
    def of(cls, laws: Mapping[Places, Array]) -> "AcceptedChildren":
        """Return it from the chance of each token, (n,), by which go on."""
        whole, unit = over_one_denominator(np.array(list(laws.values())))
        tokens = [np.flatnonzero(law > 0) for law in whole]
        ways = zip(laws, tokens, map(np.ndarray.__getitem__, whole, tokens), strict=True)
        return cls(tuple(ways), int(unit))


@dataclass(frozen=True, eq=False)
class Node(Frozen):
    """A rule for the children of all nodes that agree with one text."""

    rule: Rule
    merge: bool

    @property
    def merges(self) -> bool:
        """Whether equal children of this rule go on together."""
        return self.merge and self.rule.law.iid

    @cached_property
    def enumerated(self) -> tuple[dict[tuple[int, Places], Any], Array]:
        """(y, places) → the chance that y goes on there; that y is selected and no draft, (n,)."""
        law = self.rule.law
        rows = law.table_rows()
        if rows > TUPLE_LIMIT:
            raise NotExactError(
                f"{counted(rows)} tuples of k = {law.k} drafts over {law.n} tokens are too "
                f"many for an exact sum: use a smaller tree, {'merge=False, ' * self.merges}or "
                "simulate()"
            )
        accepted: dict[tuple[int, Places], Any] = {}
        rejected = zeros(law.n, like=self.rule.target)
        tuples, masses = law.tuples()
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
            row = self.rule.kernel(drafts)
            for token in np.flatnonzero(row).tolist():
                places = tuple(i for i, drafted in enumerate(drafts) if drafted == token)
                if not places:
                    rejected[token] += mass * row[token]
                    continue
                way = token, places if self.merges else places[:1]
                accepted[way] = accepted.get(way, 0) + mass * row[token]
        return accepted, rejected

    def accepted(self, alike: bool) -> AcceptedChildren:
        """Return what is accepted, and which children go on: the first ones if ``alike``."""
        return self._alike if alike else self._apart

    @cached_property
    def _alike(self) -> AcceptedChildren:
        if not self.merges:
            return AcceptedChildren.of({(0,): self.rule.accepted().by_token})
        try:
            counted = self.rule.accepted().counted.accepted
        except NotExactError:
            return self._enumerated(lambda places: tuple(range(len(places))))
        return AcceptedChildren.of({tuple(range(i)): law for i, law in enumerate(counted, 1)})

    @cached_property
    def _apart(self) -> AcceptedChildren:
        try:
            if not self.merges:
                by_position = self.rule.accepted().by_position_and_token
                return AcceptedChildren.of({(i,): law for i, law in enumerate(by_position)})
        except NotExactError:
            pass
        return self._enumerated(lambda places: places)

    def _enumerated(self, going: Callable[[Places], Places]) -> AcceptedChildren:
        """Return what is accepted, by enumerating the drafts."""
        laws: dict[Places, Array] = {}
        for (token, places), chance in self.enumerated[0].items():
            none = zeros(self.rule.law.n, like=self.rule.target)
            laws.setdefault(going(places), none)[token] += chance
        return AcceptedChildren.of(laws)

    @cached_property
    def acceptance(self) -> Number:
        """The probability that one of the drafts is selected, by formula if it has one."""
        try:
            return self.rule.acceptance()
        except NotExactError:
            return sum(self.enumerated[0].values())


@dataclass(frozen=True)
class Nodes(Frozen):
    """A rule for one token after the prefixes of two models; equal if all of that is the same."""

    draft: Model
    target: Model
    rule: TokenRule  # (draft, target, k) → a rule for one token
    merge: bool  # as for :class:`Node`

    def at(self, prefix: Prefix, k: int, top: bool = False) -> Node:
        """Return the node of k children after a prefix, drawn or the likeliest tokens."""
        rule = TargetOnly if top else self.rule
        return Node(made_rule(rule, self.draft(prefix), self.target(prefix), k), self.merge)

    def known(self, prefix: Prefix, k: int, top: bool) -> Node:
        """Return the same, with what was computed after prefixes that the models tell not apart."""
        state = (*self.remembered(prefix), k, top)
        if state not in self._known:
            self._known[state] = self.at(prefix, k, top)
        return self._known[state]

    def remembered(self, prefix: Prefix) -> tuple[Prefix, Prefix]:
        """Return what draft and target remember of a prefix."""
        return self.draft.context(prefix), self.target.context(prefix)

    @cached_property
    def _known(self) -> dict[State, Node]:
        return {}
