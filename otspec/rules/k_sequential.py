"""K-Seq: drafts in turn against one inflated draft distribution (SpecTr, alg. 2; Theory, 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec import ratios
from otspec.arithmetic import (
    Array,
    Number,
    as_number,
    as_scalar,
    is_exact,
    over_one_denominator,
    positive_part,
    prefix_sums,
    refuse_long_power,
    suffix_sums,
    zeros,
)
from otspec.coupling import acceptance_chance
from otspec.digits import plain
from otspec.distributions import Distribution, DistributionLike, normalised
from otspec.raw import shown
from otspec.rules.contract import CountedLaw
from otspec.rules.counts import no_counts, over, with_one_more
from otspec.rules.pair_rule import MOST_LISTED, refuse_many_drafts
from otspec.rules.powers import HALVINGS, at_least_once, covers, crossing, geometric
from otspec.rules.sequential import SequentialRule

MOST_EXACT = 2_000
"""Most drafts for which ρ* is found exactly."""
_EXCESS = Fraction(1, 2**64)
"""How far above an irrational root an exact ρ may lie."""


@dataclass(frozen=True, eq=False)
class KSequential(SequentialRule):
    """Accept each draft x in turn with probability min(1, q(x) / (ρ p(x))).

    With β = Σ min(p, q/ρ) and p_acc = 1 − (1−β)^k, the residual after k rejections is
    ∝ q − min(p, q/ρ) p_acc/β. That is a distribution for every ρ ≥ ρ*, the root of p_acc = ρβ;
    below ρ* it has negative entries, or min(p, q/ρ) is p wherever q > 0 and ρ makes no difference.

    Law: the output is distributed as the target; at ρ* the acceptance is at least
    1 − (1 − 1/k)^k times the optimum. Source: SpecTr, alg. 2 and thm. 1.

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    rho : float or Fraction, optional
        ρ, at least ρ*; by default ρ*. In exact arithmetic, where ρ* is irrational as a rule,
        the default is ρ* if that is rational and else a fraction less than 2⁻⁶⁴ above it, so
        that the rule stays exactly lossless.

    Raises
    ------
    ValueError
        Also for ρ below ρ*; the message names ρ*. In exact arithmetic, more than 2,000 drafts.

    Examples
    --------
    >>> rule = KSequential(["1/4"] * 4, ["1/2", "1/2", 0, 0], k=2)
    >>> rule.rho, rule.acceptance()
    (Fraction(3, 2), Fraction(3, 4))
    """

    name: ClassVar[str] = "k-sequential"
    title: ClassVar[str] = "k-sequential"
    batch: ClassVar[str | None] = "k_sequential"
    colour: ClassVar[str] = "#0072B2"
    marker: ClassVar[str] = "s"

    rho: Number

    def __init__(
        self,
        draft: DistributionLike,
        target: DistributionLike,
        k: int,
        *,
        rho: Number | None = None,
        normalize: bool = False,
    ) -> None:
        super().__init__(draft, target, k, normalize=normalize)
        pair = self.draft, self.target
        self._hold(
            rho=smallest_rho(*pair, self.k) if rho is None else _checked_rho(rho, *pair, self.k)
        )

    def accepted_law(self) -> Array:
        """Return what is accepted in turn, plus the residual draws that happen to be a draft.

        All drafts are rejected and y is among them with probability
        (1−β)^k − (1−β−m(y))^k, where m = p − min(p, q/ρ). At ρ* itself the residual is zero
        wherever m > 0, so that nothing is added.

        Returns
        -------
        ndarray, shape (n,)
        """
        kept, beta = self._kept()
        accepted: Array = kept * geometric(1 - beta, self.k)
        if beta >= 1:
            return accepted
        # Given that every draft was rejected, each of them is y with probability m(y)/(1−β).
        drafted = at_least_once((self.draft - kept) / (1 - beta), self.k)
        accepted += self._residual() * drafted
        return accepted

    def counted_law(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output.

        Draft i is accepted as y after i − 1 rejections, each of which was y with probability
        r = p − min(p, q/ρ) and another with 1 − β − r; later ones are y with probability p.
        """
        accepted, rejected = no_counts(self), no_counts(self)
        draft, kept, unit = over_one_denominator(self.draft, self._kept()[0])
        lost = draft - kept
        elsewhere = np.maximum(unit - kept.sum() - lost, 0)
        rejected[0] += unit // unit
        for _ in range(self.k):
            accepted = with_one_more(accepted, draft, unit - draft)
            accepted[1:] += rejected[:-1] * kept
            rejected = with_one_more(rejected, lost, elsewhere)
        scale = unit**self.k
        residual = normalised(self._residual(), self.target) * over(rejected, scale)
        return CountedLaw(over(accepted[1:], scale) + residual[1:], residual[0])

    def accepted_by_draft(self) -> Array:
        """Return the accepted law by which draft is the first that is the output, shape (k, n).

        The drafts before are rejected and others; draft i is accepted as y, or rejected and y
        comes again among the later ones, or from the residual.
        """
        kept, beta = self._kept()
        lost, residual = self.draft - kept, normalised(self._residual(), self.target)
        elsewhere = positive_part(1 - beta - lost)
        by_draft, first = zeros((self.k, len(kept)), like=kept), zeros(len(kept), like=kept) + 1
        for i in range(self.k):
            later = self.k - 1 - i
            again = kept * geometric(1 - beta, later) if later else 0 * kept
            by_draft[i] = first * (kept + lost * (again + residual * (1 - beta) ** later))
            first = first * elsewhere
        return by_draft

    def acceptance_by_draft(self) -> Array:
        """Return β (1−β)^{i−1} for draft i; residual hits are nobody's."""
        refuse_many_drafts(self.k, MOST_LISTED, "acceptance_by_draft()")
        _, beta = self._kept()
        refuse_long_power(beta, self.k)
        by_draft = zeros(self.k, like=self.draft)
        by_draft[:] = [beta * (1 - beta) ** i for i in range(self.k)]
        return by_draft

    def _kept(self) -> tuple[Array, Number]:
        """Return min(p, q/ρ) and its sum β."""
        kept: Array = np.minimum(self.draft, self.target / self.rho)
        return kept, as_number(kept.sum(), like=self.draft)

    def _residual(self) -> Array:
        """Return q − min(p, q/ρ) p_acc/β, which sums to 1 − p_acc, shape (n,)."""
        kept, beta = self._kept()
        residual: Array = positive_part(self.target - kept * geometric(1 - beta, self.k))
        return residual

    def _rounds(self, x: Sequence[int]) -> tuple[list[Number], Array]:
        chances = [
            acceptance_chance(self.target[token], self.rho * self.draft[token]) for token in x
        ]
        return chances, self._residual()


