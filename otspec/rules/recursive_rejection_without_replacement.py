"""Recursive rejection sampling of distinct drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec import ratios
from otspec.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.distributions import complement
from otspec.drafts.independent import prefix_sums
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
        rejected = _Rejected(draft, target)
        none_accepted, reached = np.ones(size), np.ones(size)
        scale, left = np.zeros(size), np.ones(size)
        for token in drafts.T:
            wanted = positive_part(target[token] - scale * draft[token]) * left
            offered = reached * draft[token]
            chance = np.minimum(wanted, offered) / offered
            none_accepted *= 1 - chance
            scale += reached / left
            reached = rejected(scale)
            left = np.maximum(left - draft[token], np.finfo(float).tiny)
        return Estimate.of_mean(1 - none_accepted)

    def _acceptance_of_three(self) -> float:
        """Sum over all pairs of rejected drafts the chance that the third is rejected too."""
        rejected = _Rejected(self.draft, self.target)
        lost = positive_part(self.draft - self.target)
        first_missing = float(lost.sum())
        if first_missing == 0:
            return 1.0
        rest = complement(self.draft)
        total = 0.0
        for x in np.flatnonzero(lost):
            scale = 1 + first_missing / rest[x]
            missing = float(rejected(np.array([scale]))[0])
            if missing == 0:
                continue
            # Mass of second drafts that are rejected: p/(1−p(x)) beyond (q − p)₊/W.
            wanted = positive_part(self.target - self.draft) / first_missing
            second = positive_part(self.draft / rest[x] - wanted)
            second[x] = 0
            left = np.maximum(rest[x] - self.draft, np.finfo(float).tiny)
            total += lost[x] * (second * rejected(scale + missing / left)).sum() / missing
        return 1.0 - total

    def _rounds(self, x: tuple[int, ...]) -> tuple[list[Number], Array]:
        chances = []
        left = self.draft.copy()
        scale, rejected = as_number(0, like=self.draft), as_number(1, like=self.draft)
        residual = self.target
        for token in x:
            rest = left.sum()
            chances.append(acceptance_chance(residual[token] * rest, rejected * left[token]))
            # Nothing left to draw means that this draft cannot happen.
            scale += rejected / rest if rest > 0 else 0
            left[token] *= 0
            residual = positive_part(self.target - scale * self.draft)
            rejected = as_number(residual.sum(), like=self.draft)
        return chances, residual


class _Rejected:
    """H(c) = Σ (q − c·p)₊ for many c at once, after one sort."""

    def __init__(self, draft: Array, target: Array) -> None:
        ratio = ratios.target_to_draft(draft, target)
        order = ratios.ascending(ratio)
        self._ratios = ratio[order]
        self._draft = prefix_sums(draft[order][::-1])[::-1]
        self._target = prefix_sums(target[order][::-1])[::-1]

    def __call__(self, scales: Array) -> Array:
        above = np.searchsorted(self._ratios, scales, side="right")
        missing: Array = positive_part(self._target[above] - scales * self._draft[above])
        return missing
