"""Rules that first select one of the drafts with a known law, then couple it with the target."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.rules.contract import Rule


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
        return self._coupling.joint_kernel(x, self._selection(x))

    def _sample(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        return self._coupling.sample(self._selected(x, rng), rng)

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.law_of_selection, self.target)