def smallest_rho(draft: Distribution, target: Distribution, k: int) -> Number:
    """Return ρ*, from which on K-Seq is lossless.

    p_acc/β is 1 + (1−β) + … + (1−β)^{k−1}, so that ρ* is where ρ reaches that sum. As ρ grows
    ρβ grows and p_acc falls, hence the crossing is unique. β(ρ) = Σ min(p, q/ρ) is
    P + Q/ρ between two neighbouring ratios q/p, P the draft mass of the ratios above and Q the
    target mass of those below: one sort finds the stretch, and the root is found in it.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
    k : int

    Returns
    -------
    float or Fraction
        In [1, k]; 1 if draft and target are disjoint. Floats: the smallest float at or above
        the root. Exact: the root if rational, else at most 2⁻⁶⁴ above.
    """
    if is_exact(draft):
        refuse_many_drafts(k, MOST_EXACT, "an exact rho*")
        refuse_long_power(draft, k)
    ratio = ratios.target_to_draft(draft, target)
    order = ratios.ascending(ratio)
    knots, below = ratio[order], prefix_sums(target[order])
    above = suffix_sums(draft[order])
    first, last = np.searchsorted(knots > 1, True), np.searchsorted(knots >= k, True)
    inner = slice(first, last)
    betas = above[inner] + below[inner] / knots[inner]
    valid = _is_valid(knots[inner], betas, k)
    stretch = first + int(np.argmax(valid)) if valid.any() else last

    def suffices(rho: Number) -> bool:
        return bool(_is_valid(rho, above[stretch] + below[stretch] / rho, k))

    low = knots[stretch - 1] if stretch > first else as_number(1, like=draft)
    high = knots[stretch] if stretch < last else as_number(k, like=draft)
    if suffices(low):
        return as_number(low, like=draft)
    low, high = as_number(low, like=draft), as_number(high, like=draft)
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        guess = crossing(above[stretch], below[stretch], low, high, k)
        return _exact_root(suffices, low, high, guess)
    return _float_root(suffices, low, high)


