"""How far an output may be from the target, and the outputs between (Theory, 29 and 30)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic, as_real, shown
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw, Masked
from otspec.optimum.cuts.levels import WaterFilling
from otspec.optimum.cuts.minimum import cut_bound
from otspec.programs import Formulation, Size
from otspec.programs.formulation import ProgramBuilder
from otspec.solvers import Solution

SMALLEST = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Outputs(Frozen):
    """The laws o = q·clip(b/q, low, high), each by its total variation from the target q.

    Of the laws between q and b with it, this is the nearest to q in every divergence.
    """

    selection: Distribution  # b, (n,)
    target: Distribution  # q, (n,), in one arithmetic

    @cached_property
    def _more(self) -> Array:
        return self.selection > self.target

    @cached_property
    def _less(self) -> Array:
        return self.selection < self.target

    @cached_property
    def _unwanted(self) -> Array:
        """The tokens that are selected and never wanted, (n,) of bool."""
        return self._more & (self.target == 0)

    @cached_property
    def _raised(self) -> WaterFilling:
        return self._between(self._more & (self.target > 0))

    @cached_property
    def _lowered(self) -> WaterFilling:
        return self._between(self._less)

    def _between(self, tokens: Array) -> WaterFilling:
        selected, wanted = self.selection[tokens], self.target[tokens]
        return WaterFilling(np.abs(selected - wanted), wanted)

    @property
    def farthest(self) -> Number:
        """The total variation of the selection from the target: 1 − Σ min(b, q)."""
        return self._lowered.total

    @property
    def farthest_wanted(self) -> Number:
        """How far an output is that is 0 where the target is 0, at most."""
        if not self._unwanted.any():
            return self.farthest
        return min(self._raised.total, self.farthest)

    def at(self, moved: Number) -> Array:
        """Return the law at a total variation from the target, or the selection if that is less."""
        # Floats that differ by rounding count as less: what is rare in the target, or never there,
        # may be selected far more often.
        raised, unwanted = self._raised.total, bool(self._unwanted.any())
        if moved >= self.farthest and (moved > raised if unwanted else moved >= raised):
            return self.selection
        output: Array = self.target.copy()
        output[self._more & ~self._unwanted] += self._raised.filled(moved)
        output[self._less] -= self._lowered.filled(moved)
        if moved < self.farthest and not arithmetic.is_exact(output):  # there no level is 0
            output[self._less] = np.maximum(output[self._less], SMALLEST)
        if moved > raised and unwanted:
            masses = self.selection[self._unwanted]
            output[self._unwanted] = masses * ((moved - raised) / masses.sum())
        return arithmetic.positive_part(output)


@dataclass(frozen=True)
class Budget(Frozen, ABC):
    """The output is within a distance, of at most ``amount``, of the target."""

    name: ClassVar[str]
    """What functions call the argument."""
    words: ClassVar[str]
    """What the distance is called in a sentence."""
    proof: ClassVar[str]
    """Why no rule within is better, in a sentence."""

    amount: Number

    @property
    def accuracy(self) -> float:
        """By how much :meth:`bound` may be off, beyond the rounding of the law."""
        return 0.0

    @classmethod
    @abstractmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check a budget in the arithmetic of a target; else a ValueError."""

    @abstractmethod
    def acceptance(self, law: DraftLaw, target: Distribution, lossless: Number) -> Number:
        """Return the most that is accepted within the budget, given the lossless optimum."""

    @abstractmethod
    def distance(self, output: Distribution, target: Distribution) -> Number:
        """Return how far an output is from the target."""

    @abstractmethod
    def moved(self, outputs: Outputs) -> Number:
        """Return the total variation that the budget allows on the way to a selection law."""

    @abstractmethod
    def bound(
        self,
        law: DraftLaw,
        target: Distribution,
        cut: tuple[int, ...],
        selection: Distribution,
        output: Distribution,
    ) -> Number:
        """Return what no rule within the budget is above, whatever the last three are.

        ``cut`` bounds what lossless rules accept; ``selection`` and ``output``, shape (n,), are of
        a rule that is nearly optimal, from which prices are derived.
        """


@dataclass(frozen=True)
class TotalVariation(Budget):
    """The output is within a total variation, from 0 to 1, of the target."""

    name: ClassVar[str] = "total_variation"
    words: ClassVar[str] = "total variation"
    proof: ClassVar[str] = (
        "The cut proves it: lossless rules accept at most target(A) + 1 - P(all drafts in A), and "
        "a total variation of d adds at most d."
    )

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> Self:
        """Check a number from 0 to 1, exact beside an exact target; else a ValueError."""
        number = as_real(amount, cls.name, 0, 1)
        if isinstance(number, float) == arithmetic.is_exact(target) and number not in (0, 1):
            kinds = ("a float", "exact") if arithmetic.is_exact(target) else ("exact", "a float")
            fix = "'1/20'" if arithmetic.is_exact(target) else "0.05"
            raise ValueError(
                f"{cls.name} is {shown(amount)}, which is {kinds[0]} but the target is {kinds[1]}: "
                f"write both alike, here {cls.name}={fix}"
            )
        return cls(arithmetic.as_number(number, like=target))

    def added_to(self, lossless: Number) -> Number:
        """Return min(1, α + ε)."""
        return min(lossless + self.amount, self.amount * 0 + 1)

    def acceptance(
        self,
        law: DraftLaw,  # noqa: ARG002 -- it is the same for all
        target: Distribution,  # noqa: ARG002
        lossless: Number,
    ) -> Number:
        """Return min(1, α + ε)."""
        return self.added_to(lossless)

    def distance(self, output: Distribution, target: Distribution) -> Number:
        """Return the total variation of two laws."""
        return arithmetic.as_number(arithmetic.positive_part(output - target).sum(), like=target)

    def moved(self, outputs: Outputs) -> Number:
        """Return the budget, or as much of it as is of use."""
        return min(self.amount, outputs.farthest)

    def bound(
        self,
        law: DraftLaw,
        target: Distribution,
        cut: tuple[int, ...],
        selection: Distribution,  # noqa: ARG002 -- the cut is enough
        output: Distribution,  # noqa: ARG002
    ) -> Number:
        """Return min(1, q(A) + 1 − P(all drafts inside A) + ε), as o(A) ≤ q(A) + ε."""
        return self.added_to(cut_bound(law, target, cut))


def refuse_null_outputs(
    law: Masked, budget: Budget, outputs: Outputs | None, lossless: Number, accuracy: float
) -> None:
    """Refuse a budget that lets the output be a null token, which no text has."""
    nulls = list(law.nulls)
    if outputs is None:  # no selection is known, but all that is not withdrawn can be accepted
        most: Number = 1 - law.inside(nulls) - lossless
        beyond: Number = budget.amount - most
    else:
        most, beyond = outputs.farthest_wanted, outputs.at(budget.moved(outputs))[nulls].sum()
    if beyond > accuracy:
        largest = str(most) if arithmetic.is_exact(law.marginal(0)) else float(most)
        raise ValueError(
            f"{budget.name} is {shown(budget.amount)}, which lets the output be the null token "
            f"{law.null}, but no text has it: pass at most total_variation={shown(largest)}"
        )


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
        budget = arithmetic.zeros(1, like=self.target) + self.total_variation
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
