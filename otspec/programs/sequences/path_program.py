"""Select one drafted sequence, then verify it alone: the optimum and its plan (Theory, 18)."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec._base import Array, Frozen, IntArray, Number, arithmetic, cached_property, plain
from otspec.models.base import Prefix
from otspec.programs.formulation import Size, check_size
from otspec.programs.sequences import drafted_texts
from otspec.programs.sequences.drafted_texts import DraftedSets, Levels, Sequences
from otspec.programs.sequences.kept_texts import CORRECTIONS, KeptTexts
from otspec.programs.sequences.text_program import PriceBound
from otspec.solvers import SOLVERS, LinearProgram, Sense, Solution, SolverName, solve
from otspec.solvers.base import SOLVER_TOLERANCE


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
    def of(cls, bound: PriceBound, selected: Array, at_least: Levels) -> "PathPlan":
        """Return the plan of a solution; what a float solver leaves of a zero is mended.

        What a set does not select is selected with its first sequence; no A(s) is above what is
        selected or what the target allows.
        """
        drafted = _sets(bound)
        sets = drafted.pairs[0]
        selected = arithmetic.positive_part(selected)
        rest = drafted.chances - arithmetic.sums_by(sets, selected, len(drafted.chances))
        first = np.flatnonzero(np.r_[True, sets[1:] != sets[:-1]])
        selected[first] = arithmetic.positive_part(selected[first] + rest[sets[first]])
        passed = _passed(drafted, selected)
        if not arithmetic.is_exact(selected):
            rules = CORRECTIONS[bound.corrects]
            at_least = rules.mended(at_least, passed, _wanted(bound), drafted.n)
        return cls(bound, selected, at_least)

    @property
    def drafted(self) -> DraftedSets:
        """The law of the drafted sets."""
        return _sets(self.bound)

    @property
    def expected(self) -> Number:
        """E[τ], the expected length of what is kept."""
        total = sum(level.sum() for level in self.at_least[1:])
        return arithmetic.as_number(total, like=self.selected)

    @cached_property
    def exactly(self) -> Levels:
        """How likely each text is what is kept."""
        return tuple(
            map(arithmetic.positive_part, drafted_texts.differences(self.at_least, self.drafted.n))
        )

    @cached_property
    def _stops(self) -> Levels:
        """How likely each text is what is kept, of what is selected and not kept beyond it."""
        passed = _passed(self.drafted, self.selected)
        stops = []
        for kept, all_kept, through in zip(self.exactly, self.at_least, passed, strict=True):
            total = kept + arithmetic.positive_part(through - all_kept)
            total[total == 0] = 1
            stops.append(kept / total)
        stops[0][0] = stops[0][0] * 0 + 1
        return tuple(stops)

    def kept(self, sequences: Sequences) -> dict[Prefix, Number]:
        """Return the law of what is kept given a drafted set; a ValueError if it never is one."""
        drafted = self.drafted
        number = drafted.numbers.get(sequences)
        if number is None:
            raise ValueError(f"sequences is {plain(sequences)}: such a set is never drafted")
        law: defaultdict[Prefix, Any] = defaultdict(
            lambda: arithmetic.as_number(0, like=self.selected)
        )
        pairs = slice(*np.searchsorted(drafted.pairs[0], [number, number + 1]))
        for sequence, mass in zip(sorted(sequences), self.selected[pairs].tolist(), strict=True):
            left, text = mass / drafted.chances[number], sequence
            while left > 0:
                stop = self._stops[len(text)][drafted_texts.place_of(text, drafted.n)]
                if stop > 0:
                    law[text] += left * stop
                left, text = left * (1 - stop), text[:-1]
        return dict(law) if law else {(): arithmetic.as_number(1, like=self.selected)}

    def check(self) -> None:
        """Check from what each drafted set keeps that the plan is one, and its expectation.

        Raises
        ------
        ValueError
            A law that is none, more kept of a text than the target allows, or another expected
            length; at all in exact arithmetic, in floats by more than ten times the solvers'
            tolerance.
        """
        slack = 0.0 if arithmetic.is_exact(self.selected) else 10 * SOLVER_TOLERANCE
        drafted = self.drafted
        found = [arithmetic.zeros(len(level), like=level) for level in self.at_least]
        for number, sequences in enumerate(drafted.candidates):
            law = self.kept(sequences)
            masses: Any = list(law.values())
            if min(masses) < 0 or abs(sum(masses) - 1) > slack:
                raise ValueError(f"what the set {plain(sequences)} keeps is no distribution")
            if not drafted.sets[number].issuperset(law):
                raise ValueError(f"the set {plain(sequences)} keeps what it has not")
            for text, chance in law.items():
                mass = drafted.chances[number] * chance
                found[len(text)][drafted_texts.place_of(text, drafted.n)] += mass
        summed = drafted_texts.summed_below(tuple(found), drafted.n)
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
    return drafted_texts.text_masses(bound.target, bound.drafted.depth, "target")


def _passed(drafted: DraftedSets, selected: Array) -> Levels:
    """Return how likely what is selected begins with each text."""
    _, lengths, places = drafted.pairs
    ends = []
    for length in range(drafted.depth + 1):
        here = lengths == length
        ends.append(arithmetic.sums_by(places[here], selected[here], drafted.n**length))
    return drafted_texts.summed_below(tuple(ends), drafted.n)


CHOSEN = 1e-11  # the smallest mass of a float solution that counts as more than rounding


@dataclass(frozen=True, eq=False)
class PathProgram(KeptTexts):
    """Maximize Σ A(s) over texts s where each drafted set selects one of its sequences.

    Variables b(D, x) ≥ 0 for the sequences x of a drafted set D, with Σ_x b(D, x) ≤ P(D), and
    A(s) ≤ Σ b(D, x) over the x that begin with s. The other rows are those of
    :class:`otspec.programs.sequences.kept_texts.KeptTexts`. Source: Canonical, thms. 1 and 4, for
    texts instead of tokens.
    """

    drafted: DraftedSets

    def size(self) -> Size:
        """Return the size of the program."""
        sets, sequences = len(self.drafted.chances), len(self.drafted.pairs[0])
        below = sequences * (self.drafted.depth + 1)
        return Size(sets + 2 * self.texts, sequences + self.texts, below + 3 * self.texts)

    def build(self) -> LinearProgram:
        """Build the linear program.

        Raises
        ------
        ValueError
            It would not fit in memory; the message names its size.
        """
        check_size("path", self.size(), "use shorter blocks, fewer drafts or fewer tokens")
        pairs = np.arange(len(self.drafted.pairs[0]), dtype=np.intp)
        return self._stated(pairs, pairs[:0])

    def _stated(self, free: IntArray, sure: IntArray) -> LinearProgram:
        """Return the program with some of the variables b, and some sets that select for sure."""
        model, columns = self._begun()
        sets, _, places = (each[free] for each in self.drafted.pairs)
        left, numbers = np.unique(sets, return_inverse=True)
        chances = self.drafted.chances
        selected = model.columns("b", np.column_stack([sets, places]), 0, np.inf)
        drafted = model.rows("drafted", left[:, None], 0, chances[left])
        model.put(drafted[numbers], selected)
        pairs, texts = self._passed(sure)
        surely = arithmetic.sums_by(
            texts, chances[self.drafted.pairs[0][sure[pairs]]], len(columns)
        )
        met = model.rows("selected", columns[:, None], -np.inf, surely)
        model.put(met, columns)
        pairs, texts = self._passed(free)
        model.put(met[texts], selected[pairs], -1)
        return model.program(f"paths ({self.corrects})", Sense.MAXIMIZE, columns)

    def _passed(self, pairs: IntArray) -> tuple[IntArray, IntArray]:
        """Return which of the pairs pass through which of the texts."""
        _, lengths, places = (each[pairs] for each in self.drafted.pairs)
        rows, texts = [pairs[:0]], [pairs[:0]]
        for length, columns in enumerate(self.columns()[1:], 1):
            long = np.flatnonzero(lengths >= length)
            found = columns[places[long] // self.drafted.n ** (lengths[long] - length)]
            rows.append(long[found >= 0])
            texts.append(found[found >= 0])
        return np.concatenate(rows), np.concatenate(texts)

    def _proved(self, solution: Solution) -> PriceBound:
        """Return the bound by the prices that the duals of a solution are."""
        prices = self.prices(solution.duals[len(solution.duals) - self.texts :])
        return PriceBound.of(self.drafted, self.target, self.corrects, prices)

    def solve(self, solver: SolverName | None = None) -> PathPlan:
        """Return the best selection and what is kept of what it selects, with a proof.

        An exact program is solved in floats first, to see which variables b are 0. The sets that
        select one sequence only are then sure; what is left is small and is solved exactly, and
        its prices prove the optimum, or name variables that are missing.

        Parameters
        ----------
        solver : {"highs", "cvxpy", "rational"}, optional
            By default "rational" for exact data, else "highs".

        Raises
        ------
        ValueError
            As :func:`otspec.solvers.solve`.
        """
        program = self.build()
        exactly = program.exact and (solver is None or SOLVERS[solver].exact)
        found = solve(program, "highs" if exactly else solver)
        selected = found.primal[self.texts :]
        if not exactly:
            return PathPlan.of(self._proved(found), selected, self.at_least(found))
        chosen = selected > CHOSEN
        while True:
            free, sure = self._split(chosen)
            found = solve(self._stated(free, sure), solver)
            bound = self._proved(found)
            best = self.drafted.costliest(bound.prices)
            if bound.value == found.value or chosen[best].all():
                break
            chosen[best] = True
        selected = arithmetic.zeros(len(chosen), like=found.primal)
        selected[sure] = self.drafted.chances[self.drafted.pairs[0][sure]]
        selected[free] = found.primal[self.texts :]
        return PathPlan.of(bound, selected, self.at_least(found))

    def _split(self, chosen: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Return the pairs of sets with several that are chosen, and of those with a single one."""
        pairs = np.flatnonzero(chosen)
        sets = self.drafted.pairs[0][pairs]
        several = np.bincount(sets, minlength=len(self.drafted.chances))[sets] > 1
        return pairs[several], pairs[~several]