def _is_valid(rho: Array | Number, beta: Array | Number, k: int) -> Array:
    """Return whether ρ ≥ p_acc/β, or nothing is ever accepted."""
    if is_exact(np.asarray(beta)):
        exact = np.frompyfunc(lambda r, b: b == 0 or covers(Fraction(r), Fraction(b), k), 2, 1)
        return np.asarray(exact(rho, beta), dtype=bool)
    valid: Array = (beta == 0) | (rho >= geometric(1 - beta, k))
    return valid


def _checked_rho(given: Number, draft: Distribution, target: Distribution, k: int) -> Number:
    rho = as_scalar(given, "rho")
    if isinstance(rho, Fraction) != is_exact(draft):
        raise ValueError(
            f"rho is {shown(given)}, in another arithmetic than the distributions: "
            "write all exactly, or all as floats"
        )
    if rho > 0 and math.isfinite(rho):
        with np.errstate(over="ignore"):
            beta = as_number(np.minimum(draft, target / rho).sum(), like=draft)
        # β carries the rounding of a pairwise sum, and p_acc/β changes by at most k²/2 times that.
        slack = 0 if is_exact(draft) else k**2 * np.finfo(float).eps * (2 + math.log2(len(draft)))
        if _is_valid(rho + slack, beta, k):
            return rho
    root = float(smallest_rho(draft, target, k))
    raise ValueError(
        f"rho is {plain(rho)}, but the rule is known to be lossless for a finite rho of at least "
        f"rho* = {root!r} only: raise rho, or leave it out"
    )


def _float_root(suffices: Callable[[Number], bool], low: Number, high: Number) -> Number:
    """Return the smallest float in (low, high] that suffices, by bisection of one stretch."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _exact_root(
    suffices: Callable[[Fraction], bool], low: Fraction, high: Fraction, guess: int
) -> Fraction:
    """Return a simple fraction from the least number in (low, high] that suffices on.

    That is found between two neighbours among 2^200 steps from low to high, of which the upper
    one was guessed in rounded numbers; what suffices is decided exactly.
    """
    step, steps = (high - low) / 2**HALVINGS, (0, 2**HALVINGS)
    for upper in (guess, guess + 1, guess - 1):
        below, above = (low + place * step for place in (upper - 1, upper))
        if low <= below and above <= high and suffices(above) and not suffices(below):
            steps = upper - 1, upper
            break
    first, last = steps
    while last - first > 1:  # where rounded numbers do not tell
        middle = (first + last) // 2
        first, last = (first, middle) if suffices(low + middle * step) else (middle, last)
    low, high = low + first * step, low + last * step
    simplest = _simplest_between(low, high)
    if suffices(simplest):
        return simplest
    return _simplest_between(high, high + _EXCESS)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high] (continued fractions)."""
    whole = low.__ceil__()
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / _simplest_between(1 / (high - whole + 1), 1 / (low - whole + 1))
