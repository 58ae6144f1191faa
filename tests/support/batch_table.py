"""The batch rules by name, from the tables of the package: drafts for each, and its reference."""

from __future__ import annotations

import numpy as np

import otspec
from otspec import batch
from otspec.batch._array_api.k_sequential import safe_rho
from otspec.batch._array_api.library import library_of
from otspec.batch._running import RULES

REFERENCES = {rule.batch: rule for rule in otspec.rules.RULES.values() if rule.batch}
BLOCKS = {rule.batch: rule for rule in otspec.blocks.BLOCK_RULES.values() if rule.batch}
"""The classes of rules for one block with the laws of batch functions."""
MASKED = [name for name in RULES if RULES[name].masked]


def drafts_number(name, most):
    """How many drafts a rule takes, if there may be that many at most."""
    return RULES[name].k or most


def drafts_of(name, draft, uniforms, most):
    """Drafts of the law that a rule is for, from the first of the uniform numbers."""
    drafter = getattr(batch, RULES[name].drafter)
    return drafter(draft, uniforms[..., : drafts_number(name, most)])


def reference(name, draft, target, k):
    """The rule of otspec.rules with the law of a batch rule."""
    rule = REFERENCES[name]
    if name.startswith("pooled_selection"):
        return rule(draft, target, k, pools=otspec.rules.Graded())
    return rule(draft, target) if RULES[name].k else rule(draft, target, k)


def reference_at_rho(name, draft, target, k):
    """The same; K-Seq at the ρ that the batch function takes."""
    with np.errstate(all="ignore"):
        rule = reference(name, draft, target, k)
        if name != "k_sequential":
            return rule
        draft, target = np.asarray(draft), np.asarray(target)
        rho = safe_rho(library_of(draft), draft, target, np.full(1, float(k)))
        return otspec.rules.KSequential(draft, target, k, rho=max(float(rho), rule.rho))
