"""Sampling from the target without looking at the drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from otspec.arithmetic import Number, as_number
from otspec.rules.contract import Rule, at_least_once


@dataclass(frozen=True, eq=False)
class NaiveSampling(Rule):
    """Draw from the target; accept when one of the k i.i.d. drafts happens to equal it.

    Law: the output is distributed as the target.
    Source: MCSD, sec. 4.5 (MCNS). Parameters and errors: :class:`otspec.rules.contract.Rule`.

    Examples
    --------
    >>> NaiveSampling(["1/2", "1/2"], ["1/4", "3/4"], k=2).acceptance()
    Fraction(3, 4)
    """

    title: ClassVar[str] = "naive sampling"

    def acceptance(self) -> Number:
        """Return Σ q(y) (1 − (1 − p(y))^k)."""
        drafted = at_least_once(self.draft, self.k)
        return as_number((self.target * drafted).sum(), like=self.draft)
