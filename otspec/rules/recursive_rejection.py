"""Recursive rejection: speculative sampling repeated on the residual (MCSD, alg. 1; Theory, 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from otspec import ratios
from otspec.arithmetic import (
    Array,
    Number,
    as_number,
    is_exact,
    over_one_denominator,
    positive_part,
    zeros,
)
from otspec.coupling import acceptance_chance
from otspec.rules.contract import CountedLaw
from otspec.rules.counts import no_counts, over, with_one_more
from otspec.rules.pair_rule import refuse_many_drafts
from otspec.rules.sequential import SequentialRule

MOST_ROUNDS, MOST_EXACT_ROUNDS = 100_000, 10_000
"""Most drafts, in floats and in exact arithmetic."""


@dataclass(frozen=True, eq=False)
class RecursiveRejection(SequentialRule):
    """Accept draft i with probability min(1, q_{i−1}/p), else go on with q_i ∝ (q_{i−1} − p)₊.

    q_0 is the target; after k rejections the output is drawn from q_k.

    Law: the output is distributed as the target.
    Source: MCSD, alg. 1; SpecHub, alg. 1 with replacement; SpecInfer's multi-step speculative
    sampling. Parameters and errors: :class:`otspec.rules.PairRule`; the answers are for
    at most 100,000 drafts, 10,000 in exact arithmetic. Drafts of different models are for
    :class:`otspec.rules.RecursiveRejectionIndependent`.

    Examples
    --------
    >>> RecursiveRejection(["1/2", "1/2"], ["1/4", "3/4"], k=2).acceptance()
    Fraction(7, 8)
    """

    name: ClassVar[str] = "recursive-rejection"
    title: ClassVar[str] = "recursive rejection"
    batch: ClassVar[str | None] = "recursive_rejection"
    nested: ClassVar[bool] = True
    colour: ClassVar[str] = "#D55E00"
    marker: ClassVar[str] = "^"

    def acceptance(self) -> Number:
        """Return 1 − Π_i Σ (q_{i−1} − p)₊; a residual token is never one of the drafts.

        Without normalising in between: if W is the probability that all drafts so far were
        rejected, W·q_i = (q − c·p)₊ with c the sum of the earlier W, since positive parts nest.
        """
        *_, (_, rejected, scale) = self._rejected()
        return 1 - self._quotient(rejected, scale)

    def accepted_law(self) -> Array:
        """Return min(q, c·p) with c the sum of W_0 to W_{k−1}, shape (n,)."""
        *_, (drafted, _, scale) = self._rejected()
        accepted: Array = np.minimum(self.target, self._quotient(drafted, scale) * self.draft)
        return accepted

    def counted_law(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output.

        A token that can be rejected is out of the residual from then on, so that no draft before
        the accepted one equals it.
        """
        accepted, so_far = no_counts(self), 0
        draft, target, unit = over_one_denominator(self.draft, self.target)
        for drafted, _, scale in self._rejected():
            kept = np.minimum(target * scale, drafted * draft)
            accepted = with_one_more(accepted, draft, unit - draft)
            accepted[1] += kept - so_far
            so_far = kept * unit
        return CountedLaw(over(accepted[1:], scale * unit), self.target - over(kept, scale * unit))

    def accepted_by_draft(self) -> Array:
        """Return min(q, c·p) with c the sum of W_0 to W_{i−1}, less that of draft i − 1: (k, n).

        A token that was rejected is out of the residual, so that the accepted draft is the first
        that is this token.
        """
        accepted = zeros((self.k + 1, len(self.target)), like=self.target)
        for i, (drafted, _, scale) in enumerate(self._rejected(), start=1):
            accepted[i] = np.minimum(self.target, self._quotient(drafted, scale) * self.draft)
        by_draft: Array = accepted[1:] - accepted[:-1]
        return by_draft

    def acceptance_by_draft(self) -> Array:
        """Return W_{i−1} − W_i for draft i."""
        by_draft = zeros(self.k, like=self.draft)
        rejections = self._rejections()
        by_draft[:] = [rejections[i] - rejections[i + 1] for i in range(self.k)]
        return by_draft

    def _rejections(self) -> list[Number]:
        """Return W_0 = 1, …, W_k: the probability that the first i drafts are rejected."""
        one = as_number(1, like=self.draft)
        return [one, *(self._quotient(rejected, scale) for _, rejected, scale in self._rejected())]

    def _quotient(self, value: Any, scale: Any) -> Number:
        return Fraction(value, scale) if is_exact(self.draft) else float(value)

    def _rejected(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield c = W_0 + … + W_{i−1}, W_i and what to divide both by, for i = 1 to k.

        Exact numbers are whole ones over a power of the common denominator: fractions would look
        for common divisors of ever longer numbers. While no more tokens drop out of (q − c·p)₊,
        the next W is W·(1 − p(those left)), so that many drafts cost little more than few.
        """
        most = MOST_EXACT_ROUNDS if is_exact(self.draft) else MOST_ROUNDS
        refuse_many_drafts(self.k, most, type(self).__name__)
        draft, target, unit = over_one_denominator(self.draft, self.target)
        ratio = ratios.target_to_draft(self.draft, self.target)
        zero, one = unit * 0, unit // unit
        drafted, rejected, scale, gone, stay = zero, one, one, zero, one
        wanted, offered = zero, one  # of the token that drops out next
        for _ in range(self.k):
            drafted = drafted * unit + rejected
            if wanted * scale <= drafted * offered:
                left = target * scale > drafted * draft
                gone = gone + _plain(draft[~left].sum())
                draft, target, ratio = draft[left], target[left], ratio[left]
                rejected = zero + _plain((target * scale - drafted * draft).sum())
                wanted, offered, stay = one, zero, unit
                if draft.any():
                    lowest = int(np.argmin(ratio))
                    wanted, offered, stay = _plain(target[lowest]), _plain(draft[lowest]), gone
            else:
                rejected = rejected * stay
            scale = scale * unit
            yield drafted * unit, rejected, scale

    def _rounds(self, x: Sequence[int]) -> tuple[list[Number], Array]:
        chances = []
        residual, drafted = self.target, as_number(0, like=self.draft)
        for token, rejected in zip(x, self._rejections(), strict=False):
            chances.append(acceptance_chance(residual[token], rejected * self.draft[token]))
            drafted += rejected
            residual = positive_part(self.target - drafted * self.draft)
        return chances, residual


def _plain(value: Any) -> Any:
    """Return a scalar of an array as a number of Python, which is faster."""
    return value.item() if isinstance(value, np.generic) else value
