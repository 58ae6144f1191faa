"""Fourier-Motzkin elimination for two drafts (Cones, 5), with exact redundancy removal.

Source: Canonical, app. B (lemma 2) for acceptance 1, app. D (lemmas 3 and 4) for the optimum. A
pair of drafts {i, j}, i < j, has the unknown w(i, j): how much of its mass selects i; the rest
selects j. For the optimum, accepted(i) is how much of the selected mass of i is accepted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal, get_args

from otspec._base import as_choice, as_flag
from otspec.cones.condition import Classifier, Condition, irredundant
from otspec.cones.coordinates import Coordinates, Vector, coordinates, coprime

Target = Literal["certainty", "optimum"]
Pair = tuple[int, int]
Term = tuple[int, int]  # a factor and the column that it multiplies


@dataclass(frozen=True)
class System:
    """Inequalities a · (unknowns in the order of elimination, coordinates) ≥ 0 for two drafts."""

    coordinates: Coordinates  # k = 2, a row per set, and the acceptance for the optimum

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of tokens i < j, in the order of elimination."""
        return tuple(combinations(range(self.coordinates.n), 2))

    @cached_property
    def unknowns(self) -> tuple[str, ...]:
        """The unknowns in the order of elimination: Canonical, apps. B and D."""
        selected = [f"w({i}, {j})" for i, j in self.pairs]
        accepted = [f"accepted({i})" for i in range(self.coordinates.n)]
        return (*selected, *accepted * self.coordinates.acceptance)

    def inequalities(self) -> Iterator[Vector]:
        """Yield the relaxed system."""
        # Certainty (Canonical, (50)-(53)): w(i, j) ≥ 0, P{i, j} − w(i, j) ≥ 0, and q(i) is at least
        # all that selects i. Optimum ((110)-(112)): 0 ≤ accepted(i) ≤ q(i), accepted(i) is at most
        # all that selects i, and α at most the sum of accepted(i). And P{i} ≥ 0.
        yield from self._bounds(eliminated=0)
        for token in range(self.coordinates.n):
            yield self._selection((token,), eliminated=0)

    def lemma(self, eliminated: int) -> set[Vector]:
        """Return what the papers' lemmas list after some eliminations: Canonical, lemmas 2 to 4."""
        listed = set(self._bounds(eliminated))
        listed.update(self.coordinates_at_least_zero())
        done = max(0, eliminated - len(self.pairs))
        left = range(done, self.coordinates.n)
        for size in range(1, len(left) + 1):
            for chosen in combinations(left, size):
                listed.add(self._selection(chosen, eliminated))
        if done:
            listed.update(self._acceptances(done))
        return listed

    def coordinates_at_least_zero(self) -> Iterator[Vector]:
        """Yield P(S) ≥ 0 for each draft row, and q(i) ≥ 0 where it follows from accepted(i)."""
        space = self.coordinates
        for row in range(len(space.drafts)):
            yield self._vector([(1, self._column(row))])
        if space.acceptance:
            for token in range(space.n):
                yield self._vector([(1, self._target(token))])

    def _bounds(self, eliminated: int) -> Iterator[Vector]:
        """Yield the bounds of single unknowns that are left, P{i} ≥ 0, and α ≤ Σ accepted(i)."""
        space = self.coordinates
        for token in range(space.n):
            yield self._vector([(1, self._mass(token))])
        for number in range(eliminated, len(self.pairs)):
            yield self._vector([(1, number)])
            yield self._vector([(1, self._mass(*self.pairs[number])), (-1, number)])
        if not space.acceptance:
            return
        done = max(0, eliminated - len(self.pairs))
        for token in range(done, space.n):
            yield self._vector([(1, self._accepted(token))])
            yield self._vector([(1, self._target(token)), (-1, self._accepted(token))])
        if not done:
            total = [(1, self._accepted(token)) for token in range(space.n)]
            yield self._vector([*total, (-1, self._column(space.size - 1))])

    def _selection(self, tokens: tuple[int, ...], eliminated: int) -> Vector:
        """Return that q, or what is accepted, of a token set is within what selects it."""
        # For certainty q(A) is at least what must be selected in A: pairs inside, and w of pairs
        # that meet A from outside as long as they are unknown. For the optimum accepted(A) is at
        # most what can be selected in A: all of those pairs once their w is eliminated.
        sign = 1 if self.coordinates.acceptance else -1
        own = self._accepted if self.coordinates.acceptance else self._target
        terms = [(-sign, own(token)) for token in tokens]
        terms += [(sign, self._mass(token)) for token in tokens]
        for number, (i, j) in enumerate(self.pairs):
            meeting = (i in tokens) + (j in tokens)
            mass = (sign, self._mass(i, j))
            if meeting == 2 or (meeting == 1 and number < eliminated and sign == 1):
                terms.append(mass)
            elif meeting == 1 and number >= eliminated:
                terms += [(sign, number)] if i in tokens else [mass, (-sign, number)]
        return self._vector(terms)

    def _acceptances(self, done: int) -> Iterator[Vector]:
        """Yield α ≤ q(A) + P(meets B) + accepted(C) for partitions A, B, C; C is not eliminated."""
        space = self.coordinates
        for kept in _subsets(range(done, space.n)):
            rest = [token for token in range(space.n) if token not in kept]
            for bounded in _subsets(rest):
                selected = set(rest) - set(bounded)
                terms = [(1, self._accepted(token)) for token in kept]
                terms += [(1, self._target(token)) for token in bounded]
                terms += [
                    (1, self._column(row))
                    for row, drafts in enumerate(space.drafts)
                    if selected.intersection(drafts)
                ]
                yield self._vector([*terms, (-1, self._column(space.size - 1))])

    def _vector(self, terms: Iterable[Term]) -> Vector:
        values = [0] * (len(self.unknowns) + self.coordinates.size)
        for factor, column in terms:
            values[column] += factor
        return tuple(values)

    def _column(self, coordinate: int) -> int:
        return len(self.unknowns) + coordinate

    def _mass(self, *tokens: int) -> int:
        return self._column(self.coordinates.draft(tokens))

    def _target(self, token: int) -> int:
        return self._column(self.coordinates.token(token))

    def _accepted(self, token: int) -> int:
        return len(self.pairs) + token


def _subsets(tokens: Iterable[int]) -> Iterator[tuple[int, ...]]:
    listed = list(tokens)
    for size in range(len(listed) + 1):
        yield from combinations(listed, size)


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
        return Classifier(self.conditions[0].coordinates).missing(self.conditions)

    @property
    def proves_cut_formula(self) -> bool:
        """Whether the final conditions are trivial ones and each cut once, as the papers say."""
        return not self.others and not self.missing

    @property
    def peak(self) -> int:
        """The most inequalities that a step produced."""
        return max((step.combined for step in self.steps), default=len(self.conditions))


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
