"""The rules for one token that verify the children of a node."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from otspec import rules
from otspec._base.coerce import shown
from otspec._base.registry import Registry, subclass_of
from otspec.distributions import Distribution
from otspec.drafts import TooFewTokensError
from otspec.rules.base.rule import Rule

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
    checked: Rule = made
    return checked


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
