"""Recursive rejection sampling of distinct drafts (MCSD, alg. 2; SpecHub, alg. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, Number, as_number, as_seed, as_size, prefix_sums, suffix_sums, zeros
from otspec.distributions import Distribution, normalized
from otspec.drafts import SingleDraftLaw, WithoutReplacement
from otspec.estimate import Estimate, Exact, Known
from otspec.ratios import Pair, ascending, target_to_draft
from otspec.rules.base.accepted import Estimated
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import NotExactError
from otspec.rules.rejection.recursive_rejection import InTurn
from otspec.rules.rejection.rejected_paths import DistinctPaths

SUM_LIMIT = 4_000  # most tuples of earlier drafts over which :meth:`acceptance` sums exactly
_SIZE = 2_000  # paths of an estimate


@dataclass(frozen=True, eq=False)
class RecursiveRejectionWithoutReplacement(InTurn, PairRule):
    """Recursive rejection in which draft i is drawn from p̄_i, p renormalized off earlier drafts.

    Accept x_i with probability min(1, q_{i−1}/p̄_i), else q_i ∝ (q_{i−1} − p̄_i)₊; only then x_i is
    removed from p̄.

    Law: the output is distributed as the target. Source: MCSD, alg. 2; SpecHub, alg. 1 without
    replacement. Parameters and errors: :class:`otspec.rules.PairRule`; also fewer than k tokens of
    positive probability.

    Notes
    -----
    If all drafts so far were rejected, with probability W in round i given the earlier ones, then
    W·q_i = (q − c·p)₊ where c = Σ_i W_i / p(not yet removed): a rejected token has q ≤ c·p from
    then on, so that removing it from p̄ changes nothing. The state of the rule is thus the number
    c and the mass that was removed.

    Examples
    --------
    >>> draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> RecursiveRejectionWithoutReplacement(draft, target, k=2).acceptance()
    Fraction(47, 50)
    """

    name: ClassVar[str] = "recursive-rejection-without-replacement"
    title: ClassVar[str] = "recursive rejection (distinct)"
    batch: ClassVar[str | None] = "recursive_rejection_without_replacement"
    nested: ClassVar[bool] = True
    formula: ClassVar[bool] = False
    law_class: ClassVar[type[SingleDraftLaw]] = WithoutReplacement
    couples_one: ClassVar[bool] = True

    def acceptance(self) -> Number:
        """Return the acceptance; a residual token is never one of the drafts.

        Exact for k ≤ 2 in O(n log n), and above in O(n^{k−1} log n).

        Raises
        ------
        NotExactError
            n^{k−2} is above 4,000 (tokens that can be drafted): see :meth:`estimate`.
        """
        if not self._summable:
            raise NotExactError(
                f"a sum over the first {self.k - 2} drafts of k = {self.k} has too many terms: "
                "estimate() follows simulated rejections instead"
            )
        by_position = _accepted_laws(self.draft, self.target, self.k).sum(axis=1)
        return as_number(by_position.sum(), like=self.draft)

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance for each of several k, estimates from one simulation."""
        # The paths of fewer drafts are the beginnings of those of more, so that each is what
        # estimate() finds for it alone; and so are sums over fewer.
        cls.law_class.check_support(pair.draft, max(ks, default=1))
        found: dict[int, Known] = {}
        summed = [k for k in ks if _summable(pair.draft, k)]
        drawn = [k for k in ks if k not in summed]
        if summed:
            by_draft = _accepted_laws(pair.draft, pair.target, max(summed)).sum(axis=1)
            sums = {k: as_number(by_draft[:k].sum(), like=pair.draft) for k in summed}
            found |= {k: Exact(accepted) for k, accepted in sums.items()}
        if drawn:
            rejected = _paths(pair, max(drawn)).rejected
            found |= {k: Estimate.of_mean(1 - rejected[k]) for k in drawn}
        return [found[k] for k in ks]

    def _by_position(self) -> Array:
        """Return the probability that draft i is the accepted one and is y, shape (k, n)."""
        # Exact; see `acceptance` for the cost. By enumeration beyond that.
        if not self._summable:
            return super()._by_position()
        return _accepted_laws(self.draft, self.target, self.k)

    def _by_token(self) -> Array:
        """Return the probability that the output is y and one of the drafts, shape (n,)."""
        # Exact; see `acceptance` for the cost. By enumeration beyond that.
        if not self._summable:
            return super()._by_token()
        return _accepted_laws(self.draft, self.target, self.k).sum(axis=0)

    @property
    def _summable(self) -> bool:
        return _summable(self.draft, self.k)

    def estimate(self, size: int = _SIZE, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says along simulated rejections, at any vocabulary size.

        Parameters
        ----------
        size : int
            How many tuples of drafts are drawn given that they are rejected, at least 2.
        seed : int

        Returns
        -------
        Estimated
            The acceptance is the mean of 1 − W(c), each of which is between 0 and 1, however
            little the drafts leave; see
            :class:`otspec.rules.rejection.rejected_paths.DistinctPaths`.

        Raises
        ------
        ValueError
            Fewer than two tuples.
        """
        return self.paths(size, seed).of_first(self.k)

    def paths(self, size: int = _SIZE, seed: int = 0) -> DistinctPaths:
        """Return the simulated rejections that :meth:`estimate` follows, in floats."""
        return _paths(self.pair, self.k, size, seed)

    def offered(self, earlier: Sequence[int]) -> Distribution:
        """Return the draft without the earlier ones, normalized."""
        left = _without(self.draft, list(earlier))
        return normalized(left, left)


def _paths(pair: Pair, k: int, size: int = _SIZE, seed: int = 0) -> DistinctPaths:
    size, seed = as_size(size, least=2, width=3 * k), as_seed(seed)
    return DistinctPaths(pair.in_floats(), k, size, seed)


def _summable(draft: Distribution, k: int) -> bool:
    return bool(int(np.count_nonzero(draft)) ** max(k - 2, 0) <= SUM_LIMIT)


def _accepted_laws(left: Array, target: Distribution, k: int) -> Array:
    """Return the probability that draft i is the accepted one and is y, shape (k, n)."""
    # After the first draft x was rejected, the rest is the same rule for k − 1 drafts with p off x
    # and the residual. `left` is p without the earlier drafts, not scaled to sum 1: scaled by each
    # of them in turn, the smallest floats would lose their digits before they matter.
    draft = normalized(left, left)
    accepted = zeros((k, len(draft)), like=draft)
    accepted[0] = np.minimum(draft, target)
    lost, residual = draft - accepted[0], target - accepted[0]
    missing = as_number(residual.sum(), like=draft)
    if k == 1 or missing == 0:
        return accepted
    if k == 2:
        accepted[1] = _accepted_second(left, lost, residual, missing)
        return accepted
    for x in np.flatnonzero(lost).tolist():
        accepted[1:] += lost[x] * _accepted_laws(_without(left, x), residual / missing, k - 1)
    return accepted


def _accepted_second(left: Array, lost: Array, residual: Array, missing: Number) -> Array:
    """Return the probability that the first of two drafts is rejected, the second accepted as y."""
    # Given the first draft x, the residual r = (q − p)₊ is offered W p/(1−p(x)), of which min(r,
    # c·p) is accepted, c = W/(1−p(x)): the c in order serve all x but the heaviest, whose c may be
    # beyond the floats. A token that can be rejected first has r = 0. Light tokens have nearly the
    # same c: no r/p lies between theirs, so that they need no order.
    draft, heavy = normalized(left, left), int(np.argmax(left))
    tried = lost > 0
    tried[heavy] = False
    scales, weights = missing / (1 - draft[tried]), lost[tried]
    accepted: Array = residual * weights.sum()
    ratios = target_to_draft(draft, residual)
    above = np.flatnonzero(ratios >= scales.min()) if len(scales) else ()
    if len(above):
        alike = scales <= ratios[above].min()
        order = np.flatnonzero(~alike)[ascending(scales[~alike])]
        offered = prefix_sums((weights * scales)[order]) + (weights * scales)[alike].sum()
        rest = suffix_sums(weights[order])
        below = np.searchsorted(scales[order], ratios[above], side="right")
        accepted[above] = draft[above] * offered[below] + residual[above] * rest[below]
    others = _without(left, heavy)
    accepted += lost[heavy] * np.minimum(residual, missing * normalized(others, others))
    return accepted / missing


def _without(left: Array, tokens: int | list[int]) -> Array:
    """Return what is left without one token, or several."""
    others = left.copy()
    others[tokens] *= 0
    return others
