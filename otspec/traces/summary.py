"""Means over the positions of a trace by temperature, and which rules attain the optimum."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple, Protocol, TypeVar

import numpy as np

from otspec._base import Number, as_instance, as_steps
from otspec._base.tables import listed
from otspec.distributions import SUM_TOLERANCE
from otspec.estimate import Estimate, Quantity, value_of
from otspec.frames import Rows
from otspec.rules import compared_rules
from otspec.traces.comparison import Comparison, Row


class TemperaturePair(NamedTuple):
    """A temperature of the target, and one of the draft."""

    target: float
    draft: float

    def __str__(self) -> str:
        return f"T = {self.target}" + ("" if self.alike else f", draft T = {self.draft}")

    @property
    def alike(self) -> bool:
        """Whether both are the same."""
        return self.target == self.draft

    @property
    def mark(self) -> str:
        """What names of files have: ``T0.6``, or ``T0.6-draft1`` if the draft's is another."""
        return f"T{self.target:g}" + ("" if self.alike else f"-draft{self.draft:g}")


class HasTemperatures(Protocol):
    """A row of results that says its temperatures."""

    @property
    def temperature(self) -> float:
        """Of the target."""

    @property
    def draft_temperature(self) -> float:
        """Of the draft."""


RowT = TypeVar("RowT", bound=HasTemperatures)


def temperatures_of(row: HasTemperatures) -> TemperaturePair:
    """Return the temperatures of a row."""
    return TemperaturePair(row.temperature, row.draft_temperature)


def by_temperatures(rows: Iterable[RowT]) -> dict[TemperaturePair, list[RowT]]:
    """Return the rows of each pair of temperatures, in order of first appearance."""
    found: dict[TemperaturePair, list[RowT]] = {}
    for row in rows:
        found.setdefault(temperatures_of(row), []).append(row)
    return found


Compared = TypeVar("Compared", bound=Row)


@dataclass(frozen=True)
class Summary(Row):
    """One rule under one draft law and one k, over all positions.

    Parameters
    ----------
    rule, drafts, k
        As in :class:`otspec.traces.Comparison`.
    acceptance, optimum : float
        Means over the same positions.
    positions : int
        How many positions the means are over.
    """

    acceptance: Annotated[float, "probability"]
    optimum: Annotated[float, "probability"]
    positions: int

    @property
    def gap(self) -> Annotated[float, "probability"]:
        """How far the rule is below the optimum of its draft law, on average."""
        return self.optimum - self.acceptance


def summarize(positions: Iterable[Sequence[Comparison]]) -> Rows[Summary]:
    """Average comparisons over positions: an iterable with one sequence of them per position.

    There is one row per rule, draft law and k, in the order of first appearance. A law that exists
    at some positions only (too few tokens left by top-k or top-p) is averaged over those.
    """
    groups: dict[tuple[str, str, int], list[Comparison]] = {}
    wanted = "lists of Comparison objects, one per position"
    for comparisons in as_steps(positions, "positions", wanted):
        for row in as_steps(comparisons, "positions", wanted):
            as_instance(row, "positions", Comparison, wanted)
            groups.setdefault((row.rule, row.drafts, row.k), []).append(row)
    found = [
        Summary(
            *key,
            acceptance=float(np.mean([float(row.acceptance) for row in rows])),
            optimum=float(np.mean([float(row.optimum) for row in rows])),
            positions=len(rows),
        )
        for key, rows in groups.items()
    ]
    return Rows(found, Summary, "means over positions")


def attains(acceptance: Number | Quantity, optimum: Number | Quantity) -> bool:
    """Return whether a rule accepts the optimum."""
    # Exactly for fractions; floats may be below by the tolerance for sums of distributions. Of an
    # estimate the whole interval has to.
    least = acceptance.low if isinstance(acceptance, Estimate) else value_of(acceptance)
    gap = value_of(optimum) - least
    return bool(gap <= (0 if isinstance(gap, Fraction) else SUM_TOLERANCE))


def price_of_independence(rows: Sequence[Compared]) -> Iterator[str]:
    """Yield how far rules are below the optimum whose output depends on no draft, for one k."""
    named = independent_of_drafts(row.rule for row in rows)
    clauses = [
        f"{row.rule} {100 * float(row.gap):z.1f} ({row.drafts})"
        for row in rows
        if row.rule in named
    ]
    if clauses:
        yield (
            "The output of some rules does not depend on the drafts. Their gaps in percentage "
            f"points: {listed(clauses, 'and')}."
        )


def independent_of_drafts(rules: Iterable[str]) -> list[str]:
    """Return the rules, by title, whose output depends on no draft."""
    # Empty where none is from shared noise: independent noise alone would make the price too high.
    known = {rule.title: rule for rule in compared_rules() if rule.independent}
    found = [rule for rule in rules if rule in known]
    return [] if all(known[rule].quick for rule in found) else found


def attained_by(rules: Sequence[str]) -> str:
    """Return the clause that says which rules attain the optimum; there is at least one."""
    return f"{listed(rules, 'and')} attain{'s' if len(rules) == 1 else ''} it"


def begun(sentence: str) -> str:
    """Return words as the beginning of a sentence; names in capitals stay as they are."""
    return sentence[:1].upper() + sentence[1:]


def attainment(
    rows: Sequence[Compared], optimum: Number | Quantity, of_the_best: Callable[[Compared], str]
) -> list[str]:
    """Return sentences on which rules attain the optimum, and what the best other rule does."""
    attaining = [row.rule for row in rows if attains(row.acceptance, optimum)]
    others = [row for row in rows if row.rule not in attaining]
    sentences = [f"{begun(attained_by(attaining))}."] if attaining else []
    if others:
        best = max(others, key=lambda row: row.acceptance)
        which = "of the other rules" if attaining else "rule listed"
        sentences.append(f"The best {which}, {best.rule}, {of_the_best(best)}.")
    return sentences
