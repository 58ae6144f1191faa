"""The table of all rules, with what each says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otspec._base.arguments import as_choice, as_list
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


def named_rules(names: Any, laws: Sequence[str]) -> tuple[type[PairRule], ...]:
    """Return the compared rules of these names, in the order of tables.

    Without any, all that are quick and verify drafts of these laws.
    """
    known = {rule.name: rule for rule in compared_rules()}
    found = set()
    if not names:
        found = {each for each in known.values() if each.quick and each.law_class.name in laws}
    for i, name in enumerate(as_list(names, "only", "a list of names of rules")):
        rule = known[as_choice(name, f"only[{i}]", known)]
        if rule.law_class.name not in laws:
            raise ValueError(
                f"{rule.name} verifies {rule.law_class.name} drafts, which are not compared: "
                f"add the law {rule.law_class.name}, or leave the rule out"
            )
        found.add(rule)
    return tuple(rule for rule in known.values() if rule in found)
