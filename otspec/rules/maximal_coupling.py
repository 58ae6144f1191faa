"""Speculative sampling of a single draft."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, zeros
from otspec.coupling import Coupling
from otspec.rules.contract import PairRule


@dataclass(frozen=True, eq=False)
class MaximalCoupling(PairRule):
    """Accept the one draft x with probability min(1, q(x)/p(x)), else draw from (q − p)₊.

    Law: the output is distributed as the target; no rule accepts one draft more often.
    Source: SpecTr, alg. 1. Parameters and errors: :class:`otspec.rules.contract.PairRule`.

    Examples
    --------
    >>> MaximalCoupling(["1/2", "1/2"], ["1/4", "3/4"]).acceptance()
    Fraction(3, 4)
    """

    title: ClassVar[str] = "maximal coupling"
    only_k: ClassVar[int | None] = 1

    k: int = 1

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.draft, self.target)

    def accepted_law(self) -> Array:
        """Return min(p, q), shape (n,); a residual token is never the draft."""
        return self._coupling.accepted

    def acceptance_by_draft(self) -> Array:
        """Return the acceptance, shape (1,)."""
        return zeros(1, like=self.draft) + self.acceptance()

    def _joint_kernel(self, x: tuple[int, ...]) -> Array:
        return self._coupling.joint_kernel(x, zeros(1, like=self.draft) + 1)

    def _sample(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        return self._coupling.sample(x[0], rng)
