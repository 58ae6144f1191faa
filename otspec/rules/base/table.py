"""The table of all rules, with what each says of itself."""

from __future__ import annotations

from otspec._base.registry import Registry, subclass_of
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import Rule

RULES: Registry[type[Rule]] = Registry("rule", "otspec.rules", subclass_of(Rule))
"""All rules for one token, by name, in the order of tables.

Each says in class variables which law its drafts have, which k it takes, whether its acceptance is
a formula, which function of :mod:`otspec.batch` does the same and how charts draw it. Command
lines, comparisons, documentation and tests take it from there.
"""


def compared_rules() -> tuple[type[PairRule], ...]:
    """Return the rules that comparisons show beside the optimum of their draft law."""
    return tuple(rule for rule in RULES.values() if issubclass(rule, PairRule) and rule.compared)
