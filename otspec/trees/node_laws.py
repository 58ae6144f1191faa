"""What a rule for one token does after each prefix of two language models, each found once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from otspec.arithmetic import Array, Number, zeros
from otspec.digits import counted
from otspec.drafts import IID
from otspec.estimate import Estimate
from otspec.frozen import Frozen, frozen
from otspec.models.contract import Model, Prefix
from otspec.rules.contract import Rule
from otspec.trees.token_rules import TokenRule, made_rule

TUPLE_LIMIT = 20_000
"""Most tuples of drafts that an exact computation enumerates after one prefix."""

Counted = dict[tuple[int, int], Any]
"""(y, c) → the probability that y is selected and c ≥ 1 of the drafts are y."""


class Selection(NamedTuple):
    """What a token-level rule does with its drafts."""

    accepted: Counted
    rejected: Array
    """The probability that y is selected and none of the drafts is y, shape (n,)."""


@dataclass(frozen=True, eq=False)
class TokenSteps(Frozen):
    """A token-level rule after the prefixes of two models.

    Parameters
    ----------
    draft, target : Model
    rule : callable
        (draft, target, k) → a rule for one token.
    merge : bool
        Whether it matters how many i.i.d. drafts equal the selected token; else c counts as 1.
    """

    draft: Model
    target: Model
    rule: TokenRule
    merge: bool
    _known: dict[Any, Any] = field(default_factory=dict)

    def made(self, prefix: Prefix, k: int) -> Rule:
        """Return the rule for k drafts after a prefix."""
        return made_rule(self.rule, self.draft(prefix), self.target(prefix), k)

    def merges(self, made: Rule) -> bool:
        """Whether equal drafts of a rule go on together."""
        return self.merge and isinstance(made.law, IID)

    def selection(self, prefix: Prefix, k: int) -> Selection:
        """Return what the rule does, by enumerating the drafts.

        Raises
        ------
        ValueError
            More than 20,000 tuples of drafts.
        """
        found: Selection = self._once(_enumerated, prefix, k)
        return found

    def accepted(self, prefix: Prefix, k: int) -> Counted:
        """Return what the rule accepts, by formula where counts do not matter.

        Raises
        ------
        ValueError
            As :meth:`selection`.
        """
        found: Counted = self._once(_accepted, prefix, k)
        return found

    def acceptance(self, prefix: Prefix, k: int) -> Number:
        """Return the probability that one of the drafts is selected.

        Raises
        ------
        ValueError
            As :meth:`selection`, if the rule has no formula.
        """
        found: Number = self._once(_acceptance, prefix, k)
        return found

    def _once(self, compute: Callable[[Rule, bool], Any], prefix: Prefix, k: int) -> Any:
        key = compute, self.draft.context(prefix), self.target.context(prefix), k
        if key not in self._known:
            made = self.made(prefix, k)
            self._known[key] = frozen(compute(made, self.merges(made)))
        return self._known[key]


def _enumerated(made: Rule, merges: bool) -> Selection:
    rows = made.law.table_rows()
    if rows > TUPLE_LIMIT:
        raise ValueError(
            f"{counted(rows)} tuples of k = {made.law.k} drafts over {made.law.n} tokens are too "
            "many for an exact sum: use a smaller tree, merge=False, or simulate()"
        )
    accepted: Counted = {}
    rejected = zeros(made.law.n, like=made.target)
    tuples, masses = made.law.tuples()
    for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
        row = made.kernel(drafts)
        for token in np.flatnonzero(row).tolist():
            count = drafts.count(token)
            if count == 0:
                rejected[token] += mass * row[token]
                continue
            pair = token, count if merges else 1
            accepted[pair] = accepted.get(pair, 0) + mass * row[token]
    return Selection(accepted, rejected)


def _accepted(made: Rule, merges: bool) -> Counted:
    if merges:
        return _enumerated(made, merges).accepted
    law = made.accepted_law()
    return {(token, 1): law[token] for token in np.flatnonzero(law).tolist()}


def _acceptance(made: Rule, merges: bool) -> Number:
    acceptance = made.acceptance()
    if not isinstance(acceptance, Estimate):
        return acceptance
    summed: Number = sum(_enumerated(made, merges).accepted.values())
    return summed
