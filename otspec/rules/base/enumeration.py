"""Acceptance by enumerating the drafts, or estimated where that takes too long."""

from __future__ import annotations

from otspec._base.arithmetic import Array, Number, as_number, is_exact
from otspec._base.digits import counted
from otspec.drafts import DraftLaw
from otspec.estimate import Exact, Known
from otspec.rules.base.rule import NotExactError, Rule
from otspec.rules.base.tuples import enumerated_law

ENUMERATION_LIMIT = 20_000
"""Most draft tuples that an acceptance in floats is enumerated for, if there is another way."""


FEW_IN_FLOATS = 500
"""Most draft tuples that are enumerated in floats to say which draft is accepted."""


def refuse_many_tuples(law: DraftLaw) -> None:
    """Refuse to enumerate for residual hits what takes long, since they can be simulated."""
    rows = law.table_rows()
    if rows > ENUMERATION_LIMIT:
        raise NotExactError(
            f"residual hits take all of {counted(rows)} draft tuples to know exactly: estimate() "
            "simulates them"
        )


def enumerated_acceptance(rule: Rule) -> Number:
    """Return a rule's acceptance by enumerating the drafts; small vocabularies only."""
    return as_number(enumerated_law(rule).sum(), like=rule.target)


def by_position_or_estimate(rule: Rule) -> Array:
    """Return how likely draft i is accepted as y, (k, n), or where that takes long an estimate.

    Estimates are floats.
    """
    exact = is_exact(rule.target)
    if exact or not rule.enumerates_positions or rule.law.table_rows() <= FEW_IN_FLOATS:
        try:
            return rule.accepted().by_position_and_token
        except NotExactError:
            if exact:
                raise
    return rule.estimate().by_position_and_token.value


def acceptance_or_estimate(rule: Rule) -> Known:
    """Return a rule's acceptance, or where that takes too long an estimate of it."""
    try:
        return Exact(rule.acceptance())
    except NotExactError:
        return rule.estimate().probability
