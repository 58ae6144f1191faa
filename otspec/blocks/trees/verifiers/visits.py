"""In which order and with which weights the nodes of a tree are visited (Theory, 22)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number, zeros
from otspec._base.digits import counted
from otspec._base.frozen import Frozen
from otspec.blocks.trees.verifiers.nodes import TUPLE_LIMIT, Places
from otspec.blocks.trees.verifiers.token_rules import TokenRule, made_rule
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution
from otspec.rules.base.accepted import NotExactError
from otspec.rules.base.rule import Rule


class Child(NamedTuple):
    """A child of a node that may be visited."""

    token: int
    places: Places
    """Which of the drafted children it is: equal ones may be one."""
    weight: Number
    """With which probability it is kept if it is visited."""


@dataclass(frozen=True, eq=False)
class Arrivals(Frozen):
    """What happens below a node, given its drafts or over all of them."""

    masses: dict[Child, Any]
    """The probability that a child is visited, in the order of visits if the drafts are given."""
    rest: Array
    """The probability that no child is kept and y is drawn instead, shape (n + 1,); † is last."""


def with_dagger(row: Array, rest: Number) -> Array:
    """Return a row over one token more, †: shape (n,) -> (n + 1,)."""
    longer: Array = np.concatenate([row, zeros(1, like=row) + rest])
    return longer


def rule_of_weight(
    rule: TokenRule, draft: Distribution, target: Distribution, weight: Number, k: int
) -> Rule:
    """Return a rule for one token at a node of that weight, over one token more, †."""
    none = as_number(0, like=draft)
    wanted = with_dagger(weight * target, 1 - weight)
    return made_rule(rule, with_dagger(draft, none), wanted, k)


def at_leaf(target: Distribution, weight: Number) -> Arrivals:
    """Return what happens at a node without children."""
    return Arrivals({}, with_dagger(weight * target, 1 - weight))


def given_drafts(rule: Rule, drafts: Sequence[int], merge: bool) -> Arrivals:
    """Return what happens below a node whose drafts are known; equal i.i.d. ones may merge."""
    rest = rule.kernel(drafts).copy()
    left = as_number(1, like=rest)
    masses = {}
    for token, places in _together(drafts, merge and rule.law.iid).items():
        weight = acceptance_chance(rest[token], left)
        if weight > 0:
            masses[Child(token, places, weight)] = left
        left = left * (1 - weight)
        rest[token] = 0 * left
    return Arrivals(masses, rest)


def _together(drafts: Sequence[int], merge: bool) -> dict[int, Places]:
    places: dict[int, Places] = {}
    for place, token in enumerate(drafts):
        if merge or token not in places:
            places[token] = (*places.get(token, ()), place)
    return places


def over_drafts(rule: Rule, merge: bool) -> Arrivals:
    """Return what happens below a node over all drafts, by enumerating them."""
    rows = rule.law.table_rows()
    if rows > TUPLE_LIMIT:
        raise NotExactError(
            f"{counted(rows)} tuples of k = {rule.law.k} drafts over {rule.law.n - 1} tokens are "
            "too many for an exact sum: use a smaller tree, or simulate()"
        )
    masses: dict[Child, Any] = {}
    rest = zeros(rule.law.n, like=rule.target)
    tuples, chances = rule.law.tuples()
    for drafts, chance in zip(tuples.tolist(), chances.tolist(), strict=True):
        given = given_drafts(rule, drafts, merge)
        rest = rest + chance * given.rest
        for child, mass in given.masses.items():
            masses[child] = masses.get(child, 0) + chance * mass
    return Arrivals(masses, rest)
