"""K-Seq: drafts in turn against one inflated draft distribution (SpecTr, alg. 2; Theory, 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, Number, arithmetic, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, normalized
from otspec.estimate import Exact, Known
from otspec.ratios import Pair
from otspec.rules.base.counts import at_least_once, geometric, no_counts, over, with_one_more
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import CountedLaw
from otspec.rules.rejection.k_sequential_rho import accepted_each, as_rho, lossless_from, root_rho


@dataclass(frozen=True, eq=False)
class KSequential(PairRule):
    """Accept each draft x in turn with probability min(1, q(x) / (ρ p(x))).

    With β = Σ min(p, q/ρ) and p_acc = 1 − (1−β)^k, the residual after k rejections is
    ∝ q − min(p, q/ρ) p_acc/β. That is nowhere negative, so that the rule is lossless, for every
    ρ ≥ ρ*, the root of p_acc = ρβ; and for no other, unless q ≥ ρ* p wherever q > 0: then it is for
    every ρ > 0.

    Law: the output is distributed as the target; at ρ* the acceptance is at least
    1 − (1 − 1/k)^k times the optimum. Source: SpecTr, alg. 2 and thm. 1; which ρ are lossless:
    the documentation ("Theory", 31).

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    rho : float or Fraction, optional
        Any ρ with which the rule is lossless; by default ρ*. In exact arithmetic, where ρ* is
        irrational as a rule, the default is ρ* if that is rational and else a fraction less than
        2⁻⁶⁴ above it, so that the rule stays exactly lossless.

    Raises
    ------
    ValueError
        Also for a ρ with which the rule is lossy; the message names ρ*, and a token that is put
        out too often. In exact arithmetic, more than 2,000 drafts.

    Examples
    --------
    >>> rule = KSequential(["1/4"] * 4, ["1/2", "1/2", 0, 0], k=2)
    >>> rule.rho, rule.acceptance()
    (Fraction(3, 2), Fraction(3, 4))
    >>> rule.lossless_from
    Fraction(0, 1)
    """

    name: ClassVar[str] = "k-sequential"
    title: ClassVar[str] = "k-sequential"
    batch: ClassVar[str | None] = "k_sequential"
    couples_one: ClassVar[bool] = True

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
        pair = self.pair
        self._hold(rho=root_rho(pair, self.k) if rho is None else as_rho(rho, pair, self.k))

    @cached_property
    def lossless_from(self) -> Number:
        """The least lossless ρ: 0 if every ρ > 0 is, else ρ*, if irrational less than 2⁻⁶⁴ more."""
        return lossless_from(self.pair, self.k)

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance at ρ* for each of several k: in floats p_acc alone."""
        # The residual is zero there where a draft can be rejected.
        if pair.exact:
            return super().acceptances_of(pair, ks)
        found: list[Known] = []
        for k in ks:
            beta = float(accepted_each(pair.draft, pair.target, root_rho(pair, k)).sum())
            found.append(Exact(beta * float(geometric(max(1 - beta, 0.0), k))))
        return found

    def _by_token(self) -> Array:
        """Return what is accepted in turn, plus the residual draws that happen to be a draft."""
        # All drafts are rejected and y is among them with probability (1−β)^k − (1−β−m(y))^k, where
        # m = p − min(p, q/ρ). At ρ* itself the residual is zero wherever m > 0, so that nothing is
        # added.
        #
        # The result has shape (n,).
        kept, beta = self._kept()
        accepted: Array = kept * geometric(1 - beta, self.k)
        if beta >= 1:
            return accepted
        # Given that every draft was rejected, each of them is y with probability m(y)/(1−β).
        drafted = at_least_once((self.draft - kept) / (1 - beta), self.k)
        accepted += self._residual() * drafted
        return accepted

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output."""
        # Draft i is accepted as y after i − 1 rejections, each of which was y with probability r =
        # p − min(p, q/ρ) and another with 1 − β − r; later ones are y with probability p.
        accepted, rejected = no_counts(self), no_counts(self)
        draft, kept, unit = arithmetic.over_one_denominator(self.draft, self._kept()[0])
        lost = draft - kept
        elsewhere = np.maximum(unit - kept.sum() - lost, 0)
        rejected[0] += unit // unit
        for _ in range(self.k):
            accepted = with_one_more(accepted, draft, unit - draft)
            accepted[1:] += rejected[:-1] * kept
            rejected = with_one_more(rejected, lost, elsewhere)
        scale = unit**self.k
        residual = normalized(self._residual(), self.target) * over(rejected, scale)
        return CountedLaw(over(accepted[1:], scale) + residual[1:], residual[0])

    def _by_position(self) -> Array:
        """Return the accepted law by which draft is the first that is the output, shape (k, n)."""
        # The drafts before are rejected and others; draft i is accepted as y, or rejected and y
        # comes again among the later ones, or from the residual.
        kept, beta = self._kept()
        lost, residual = self.draft - kept, normalized(self._residual(), self.target)
        elsewhere = arithmetic.positive_part(1 - beta - lost)
        by_draft, first = (
            arithmetic.zeros((self.k, len(kept)), like=kept),
            arithmetic.zeros(len(kept), like=kept) + 1,
        )
        for i in range(self.k):
            later = self.k - 1 - i
            again = kept * geometric(1 - beta, later) if later else 0 * kept
            by_draft[i] = first * (kept + lost * (again + residual * (1 - beta) ** later))
            first = first * elsewhere
        return by_draft

    def _kept(self) -> tuple[Array, Number]:
        """Return min(p, q/ρ) and its sum β."""
        kept = accepted_each(self.draft, self.target, self.rho)
        return kept, arithmetic.as_number(kept.sum(), like=self.draft)

    def _residual(self) -> Array:
        """Return q − min(p, q/ρ) p_acc/β, which sums to 1 − p_acc, shape (n,)."""
        kept, beta = self._kept()
        return arithmetic.positive_part(self.target - kept * geometric(1 - beta, self.k))

    @cached_property
    def correction(self) -> Distribution:
        """The distribution of the output after k rejections, shape (n,)."""
        return normalized(self._residual(), self.target)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        for position, token in enumerate(drafts):
            if chance.accept(self.target[token], self.rho * self.draft[token]):
                return position
        return self.correction
