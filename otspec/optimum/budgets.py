"""How far an output may be from the target, and the outputs that use it best (Theory, 29)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from otspec.arguments import as_real
from otspec.arithmetic import Array, Number, as_number, is_exact, positive_part
from otspec.distributions import Distribution
from otspec.frozen import Frozen
from otspec.raw import shown


@dataclass(frozen=True)
class TotalVariation(Frozen):
    """The output is within a total variation of the target.

    Parameters
    ----------
    amount : float or Fraction
        The most that the total variation may be, from 0 to 1.
    """

    amount: Number

    @classmethod
    def of(cls, amount: Any, target: Distribution) -> TotalVariation:
        """Check a budget in the arithmetic of a target.

        Raises
        ------
        ValueError
            No number from 0 to 1; a float beside an exact target, or a fraction beside floats.
        """
        name = "total_variation"
        number = as_real(amount, name, 0, 1)
        if isinstance(number, float) == is_exact(target) and number not in (0, 1):
            kinds = ("a float", "exact") if is_exact(target) else ("exact", "a float")
            fix = "'1/20'" if is_exact(target) else "0.05"
            raise ValueError(
                f"{name} is {shown(amount)}, which is {kinds[0]} but the target is {kinds[1]}: "
                f"write both alike, here {name}={fix}"
            )
        return cls(as_number(number, like=target))

    def added_to(self, lossless: Number) -> Number:
        """Return min(1, α + ε)."""
        return min(lossless + self.amount, self.amount * 0 + 1)

    def output(self, selection: Distribution, target: Distribution) -> Array:
        """Return the law on the way from the target q to b at the distance of the budget, or b.

        On that way min(b, o) is q where q is less, plus the whole of what is moved.
        """
        missing = positive_part(target - selection).sum()
        if self.amount == 0:
            return target
        if missing <= self.amount:
            return selection
        share = self.amount / missing
        output: Array = (1 - share) * target + share * selection
        return output

    def distance(self, output: Distribution, target: Distribution) -> Number:
        """Return the total variation of two laws."""
        return as_number(positive_part(output - target).sum(), like=target)
