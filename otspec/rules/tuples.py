"""What a rule accepts, by enumerating all tuples of drafts; small vocabularies only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otspec.arithmetic import Array, IntArray, zeros
from otspec.digits import counted
from otspec.drafts.contract import TooManyTuplesError

if TYPE_CHECKING:
    from otspec.rules.contract import Rule

PLACES_LIMIT = 20_000
"""Most draft tuples that are enumerated to say which draft is accepted."""


class NotExactError(ValueError):
    """What is asked for takes too long to compute exactly; the message names what estimates it."""


def all_tuples(rule: Rule) -> tuple[IntArray, Array]:
    """Return all draft tuples and their masses.

    Raises
    ------
    NotExactError
        There are too many.
    """
    try:
        return rule.law.tuples()
    except TooManyTuplesError as error:
        raise NotExactError(f"{error}; estimate() and estimate_law() simulate drafts") from error


def enumerated_law(rule: Rule) -> Array:
    """Return a rule's accepted law, shape (n,)."""
    accepted = zeros(len(rule.target), like=rule.target)
    for x, mass in zip(*all_tuples(rule), strict=True):
        drafts = sorted(set(x.tolist()))
        accepted[drafts] += mass * rule.kernel(x)[drafts]
    return accepted


def enumerated_by_draft(rule: Rule) -> Array:
    """Return a rule's accepted law by the first draft that is the output, shape (k, n)."""
    rows = rule.law.table_rows()
    if rows > PLACES_LIMIT:
        raise NotExactError(
            f"{counted(rows)} tuples of k = {rule.k} drafts are too many to say which of them is "
            "accepted: use fewer drafts or tokens"
        )
    placed = zeros((rule.k, len(rule.target)), like=rule.target)
    for x, mass in zip(*all_tuples(rule), strict=True):
        add_first(placed, x.tolist(), mass * rule.kernel(x))
    return placed


def add_first(accepted: Array, drafts: list[int], row: Array) -> None:
    """Add what the outputs of some drafts are likely to be, each at the first draft that it is."""
    for token in sorted(set(drafts)):
        accepted[drafts.index(token), token] += row[token]
