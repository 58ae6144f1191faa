"""What is selected of drafted sequences, and what is kept of the one selected (Theory, 18)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base.arithmetic import (
    Array,
    Number,
    as_number,
    is_exact,
    positive_part,
    sums_by,
    zeros,
)
from otspec._base.digits import plain
from otspec._base.frozen import Frozen, cached_property
from otspec.models.base import Prefix
from otspec.programs.levels import Levels, differences, place_of, summed_below, text_masses
from otspec.programs.prices import PriceBound
from otspec.programs.sequences.corrections import CORRECTIONS
from otspec.programs.sequences.drafted import DraftedSets, Sequences
from otspec.solvers.solution import SOLVER_TOLERANCE


@dataclass(frozen=True, eq=False)
class PathPlan(Frozen):
    """Select one of the drafted sequences; keep a beginning of it.

    Law: a drafted set D selects its sequence x with probability b(D, x)/P(D). From the end of x
    towards its beginning, a text s is what is kept with probability
    (A(s) − Σ_y A(sy)) / (b(s) − Σ_y A(sy)), b(s) how likely what is selected begins with s; else
    it is shortened by one token. Then what is kept begins with s with probability A(s).

    Parameters
    ----------
    bound : PriceBound
        The law of the drafted sets, the target, what may be corrected, and the most that can be
        kept.
    selected : ndarray, shape (p,)
        b(D, x) for each of :attr:`DraftedSets.pairs`.
    at_least : Levels
        A(s), how likely what is kept begins with s.
    """

    bound: PriceBound
    selected: Array
    at_least: Levels

    @classmethod
    def of(cls, bound: PriceBound, selected: Array, at_least: Levels) -> PathPlan:
        """Return the plan of a solution; what a float solver leaves of a zero is mended.

        What a set does not select is selected with its first sequence; no A(s) is above what is
        selected or what the target allows.
        """
        drafted = _sets(bound)
        sets = drafted.pairs[0]
        selected = positive_part(selected)
        rest = drafted.chances - sums_by(sets, selected, len(drafted.chances))
        first = np.flatnonzero(np.r_[True, sets[1:] != sets[:-1]])
        selected[first] = positive_part(selected[first] + rest[sets[first]])
        passed = _passed(drafted, selected)
        if not is_exact(selected):
            at_least = CORRECTIONS[bound.corrects].mended(
                at_least, passed, _wanted(bound), drafted.n
            )
        return cls(bound, selected, at_least)

    @property
    def drafted(self) -> DraftedSets:
        """The law of the drafted sets."""
        return _sets(self.bound)

    @property
    def expected(self) -> Number:
        """E[τ], the expected length of what is kept."""
        total = sum(level.sum() for level in self.at_least[1:])
        return as_number(total, like=self.selected)

    @cached_property
    def exactly(self) -> Levels:
        """How likely each text is what is kept."""
        return tuple(map(positive_part, differences(self.at_least, self.drafted.n)))

    @cached_property
    def _stops(self) -> Levels:
        """How likely each text is what is kept, of what is selected and not kept beyond it."""
        passed = _passed(self.drafted, self.selected)
        stops = []
        for kept, all_kept, through in zip(self.exactly, self.at_least, passed, strict=True):
            total = kept + positive_part(through - all_kept)
            total[total == 0] = 1
            stops.append(kept / total)
        stops[0][0] = stops[0][0] * 0 + 1
        return tuple(stops)

    def kept(self, sequences: Sequences) -> dict[Prefix, Number]:
        """Return the law of what is kept given the drafted set.

        Raises
        ------
        ValueError
            A set that is never drafted.
        """
        drafted = self.drafted
        number = drafted.numbers.get(sequences)
        if number is None:
            raise ValueError(f"sequences is {plain(sequences)}: such a set is never drafted")
        law: defaultdict[Prefix, Any] = defaultdict(lambda: as_number(0, like=self.selected))
        pairs = slice(*np.searchsorted(drafted.pairs[0], [number, number + 1]))
        for sequence, mass in zip(sorted(sequences), self.selected[pairs].tolist(), strict=True):
            left, text = mass / drafted.chances[number], sequence
            while left > 0:
                stop = self._stops[len(text)][place_of(text, drafted.n)]
                if stop > 0:
                    law[text] += left * stop
                left, text = left * (1 - stop), text[:-1]
        return dict(law) if law else {(): as_number(1, like=self.selected)}

    def check(self) -> None:
        """Check from what each drafted set keeps that the plan is one, and its expectation.

        Raises
        ------
        ValueError
            A law that is none, more kept of a text than the target allows, or another expected
            length; at all in exact arithmetic, in floats by more than ten times the solvers'
            tolerance.
        """
        slack = 0.0 if is_exact(self.selected) else 10 * SOLVER_TOLERANCE
        drafted = self.drafted
        found = [zeros(len(level), like=level) for level in self.at_least]
        for number, sequences in enumerate(drafted.candidates):
            law = self.kept(sequences)
            masses: Any = list(law.values())
            if min(masses) < 0 or abs(sum(masses) - 1) > slack:
                raise ValueError(f"what the set {plain(sequences)} keeps is no distribution")
            if not drafted.sets[number].issuperset(law):
                raise ValueError(f"the set {plain(sequences)} keeps what it has not")
            for text, chance in law.items():
                mass = drafted.chances[number] * chance
                found[len(text)][place_of(text, drafted.n)] += mass
        summed = summed_below(tuple(found), drafted.n)
        over = CORRECTIONS[self.bound.corrects].over(summed, _wanted(self.bound), drafted.n)
        worst = max(level.max() for level in over)
        if worst > slack:
            raise ValueError(f"the plan keeps more than the target allows, by {plain(worst)}")
        total = sum(level.sum() for level in summed[1:])
        if abs(total - self.expected) > slack * drafted.depth:
            raise ValueError(f"the plan keeps {plain(total)}, not {plain(self.expected)}")


def _sets(bound: PriceBound) -> DraftedSets:
    drafted = bound.drafted
    if not isinstance(drafted, DraftedSets):
        raise ValueError("drafted is no law of sets: a plan says what each set selects")
    return drafted


def _wanted(bound: PriceBound) -> Levels:
    return text_masses(bound.target, bound.drafted.depth, "target")


def _passed(drafted: DraftedSets, selected: Array) -> Levels:
    """Return how likely what is selected begins with each text."""
    _, lengths, places = drafted.pairs
    ends = []
    for length in range(drafted.depth + 1):
        here = lengths == length
        ends.append(sums_by(places[here], selected[here], drafted.n**length))
    return summed_below(tuple(ends), drafted.n)
