"""Acceptance by enumerating the drafts, or estimated where that takes too long."""

from __future__ import annotations

from otspec.arithmetic import Number, as_number
from otspec.rules.contract import NotExactError, Rule, enumerated_law

ENUMERATION_LIMIT = 20_000
"""Most draft tuples that an acceptance in floats is enumerated for, if there is another way."""


def enumerated_acceptance(rule: Rule) -> Number:
    """Return a rule's acceptance by enumerating the drafts; small vocabularies only."""
    return as_number(enumerated_law(rule).sum(), like=rule.target)


def acceptance_or_estimate(rule: Rule) -> Number:
    """Return a rule's acceptance, or where that takes too long an estimate of it."""
    try:
        return rule.acceptance()
    except NotExactError:
        return rule.estimate()
