"""The outputs on the way from the target to a law of the selected draft (Theory, 29 and 30)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, Number, is_exact, positive_part
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution
from otspec.optimum.cuts.levels import Vessels

SMALLEST = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Outputs(Frozen):
    """The laws o = q·clip(b/q, low, high), each by its total variation from the target q.

    A token whose ratio b/q is between the two levels is output as it is selected. Of the laws
    between q and b with that total variation it is the nearest to q in every divergence.
    """

    # selection, target: (n,): the laws b and q, in one arithmetic
    selection: Distribution
    target: Distribution

    @cached_property
    def _more(self) -> Array:
        return self.selection > self.target

    @cached_property
    def _less(self) -> Array:
        return self.selection < self.target

    @cached_property
    def _unwanted(self) -> Array:
        """The tokens that are selected and never wanted, (n,) of bool."""
        unwanted: Array = self._more & (self.target == 0)
        return unwanted

    @cached_property
    def _raised(self) -> Vessels:
        return self._between(self._more & (self.target > 0))

    @cached_property
    def _lowered(self) -> Vessels:
        return self._between(self._less)

    def _between(self, tokens: Array) -> Vessels:
        selected, wanted = self.selection[tokens], self.target[tokens]
        return Vessels(np.abs(selected - wanted), wanted)

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
        """Return the law at a total variation from the target, or the selection if that is less.

        Floats that differ by rounding count as less: what is rare in the target, or never there,
        may be selected far more often.
        """
        raised, unwanted = self._raised.total, bool(self._unwanted.any())
        if moved >= self.farthest and (moved > raised if unwanted else moved >= raised):
            return self.selection
        output: Array = self.target.copy()
        output[self._more & ~self._unwanted] += self._raised.filled(moved)
        output[self._less] -= self._lowered.filled(moved)
        if moved < self.farthest and not is_exact(output):  # there no level is 0
            output[self._less] = np.maximum(output[self._less], SMALLEST)
        if moved > raised and unwanted:
            masses = self.selection[self._unwanted]
            output[self._unwanted] = masses * ((moved - raised) / masses.sum())
        return positive_part(output)
