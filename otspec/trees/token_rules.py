"""The rules for one token that verify the children of a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from otspec.distributions import Distribution
from otspec.drafts import TooFewTokensError
from otspec.raw import shown
from otspec.registry import Registry, subclass_of
from otspec.rules import (
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

    Raises
    ------
    ValueError
        ``rule`` does not return a rule for so many drafts of the two.
    """
    try:
        return _called(rule, draft, target, k)
    except TooFewTokensError:
        possible = min(k, int(np.count_nonzero(draft)))
    if possible == 1:
        return MaximalCoupling(draft, target)
    return _called(rule, draft, target, possible)


def _called(rule: TokenRule, draft: Distribution, target: Distribution, k: int) -> Rule:
    made = rule(draft, target, k)
    if not isinstance(made, Rule):
        raise ValueError(
            f"rule makes {shown(made)} for {k} drafts: it must make a rule of otspec.rules, or one "
            "like them"
        )
    if made.law.k != k or len(made.target) != len(target):  # the law may be made, and refused, late
        raise ValueError(
            f"rule makes one for {made.law.k} drafts of {len(made.target)} tokens: it must make "
            f"one for {k} drafts of the {len(target)} tokens that it is given"
        )
    return made


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
    TargetOnly,
):
    RULES.register(_rule)
