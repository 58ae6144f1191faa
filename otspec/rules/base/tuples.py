"""What a rule accepts, by enumerating all tuples of drafts or by an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from otspec._base.arithmetic import Array, IntArray, Number, as_number, is_exact, zeros
from otspec._base.digits import counted
from otspec.chance import branches
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.base import TooManyTuplesError
from otspec.estimate import Exact, Known
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


ENUMERATION_LIMIT = 20_000
"""Most draft tuples that an acceptance in floats is enumerated for, if there is another way."""


FEW_IN_FLOATS = 500
"""Most draft tuples that are enumerated in floats to say which draft is accepted."""


def refuse_many_tuples(law: DraftLaw) -> None:
    """Refuse to enumerate for residual hits what takes long, since they can be simulated."""
    rows = law.table_rows()
    if rows > ENUMERATION_LIMIT:
        raise NotExactError(
            f"residual hits take all of {counted(rows)} draft tuples to know exactly: estimate() "
            "simulates them"
        )


def enumerated_acceptance(rule: Rule) -> Number:
    """Return a rule's acceptance by enumerating the drafts; small vocabularies only."""
    return as_number(enumerated_law(rule).sum(), like=rule.target)


def by_position_or_estimate(rule: Rule) -> Array:
    """Return how likely draft i is accepted as y, (k, n), or where that takes long an estimate."""
    # Estimates are floats.
    exact = is_exact(rule.target)
    if exact or not rule.enumerates_positions or rule.law.table_rows() <= FEW_IN_FLOATS:
        try:
            return rule.accepted().by_position_and_token
        except NotExactError:
            if exact:
                raise
    return rule.estimate().by_position_and_token.value


def acceptance_or_estimate(rule: Rule) -> Known:
    """Return a rule's acceptance, or where that takes too long an estimate of it."""
    try:
        return Exact(rule.acceptance())
    except NotExactError:
        return rule.estimate().probability
