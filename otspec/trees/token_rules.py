"""The rules for one token that verify the children of a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from otspec.distributions import Distribution
from otspec.drafts import TooFewTokensError
from otspec.registry import Registry, subclass_of
from otspec.rules import (
    GumbelCoupling,
    ImportanceSampling,
    KSequential,
    MaximalCoupling,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)
from otspec.rules.contract import Rule

TokenRule: TypeAlias = Callable[[Distribution, Distribution, int], Rule]
"""(draft, target, k) → a rule for one token, such as a class of :mod:`otspec.rules`."""


def made_rule(rule: TokenRule, draft: Distribution, target: Distribution, k: int) -> Rule:
    """Return the rule for k drafts, or for fewer if there are not so many distinct ones.

    Of a single draft all rules for distinct drafts make the best, a maximal coupling.
    """
    try:
        made = rule(draft, target, k)
        getattr(made, "law", None)  # which a rule may make late, and refuse only then
        return made
    except TooFewTokensError:
        possible = min(k, int(np.count_nonzero(draft)))
    return MaximalCoupling(draft, target) if possible == 1 else rule(draft, target, possible)


RULES: Registry[type[PairRule]] = Registry(
    "rule for trees", "otspec.tree_rules", subclass_of(PairRule)
)
"""The rules for one token with which trees are compared, by name, in the order of tables."""
for _rule in (
    RecursiveRejection,
    KSequential,
    ImportanceSampling,
    PooledSelection,
    RecursiveRejectionWithoutReplacement,
    PooledSelectionWithoutReplacement,
    SpecHub,
    GumbelCoupling,
    TargetOnly,
):
    RULES.register(_rule)
