"""Decoding at temperature 0: the likeliest tokens are drafted, and the target's is wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array
from otspec.distributions import Distribution


@dataclass(frozen=True, eq=False)
class Greedy:
    """Temperature 0: the k likeliest tokens are drafted, and the target's likeliest is wanted.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
    k : int
    """

    draft: Distribution
    target: Distribution
    k: int

    def acceptance(self) -> float:
        """Return 1 if the target's likeliest token is drafted, else 0."""
        return float(self.by_token.sum())

    def accepted(self) -> Greedy:
        """Return what is accepted, which is here."""
        return self

    @property
    def by_token(self) -> Array:
        """1 for the target's likeliest token if it is drafted, else 0: shape (n,)."""
        best = int(np.argmax(self.target))
        before = (self.draft > self.draft[best]).sum()
        before += (self.draft[:best] == self.draft[best]).sum()
        law = np.zeros(len(self.target))
        law[best] = float(before < self.k)
        return law
