"""Fourier-Motzkin elimination for two drafts (Cones, 5), with exact redundancy removal.

Source: Canonical, app. B (lemma 2) for acceptance 1, app. D (lemmas 3 and 4) for the optimum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from otspec._base.arguments import as_choice, as_flag
from otspec.cones.condition import Classifier, Condition
from otspec.cones.coordinates import coordinates
from otspec.cones.double_description import irredundant
from otspec.cones.systems import System, Target
from otspec.cones.vectors import Vector, coprime


@dataclass(frozen=True)
class Step:
    """One eliminated unknown.

    Parameters
    ----------
    unknown : str
        Such as ``"w(0, 1)"`` or ``"accepted(0)"``.
    combined : int
        Inequalities after the elimination, before any is removed.
    distinct : int
        How many of them differ by more than a positive factor.
    kept : int
        How many of these follow from no others; ``distinct`` if redundant ones were left.
    unlisted : int or None
        How many kept inequalities the papers' lemma does not list: 0 confirms it. None if
        redundant ones were left.
    """

    unknown: str
    combined: int
    distinct: int
    kept: int
    unlisted: int | None


@dataclass(frozen=True)
class Elimination:
    """What is left when all unknowns are eliminated, and how it came about.

    Parameters
    ----------
    target : {"certainty", "optimum"}
    steps : tuple of Step
        One per unknown, in the order of elimination.
    conditions : tuple of Condition
        The final inequalities, redundant ones removed.
    """

    target: Target
    steps: tuple[Step, ...]
    conditions: tuple[Condition, ...]

    @property
    def others(self) -> tuple[Condition, ...]:
        """The conditions that are neither trivial nor the condition of a token set."""
        return tuple(it for it in self.conditions if it.kind == "other")

    @property
    def missing(self) -> tuple[tuple[int, ...], ...]:
        """The token sets whose conditions are not among the final ones."""
        return self._classifier.missing(self.conditions)

    @property
    def proves_cut_formula(self) -> bool:
        """Whether the final conditions are trivial ones and each cut once, as the papers say."""
        return not self.others and not self.missing

    @property
    def peak(self) -> int:
        """The most inequalities that a step produced."""
        return max((step.combined for step in self.steps), default=len(self.conditions))

    @cached_property
    def _classifier(self) -> Classifier:
        return Classifier(self.conditions[0].coordinates)


def eliminate(n: int, *, target: Target = "certainty", reduce: bool = True) -> Elimination:
    """Eliminate the selection of two drafts from the system of inequalities, unknown by unknown.

    Parameters
    ----------
    n : int
        Vocabulary size.
    target : {"certainty", "optimum"}
        The conditions for acceptance 1: eliminate w(i, j), i < j, and with it w(j, i), in
        lexicographic order (Canonical, app. B). Or those for an acceptance alpha: eliminate
        w likewise, then accepted(0), accepted(1), … (app. D).
    reduce : bool
        Remove redundant inequalities after every step, by exact linear programs. Otherwise only
        duplicates are removed before the end, and the system explodes.

    Raises
    ------
    ValueError
        n no positive integer, an unknown target, or too many inequalities; pycddlib is not
        installed.
    """
    as_choice(target, "target", get_args(Target))
    reduce = as_flag(reduce, "reduce")
    system = System(coordinates(n, 2, "sets", acceptance=target == "optimum"))
    rows, steps = list(system.inequalities()), []
    for step, left in eliminations(system, reduce=reduce):
        steps.append(step)
        rows = left
    final = [row[len(steps) :] for row in irredundant(rows)]
    classifier = Classifier(system.coordinates)
    return Elimination(target, tuple(steps), classifier.conditions(final))


def eliminations(system: System, *, reduce: bool) -> Iterator[tuple[Step, list[Vector]]]:
    """Eliminate the unknowns of a system one by one; yield each step and what it leaves."""
    rows = list(system.inequalities())
    for column, unknown in enumerate(system.unknowns):
        rows, combined = _without(rows, column, system, reduce)
        distinct, unlisted = len(rows), None
        if reduce:
            rows = irredundant(rows)
            unlisted = len(set(rows) - system.lemma(column + 1))
        yield Step(unknown, combined, distinct, len(rows), unlisted), rows


MOST = 50_000  # most inequalities that one elimination may combine


def _without(
    rows: Sequence[Vector], column: int, system: System, reduce: bool
) -> tuple[list[Vector], int]:
    """Return the distinct inequalities after one elimination, and how many there were."""
    lower = [row for row in rows if row[column] > 0]
    upper = [row for row in rows if row[column] < 0]
    kept = [row for row in rows if row[column] == 0]
    combined = len(kept) + len(lower) * len(upper)
    if combined > MOST:
        advice = "use a smaller n" if reduce else "use reduce=True or a smaller n"
        raise ValueError(
            f"n is {system.coordinates.n}: eliminating {system.unknowns[column]} makes "
            f"{combined:,} inequalities, at most {MOST:,}: {advice}"
        )
    for low in lower:
        for up in upper:
            pair = zip(low, up, strict=True)
            kept.append(tuple(low[column] * u - up[column] * v for v, u in pair))
    distinct = dict.fromkeys(coprime(row) for row in kept if any(row))
    return list(distinct), combined
