"""What a rule accepts, by enumerating all tuples of drafts; small vocabularies only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from otspec._base.arithmetic import Array, IntArray, Number, as_number, zeros
from otspec._base.digits import counted
from otspec.chance import branches
from otspec.distributions import Distribution
from otspec.drafts.base import TooManyTuplesError
from otspec.rules.base.accepted import add_first

if TYPE_CHECKING:
    from otspec.rules.base.rule import Rule

FEW = 20_000
"""Most draft tuples that are enumerated to say which draft is accepted."""


class NotExactError(ValueError):
    """What is asked for takes too long to compute exactly; the message names what estimates it."""


def joint_kernel_of(rule: Rule, drafts: Sequence[int]) -> Array:
    """Return a rule's joint kernel by following its program along every branch."""
    joint = zeros((len(drafts) + 1, len(rule.target)), like=rule.target)
    drawn: dict[int, tuple[Distribution, Number]] = {}
    for mass, found in branches(lambda chance: rule.verify(drafts, chance)):
        if isinstance(found, int):
            joint[found, drafts[found]] += as_number(mass, like=joint)
        else:
            # Many branches end in one distribution: their masses are added up before it is scaled.
            _, others = drawn.get(id(found), (found, 0))
            drawn[id(found)] = found, others + mass
    for row, mass in drawn.values():
        joint[-1] += as_number(mass, like=joint) * row
    return joint


def all_tuples(rule: Rule) -> tuple[IntArray, Array]:
    """Return all draft tuples and their masses."""
    try:
        return rule.law.tuples()
    except TooManyTuplesError as error:
        raise NotExactError(f"{error}; estimate() simulates drafts") from error


def enumerated_law(rule: Rule) -> Array:
    """Return a rule's accepted law by enumerating the drafts."""
    accepted: Array = enumerated_by_position(rule).sum(axis=0)
    return accepted


def few_by_position(rule: Rule) -> Array:
    """Return :func:`enumerated_by_position`, if that is soon."""
    rows = rule.law.table_rows()
    if rows > FEW:
        raise NotExactError(
            f"{counted(rows)} tuples of k = {rule.law.k} drafts are too many to say which of them "
            "is accepted: use fewer drafts or tokens"
        )
    return enumerated_by_position(rule)


def enumerated_by_position(rule: Rule) -> Array:
    """Return the probability that the output is y and draft i the first that is y: (k, n)."""
    tuples, masses = all_tuples(rule)
    # In the kernel's arithmetic: a plan in floats may have an exact target.
    accepted = zeros((rule.law.k, len(rule.target)), like=rule.kernel(tuples[0].tolist()))
    for x, mass in zip(tuples, masses, strict=True):
        add_first(accepted, x.tolist(), mass * rule.kernel(x))
    return accepted
