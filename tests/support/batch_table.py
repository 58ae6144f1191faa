"""The batch rules by name, from the table of the package: drafts for each, and its reference."""

from __future__ import annotations

import otspec
from otspec import batch
from otspec.batch._table import RULES

MASKED = [name for name in RULES if RULES[name].masked]
EXACT = [name for name in RULES if name != "pooled_selection"]
"""Those that have the law of their reference; graded pools have an oracle of their own."""


def drafts_number(name, most):
    """How many drafts a rule takes, if there may be that many at most."""
    return RULES[name].k or most


def drafts_of(name, draft, uniforms, most):
    """Drafts of the law that a rule is for, from the first of the uniform numbers."""
    drafter = getattr(batch, RULES[name].drafter)
    return drafter(draft, uniforms[..., : drafts_number(name, most)])


def reference(name, draft, target, k):
    """The rule of otspec.rules with the law of a batch rule."""
    rule = getattr(otspec.rules, RULES[name].reference)
    return rule(draft, target) if RULES[name].k else rule(draft, target, k)
