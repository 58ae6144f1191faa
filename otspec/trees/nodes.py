"""What a rule for one token does at the nodes of a tree: after each prefix, each found once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, is_exact, over_one_denominator, zeros
from otspec.digits import counted
from otspec.frozen import Frozen
from otspec.models.contract import Model, Prefix
from otspec.rules.contract import NotExactError, Rule
from otspec.trees.token_rules import TokenRule, made_rule

TUPLE_LIMIT = 20_000
"""Most tuples of drafts that are enumerated after one prefix, where a rule has no formula."""

State: TypeAlias = tuple[Prefix, Prefix, int]
"""What draft and target remember of a prefix, and a number of nodes or children."""
Counted = dict[tuple[int, int], Any]
"""(y, c) → the probability that y is selected and c ≥ 1 of the drafts are y."""


class Accepted(NamedTuple):
    """What is accepted of the children of a node, by ascending number of drafts that it equals."""

    tokens: IntArray
    counts: IntArray
    chances: Array
    """In exact arithmetic whole numbers, over the unit; floats are over 1."""
    unit: int


@dataclass(frozen=True, eq=False)
class Node(Frozen):
    """A rule for the children of all nodes that agree with one text.

    With ``merge`` equal i.i.d. children go on together; else c counts as 1.
    """

    rule: Rule
    merge: bool

    @property
    def merges(self) -> bool:
        """Whether equal children of this rule go on together."""
        return self.merge and self.rule.law.iid

    @cached_property
    def enumerated(self) -> tuple[Counted, Array]:
        """What is accepted, and the probability that y is selected and no draft, shape (n,).

        Raises
        ------
        ValueError
            More than 20,000 tuples of drafts.
        """
        law = self.rule.law
        rows = law.table_rows()
        if rows > TUPLE_LIMIT:
            raise ValueError(
                f"{counted(rows)} tuples of k = {law.k} drafts over {law.n} tokens are too "
                "many for an exact sum: use a smaller tree, merge=False, or simulate()"
            )
        accepted: Counted = {}
        rejected = zeros(law.n, like=self.rule.target)
        tuples, masses = law.tuples()
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
            row = self.rule.kernel(drafts)
            for token in np.flatnonzero(row).tolist():
                count = drafts.count(token)
                if count == 0:
                    rejected[token] += mass * row[token]
                    continue
                pair = token, count if self.merges else 1
                accepted[pair] = accepted.get(pair, 0) + mass * row[token]
        return accepted, rejected

    @cached_property
    def whole(self) -> Accepted:
        """What is accepted, by formula where the rule has one."""
        law = self._law
        less, tokens = np.nonzero(law > 0)
        chances, unit = law[less, tokens], 1
        if is_exact(law):
            chances, unit = over_one_denominator(chances)
        return Accepted(tokens, less + 1, chances, unit)

    @property
    def _law(self) -> Array:
        """What is accepted, by how many of the drafts it is, in a row for each number."""
        if not self.merges:
            return self.rule.accepted_law()[None]
        try:
            return self.rule.counted_law().accepted
        except NotExactError:
            law = zeros((self.rule.k, self.rule.law.n), like=self.rule.target)
            for (token, count), chance in self.enumerated[0].items():
                law[count - 1, token] = chance
            return law

    @cached_property
    def acceptance(self) -> Number:
        """The probability that one of the drafts is selected, by formula if it has one."""
        try:
            return self.rule.acceptance()
        except NotExactError:
            summed: Number = sum(self.enumerated[0].values())
            return summed


@dataclass(frozen=True)
class Nodes(Frozen):
    """A rule for one token after the prefixes of two models; equal if all of that is the same.

    Parameters
    ----------
    draft, target : Model
    rule : callable
        (draft, target, k) → a rule for one token.
    merge : bool
        As for :class:`Node`.
    """

    draft: Model
    target: Model
    rule: TokenRule
    merge: bool

    def at(self, prefix: Prefix, k: int) -> Node:
        """Return the node of k children after a prefix."""
        return Node(made_rule(self.rule, self.draft(prefix), self.target(prefix), k), self.merge)

    def known(self, prefix: Prefix, k: int) -> Node:
        """Return the same, with what was computed after prefixes that the models tell not apart."""
        state = self.state(prefix, k)
        if state not in self._known:
            self._known[state] = self.at(prefix, k)
        return self._known[state]

    def state(self, prefix: Prefix, number: int) -> State:
        """Return what is equal for prefixes that the models do not tell apart."""
        return *self.remembered(prefix), number

    def remembered(self, prefix: Prefix) -> tuple[Prefix, Prefix]:
        """Return what draft and target remember of a prefix."""
        return self.draft.context(prefix), self.target.context(prefix)

    @cached_property
    def _known(self) -> dict[State, Node]:
        return {}
