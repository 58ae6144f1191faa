"""Speculative sampling of a single draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, Number, positive_part, zeros
from otspec.rules.contract import SequentialRule, acceptance_chance


@dataclass(frozen=True, eq=False)
class MaximalCoupling(SequentialRule):
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

    def accepted_law(self) -> Array:
        """Return min(p, q), shape (n,); a residual token is never the draft."""
        accepted: Array = np.minimum(self.draft, self.target)
        return accepted

    def acceptance_by_draft(self) -> Array:
        """Return the acceptance, shape (1,)."""
        return zeros(1, like=self.draft) + self.acceptance()

    def _rounds(self, x: tuple[int, ...]) -> tuple[list[Number], Array]:
        chance = acceptance_chance(self.target[x[0]], self.draft[x[0]])
        return [chance], positive_part(self.target - self.draft)
