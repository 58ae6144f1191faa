"""Rules that first select one of the drafts with a known law, then couple it with the target."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array, positive_part, zeros
from otspec.distributions import Distribution, normalised
from otspec.drafts.contract import inverted
from otspec.rules.contract import Rule, acceptance_chance


class SelectingRule(Rule):
    """Select a draft; accept it with probability min(1, q/b), else draw from (q − b)₊.

    Law: the output is distributed as the target if the selected token is distributed as
    :attr:`law_of_selection`, b. Source: maximal coupling (SpecTr, alg. 1) of b and q.
    """

    @property
    @abstractmethod
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""

    @abstractmethod
    def _selection(self, x: tuple[int, ...]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""

    @abstractmethod
    def _selected(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        """Draw the selected token."""

    def _joint_kernel(self, x: tuple[int, ...]) -> Array:
        chances, residual = self._coupling
        joint = zeros((self.k + 1, len(self.target)), like=self.target)
        for i, selected in enumerate(self._selection(x)):
            joint[i, x[i]] = selected * chances[x[i]]
        rest = 1 - joint.sum()
        joint[self.k] = max(rest, rest * 0) * residual
        return joint

    def _sample(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        selected = self._selected(x, rng)
        if rng.random() < self._coupling[0][selected]:
            return selected
        return int(inverted(self._cumulative_residual, rng.random(1))[0])

    @cached_property
    def _coupling(self) -> tuple[Array, Distribution]:
        """Return each token's chance to be accepted when it is selected, and the residual."""
        law = self.law_of_selection
        pairs = zip(self.target, law, strict=True)
        chances = np.array([acceptance_chance(wanted, offered) for wanted, offered in pairs])
        return chances, normalised(positive_part(self.target - law), self.target)

    @cached_property
    def _cumulative_residual(self) -> Array:
        return np.cumsum(self._coupling[1].astype(float))
