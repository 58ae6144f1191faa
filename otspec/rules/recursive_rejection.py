"""Recursive rejection sampling: speculative sampling repeated on the residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.rules.contract import SequentialRule, acceptance_chance, refuse_many_drafts

MOST_ROUNDS, MOST_EXACT_ROUNDS = 100_000, 10_000
"""Most drafts, in floats and in exact arithmetic."""


@dataclass(frozen=True, eq=False)
class RecursiveRejection(SequentialRule):
    """Accept draft i with probability min(1, q_{i−1}/p), else go on with q_i ∝ (q_{i−1} − p)₊.

    q_0 is the target; after k rejections the output is drawn from q_k.

    Law: the output is distributed as the target.
    Source: MCSD, alg. 1; SpecHub, alg. 1 with replacement; SpecInfer's multi-step speculative
    sampling. Parameters and errors: :class:`otspec.rules.contract.PairRule`; the answers are for
    at most 100,000 drafts, 10,000 in exact arithmetic.

    Examples
    --------
    >>> RecursiveRejection(["1/2", "1/2"], ["1/4", "3/4"], k=2).acceptance()
    Fraction(7, 8)
    """

    title: ClassVar[str] = "recursive rejection"

    def acceptance(self) -> Number:
        """Return 1 − Π_i Σ (q_{i−1} − p)₊; a residual token is never one of the drafts.

        Without normalising in between: if W is the probability that all drafts so far were
        rejected, W·q_i = (q − c·p)₊ with c the sum of the earlier W, since positive parts nest.
        """
        return 1 - self._rejections()[-1]

    def accepted_law(self) -> Array:
        """Return min(q, c·p) with c the sum of W_0 to W_{k−1}, shape (n,)."""
        drafted = self._rejections()[: self.k]
        accepted: Array = np.minimum(self.target, sum(drafted) * self.draft)
        return accepted

    def acceptance_by_draft(self) -> Array:
        """Return W_{i−1} − W_i for draft i."""
        by_draft = zeros(self.k, like=self.draft)
        rejections = self._rejections()
        by_draft[:] = [rejections[i] - rejections[i + 1] for i in range(self.k)]
        return by_draft

    def _rejections(self) -> list[Number]:
        """Return W_0 = 1, …, W_k: the probability that the first i drafts are rejected."""
        most = MOST_EXACT_ROUNDS if is_exact(self.draft) else MOST_ROUNDS
        refuse_many_drafts(self.k, most, type(self).__name__)
        rejections = [as_number(1, like=self.draft)]
        drafted = as_number(0, like=self.draft)
        for i in range(self.k):
            drafted += rejections[-1]
            residual = positive_part(self.target - drafted * self.draft)
            rejections.append(as_number(residual.sum(), like=self.draft))
            if not (residual * self.draft).any():  # what can be drafted is not wanted any more
                return rejections + rejections[-1:] * (self.k - i - 1)
        return rejections

    def _rounds(self, x: tuple[int, ...]) -> tuple[list[Number], Array]:
        chances = []
        residual, drafted = self.target, as_number(0, like=self.draft)
        for token, rejected in zip(x, self._rejections(), strict=False):
            chances.append(acceptance_chance(residual[token], rejected * self.draft[token]))
            drafted += rejected
            residual = positive_part(self.target - drafted * self.draft)
        return chances, residual
