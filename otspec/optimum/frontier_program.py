"""The lossy frontier as a linear program that has the output as a variable (Theory, 29)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray, Number, zeros
from otspec.distributions import Distribution
from otspec.optimum.budgets import TotalVariation
from otspec.programs import Formulation, Size
from otspec.programs.formulation import ProgramBuilder
from otspec.solvers import Solution


@dataclass(frozen=True, eq=False)
class FrontierProgram(Formulation):
    """Decide what is accepted, and by how much the output is off, together.

    Variables π(x, y) ≥ 0 for y ∈ S(x), u ≥ 0 and 0 ≤ v ≤ q; the output is o = q + u − v.
    Σ_y π(x, y) ≤ P(x), Σ_x π(x, y) ≤ o(y), Σ u = Σ v ≤ ε; maximize Σ π, the acceptance. It knows
    nothing of the formula min(1, α + ε), nor of cuts and selection laws.

    Parameters
    ----------
    law, target, sets
        As for :class:`otspec.programs.Formulation`.
    total_variation : number
        By how much the output may be off, from 0 to 1, in the arithmetic of the target.

    Examples
    --------
    >>> import otspec
    >>> law, target = otspec.IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"]
    >>> program = FrontierProgram(law, target, total_variation="1/20")
    >>> otspec.solvers.solve(program.build()).value
    Fraction(9, 10)
    """

    name: ClassVar[str] = "frontier"
    source: ClassVar[str] = "Theory, 29"
    smaller: ClassVar[str] = "optimal_acceptance(law, target, total_variation=...)"

    total_variation: Number = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._hold(total_variation=TotalVariation.of(self.total_variation, self.target).amount)

    def _size(self, rows: int, pairs: int) -> Size:
        n = self.law.n
        return Size(rows + n + 2, pairs + 2 * n, 2 * pairs + 5 * n)

    def _state(self, model: ProgramBuilder) -> IntArray:
        seen, tokens = self.support, self._token_names
        drafts = model.rows("drafts", seen.keys, -np.inf, seen.masses)
        outputs = model.rows("output", tokens, -np.inf, self.target)
        once = np.zeros((1, 1), dtype=np.intp)
        total = np.repeat(model.rows("total", once, 0, 0), len(tokens))
        budget = zeros(1, like=self.target) + self.total_variation
        moved = np.repeat(model.rows("moved", once, -np.inf, budget), len(tokens))
        # The output is q + more − less: more and less are equal in total, at most the budget.
        mass = model.columns("pi", self._pair_names, 0, np.inf)
        more = model.columns("more", tokens, 0, np.inf)
        less = model.columns("less", tokens, 0, self.target)
        # Σ_y π(x, y) <= P(x), and Σ_x π(x, y) <= q(y) + more(y) − less(y).
        model.put(drafts[seen.rows], mass)
        model.put(outputs[seen.tokens], mass)
        model.put(outputs, more, -1)
        model.put(outputs, less)
        model.put(total, more)
        model.put(total, less, -1)
        model.put(moved, more)
        return mass

    def accepted(self, solution: Solution) -> Array:
        """Return the accepted mass of each pair of the support, shape (p,)."""
        return solution.primal[: len(self.support.rows)]

    def output(self, solution: Solution) -> Distribution:
        """Return the law of the output, shape (n,)."""
        more, less = solution.primal[len(self.support.rows) :].reshape(2, -1)
        return self.target + more - less
