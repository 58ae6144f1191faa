"""Select one of the drafted sequences, then verify it alone: the optimum (Theory, 18)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from otspec._base.arithmetic import Array, IntArray, sums_by, zeros
from otspec.programs.formulation import Size, check_size
from otspec.programs.levels import Levels
from otspec.programs.prices import PriceBound
from otspec.programs.sequences.drafted import DraftedSets
from otspec.programs.sequences.kept_texts import KeptTexts
from otspec.programs.sequences.path_plan import PathPlan
from otspec.solvers import SOLVERS, LinearProgram, Sense, Solution, SolverName, solve

CHOSEN = 1e-11
"""The smallest mass of a float solution that counts as more than rounding."""


@dataclass(frozen=True, eq=False)
class PathProgram(KeptTexts):
    """Maximise Σ A(s) over texts s where each drafted set selects one of its sequences.

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
        surely = sums_by(texts, chances[self.drafted.pairs[0][sure[pairs]]], len(columns))
        met = model.rows("selected", columns[:, None], -np.inf, surely)
        model.put(met, columns)
        pairs, texts = self._passed(free)
        model.put(met[texts], selected[pairs], -1)
        return model.program(f"paths ({self.corrects})", Sense.MAXIMISE, columns)

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

    def prices_of(self, solution: Solution) -> Levels:
        """Return the prices that the duals of a solution are."""
        return self.prices(solution.duals[len(solution.duals) - self.texts :])

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
            return self._planned(found, selected)
        chosen = selected > CHOSEN
        while True:
            free, sure = self._split(chosen)
            found = solve(self._stated(free, sure), solver)
            prices = self.prices_of(found)
            best = self.drafted.costliest(prices)
            bound = PriceBound.of(self.drafted, self.target, self.corrects, prices)
            if bound.value == found.value or chosen[best].all():
                break
            chosen[best] = True
        selected = zeros(len(chosen), like=found.primal)
        selected[sure] = self.drafted.chances[self.drafted.pairs[0][sure]]
        selected[free] = found.primal[self.texts :]
        return self._planned(found, selected, bound)

    def _split(self, chosen: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Return the pairs of sets with several that are chosen, and of those with a single one."""
        pairs = np.flatnonzero(chosen)
        sets = self.drafted.pairs[0][pairs]
        several = np.bincount(sets, minlength=len(self.drafted.chances))[sets] > 1
        return pairs[several], pairs[~several]

    def _planned(
        self, solution: Solution, selected: Array, bound: PriceBound | None = None
    ) -> PathPlan:
        if bound is None:
            prices = self.prices_of(solution)
            bound = PriceBound.of(self.drafted, self.target, self.corrects, prices)
        return PathPlan.of(bound, selected, self.at_least(solution))
