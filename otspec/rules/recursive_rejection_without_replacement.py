"""Recursive rejection sampling of distinct drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec import ratios
from otspec.arithmetic import Array, IntArray, Number, as_number, is_exact, positive_part, zeros
from otspec.distributions import complement
from otspec.drafts.independent import prefix_sums
from otspec.drafts.without_replacement import mass_left
from otspec.estimate import Estimate
from otspec.rules.contract import SequentialRule, acceptance_chance

ENUMERATION_LIMIT = 20_000
"""Most draft tuples that :meth:`acceptance` enumerates."""
SQUARE_LIMIT = 4_000
"""Largest vocabulary at which three drafts are summed exactly in O(n² log n)."""


@dataclass(frozen=True, eq=False)
class RecursiveRejectionWithoutReplacement(SequentialRule):
    """Recursive rejection in which draft i is drawn from p̄_i, p renormalised off earlier drafts.

    Accept x_i with probability min(1, q_{i−1}/p̄_i), else q_i ∝ (q_{i−1} − p̄_i)₊; only then x_i is
    removed from p̄.

    Law: the output is distributed as the target.
    Source: MCSD, alg. 2; SpecHub, alg. 1 without replacement. Parameters and errors:
    :class:`otspec.rules.contract.PairRule`; also fewer than k tokens of positive probability.

    Notes
    -----
    If all drafts so far were rejected, with probability W in round i given the earlier ones, then
    W·q_i = (q − c·p)₊ where c = Σ_i W_i / p(not yet removed): a rejected token has q ≤ c·p from
    then on, so that removing it from p̄ changes nothing. The state of the rule is thus the number
    c and the mass that was removed.

    Examples
    --------
    >>> rule = RecursiveRejectionWithoutReplacement(
    ...     ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2
    ... )
    >>> rule.acceptance()
    Fraction(47, 50)
    """

    title: ClassVar[str] = "recursive rejection (distinct)"
    drafts: ClassVar[str] = "without-replacement"

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        _ = self.law  # refuses a draft of too small a support

    def acceptance(self) -> Number:
        """Return the acceptance; a residual token is never one of the drafts.

        Returns
        -------
        float, Fraction or Estimate
            Exact for k ≤ 2 in O(n log n), for k = 3 up to 4,000 tokens in O(n² log n), and for up
            to 20,000 draft tuples by enumeration. Otherwise an :class:`otspec.estimate.Estimate`:
            the mean over simulated drafts of the exact probability that one of them is accepted.
        """
        n = len(self.draft)
        if self.k <= 2:
            return as_number(self.acceptance_by_draft().sum(), like=self.draft)
        if self.law.table_rows() <= ENUMERATION_LIMIT:
            return as_number(super().acceptance(), like=self.draft)
        if self.k == 3 and n <= SQUARE_LIMIT and not is_exact(self.draft):
            return self._acceptance_of_three()
        return self.estimated_acceptance()

    def acceptance_by_draft(self) -> Array:
        """Return the probability that draft i is the accepted one, shape (k,).

        For k ≤ 2 in O(n log n): the second round depends on the first draft x only through the
        scale 1/(1 − p(x)), and Σ_y min(s·p(y), r(y)) is piecewise linear in s. For k > 2 by
        enumeration.
        """
        if self.k > 2:
            return super().acceptance_by_draft()
        by_draft = zeros(self.k, like=self.draft)
        first = np.minimum(self.draft, self.target)
        by_draft[0] = first.sum()
        if self.k == 2:
            lost = self.draft - first
            missing = as_number(lost.sum(), like=self.draft)
            # Given that x was rejected, (q − p)₊/W is offered p/(1−p(x)), so that the second draft
            # is rejected too with probability H(1 + W/(1−p(x)))/W.
            tried = lost > 0
            with np.errstate(over="ignore"):  # next to nothing left: beyond every ratio
                scales = 1 + missing / complement(self.draft)[tried]
            both = _Rejected(self.draft, self.target)(scales) / (missing if missing > 0 else 1)
            by_draft[1] = (lost[tried] * (1 - both)).sum()
        return by_draft

    def estimated_acceptance(self, size: int = 2_000, seed: int = 0) -> Estimate:
        """Estimate the acceptance from simulated drafts.

        Parameters
        ----------
        size : int
            How many tuples of drafts.
        seed : int

        Returns
        -------
        Estimate
            Of the mean over drafts of 1 − Π (1 − chance of draft i).
        """
        drafts = self.law.sample(np.random.default_rng(seed), size)
        draft, target = self.draft.astype(float), self.target.astype(float)
        rejected, left = _Rejected(draft, target), _Left(draft)
        none_accepted, reached, scale = np.ones(size), np.ones(size), np.zeros(size)
        for i, token in enumerate(drafts.T):
            rest = left(drafts[:, :i])
            wanted = rejected.residual(token, scale)
            offered = draft[token] / rest * reached
            refused = np.maximum(offered - wanted, 0)
            none_accepted *= np.divide(refused, offered, out=np.zeros(size), where=refused > 0)
            with np.errstate(over="ignore"):  # next to nothing left: beyond every ratio
                scale = scale + reached / rest
            reached = rejected(scale)
        return Estimate.of_mean(1 - none_accepted)

    def _acceptance_of_three(self) -> float:
        """Sum over all pairs of rejected drafts the chance that the third is rejected too."""
        rejected, left = _Rejected(self.draft, self.target), _Left(self.draft)
        lost = positive_part(self.draft - self.target)
        first_missing = float(lost.sum())
        rest = complement(self.draft)
        tokens = np.arange(len(self.draft))
        total = 0.0
        for x in np.flatnonzero(lost):
            with np.errstate(over="ignore"):
                scale = np.full(1, 1 + first_missing / rest[x])
                missing = float(rejected(scale)[0])
                if missing == 0:
                    continue
                # Mass of second drafts that are rejected: p/(1−p(x)) beyond (q − p)₊/W.
                wanted = positive_part(self.target - self.draft) / first_missing
                second = positive_part(self.draft / rest[x] - wanted)
                second[x] = 0
                pairs = np.column_stack([np.full(len(tokens), x), tokens])[second > 0]
                scales = scale + missing / left(pairs)
            total += lost[x] * (second[second > 0] * rejected(scales)).sum() / missing
        return 1.0 - total

    def _rounds(self, x: tuple[int, ...]) -> tuple[list[Number], Array]:
        chances = []
        left, residual = self.draft.copy(), self.target
        rejected = as_number(1, like=self.draft)
        for token in x:
            rest = left.sum()
            if rest == 0:  # such drafts cannot happen
                chances.append(as_number(0, like=self.draft))
                continue
            # Divided first, so that next to nothing left overflows nothing.
            offered = rejected * (left / rest)
            chances.append(acceptance_chance(residual[token], offered[token]))
            residual = positive_part(residual - offered)
            rejected = as_number(residual.sum(), like=self.draft)
            left[token] *= 0
        return chances, residual


class _Rejected:
    """H(c) = Σ (q − c·p)₊ for many c at once, after one sort."""

    def __init__(self, draft: Array, target: Array) -> None:
        ratio = ratios.target_to_draft(draft, target)
        order = ratios.ascending(ratio)
        self._ratios = ratio[order]
        self._draft, self._target = draft, target
        self._sorted_draft = prefix_sums(draft[order][::-1])[::-1]
        self._sorted_target = prefix_sums(target[order][::-1])[::-1]

    def __call__(self, scales: Array) -> Array:
        above = np.searchsorted(self._ratios, scales, side="right")
        return positive_part(self._sorted_target[above] - _times(scales, self._sorted_draft[above]))

    def residual(self, tokens: IntArray, scales: Array) -> Array:
        """Return (q − c·p)₊ of given tokens at given c."""
        return positive_part(self._target[tokens] - _times(scales, self._draft[tokens]))


class _Left:
    """The mass off given tokens, without losing the digits of next to nothing."""

    def __init__(self, draft: Array) -> None:
        descending = np.argsort(-draft, kind="stable")
        self._draft = draft[descending]
        self._rank = np.empty(len(draft), dtype=np.intp)
        self._rank[descending] = np.arange(len(draft))

    def __call__(self, drawn: IntArray) -> Array:
        if drawn.shape[1] == 0:
            return np.ones(len(drawn))
        return mass_left(self._draft, self._rank[drawn])


def _times(scales: Array, draft: Array) -> Array:
    """Return c·p where p > 0 and 0 elsewhere, so that an infinite c is no NaN."""
    product = zeros(len(draft), like=draft)
    np.multiply(scales, draft, out=product, where=draft > 0)
    return product
