"""The table of all rules, with what each says of itself."""

from __future__ import annotations

from typing import Any

from otspec.raw import shown
from otspec.registry import Registry
from otspec.rules.contract import Rule
from otspec.rules.pair_rule import PairRule


def check_rule(name: str, rule: Any) -> None:
    """Refuse what is no rule, or is named otherwise.

    Raises
    ------
    ValueError
        Saying which.
    """
    if not (isinstance(rule, type) and issubclass(rule, Rule)):
        raise ValueError(f"{shown(rule)} is no subclass of Rule")
    if rule.name != name:
        raise ValueError(f"the rule is named {shown(rule.name)}, not {shown(name)}")


RULES: Registry[type[Rule]] = Registry("rule", "otspec.rules", check_rule)
"""All rules for one token, by name, in the order of tables.

Each says in class variables which law its drafts have, which k it takes, whether its acceptance is
a formula, which function of :mod:`otspec.batch` does the same and how charts draw it. Command
lines, comparisons, documentation and tests take it from there.
"""


def compared_rules() -> tuple[type[PairRule], ...]:
    """Return the rules that comparisons show beside the optimum of their draft law."""
    return tuple(rule for rule in RULES.values() if issubclass(rule, PairRule) and rule.compared)
