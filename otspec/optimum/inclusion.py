"""What inclusion probabilities of the drafts allow at most, by water filling (Theory, 41, 42)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Frozen, as_list, as_real, plain
from otspec._base.arithmetic import Array, Number, as_number, positive_part, zeros
from otspec.distributions import Distribution, DistributionLike, as_distribution, as_k, check_alike

_ROUNDING = 1e-9  # by how much a mean of sums over the vocabulary may be off in floats


@dataclass(frozen=True, eq=False)
class InclusionBound(Frozen):
    """The most that k drafts accept on average over several targets, by inclusion probabilities.

    A token y that is among the drafts with probability π(y) is accepted with probability
    min(q(y), π(y)) at most. ``inclusion`` maximizes Σ_i w_i Σ_y min(q_i(y), π(y)) over Σ π ≤ k,
    0 ≤ π ≤ 1. So no draft law that is chosen without knowing which target comes accepts more. One
    draft attains the bound, and so do laws of which all drafts but one are certain.

    Parameters
    ----------
    targets : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
    k : int
    inclusion : ndarray, shape (n,)
        The best π(y).
    level : float or Fraction
        The price λ ≥ 0 of a draft: π(y) is a level that q(y) exceeds with probability λ.
    """

    targets: Array
    weights: Distribution
    k: int
    inclusion: Array
    level: Number

    @property
    def bound(self) -> Number:
        """The bound, from the price alone: λ k + Σ_y max over 0 ≤ t ≤ 1 of E min(q(y), t) − λ t."""
        total = self.level * self.k
        for drafted, worth, _ in _stretches(self.targets, self.weights):
            total = total + drafted * positive_part(np.asarray([worth - self.level]))[0]
        return as_number(total, like=self.targets)

    def check(self) -> None:
        """Prove the bound from the price, and that proper inclusion probabilities reach it."""
        tolerance = 0 if self.targets.dtype == object else _ROUNDING
        pi = self.inclusion
        if self.level < 0 or pi.min() < 0 or pi.max() > 1 or pi.sum() > self.k + tolerance:
            raise ValueError(
                f"the price is {plain(self.level)} and the inclusion probabilities go from "
                f"{plain(pi.min())} to {plain(pi.max())} with the sum {plain(pi.sum())}: one was "
                "changed"
            )
        reached = self.weights @ np.minimum(self.targets, pi).sum(axis=1)
        if not abs(self.bound - reached) <= tolerance:
            raise ValueError(
                f"the bound is {plain(self.bound)}, but the inclusion probabilities reach "
                f"{plain(reached)}: one of the two was changed"
            )


def inclusion_bound(
    targets: Sequence[DistributionLike], k: int, weights: DistributionLike | None = None
) -> InclusionBound:
    """Return what no draft law accepts more of on average over several targets.

    The drafts are chosen before one of the targets is drawn. The stretches of each token's
    probabilities between two targets are filled in the order of the targets that exceed them, until
    k drafts are used up: a sort of all m n probabilities.

    Parameters
    ----------
    targets : sequence of array_like, each of shape (n,)
        Such as the targets of logged positions, by rank of the draft model's tokens.
    k : int
        Number of drafts.
    weights : array_like, shape (m,), optional
        How often each target comes; by default equally often. Anything but alike distributions is
        a ValueError.

    Examples
    --------
    >>> targets = [["1/2", "1/2", 0], ["1/2", 0, "1/2"], ["1/2", 0, "1/2"]]
    >>> found = inclusion_bound(targets, k=1)
    >>> [str(p) for p in found.inclusion], found.bound
    (['1/2', '0', '1/2'], Fraction(5, 6))
    """
    stacked, chances = as_targets(targets, weights)
    k = as_k(k)
    inclusion = zeros(stacked.shape[1], like=stacked)
    left: Any = zeros(1, like=stacked)[0] + k
    level: Any = zeros(1, like=stacked)[0]
    for drafted, worth, token in _stretches(stacked, chances):
        if drafted >= left:
            inclusion[token] += left
            level = worth
            break
        inclusion[token] += drafted
        left -= drafted
    return InclusionBound(stacked, chances, k, inclusion, level)


def safest_bound(draft: DistributionLike, k: int, total_variation: Number) -> Number:
    """Return what no law of k drafts accepts more of, of the worst target near the draft.

    With d the total variation, from 0 to 1, a target can want the token y with probability c(y) =
    min(1, p(y) + d). So a law that accepts 1 − ℓ of all targets has inclusion probabilities of at
    least c(y) − ℓ, k in all: ``ℓ ≥ (c(J) − k)/|J|`` for every set J of tokens. The best J are the
    likeliest tokens: the bound is ``1 − max(0, max over J of (c(J) − k)/|J|)``. With n tokens it is
    at most 1 − d + (k − 1)/n, and one draft from p alone reaches 1 − d. A ValueError refuses an
    improper draft, k or distance.

    Examples
    --------
    >>> safest_bound(["1/2", "1/4", "1/4"], k=2, total_variation="1/2")
    Fraction(5, 6)
    """
    checked = as_distribution(draft, "draft")
    one = zeros(1, like=checked)[0] + 1
    distance = as_number(as_real(total_variation, "total_variation", 0, 1), like=checked)
    wanted = np.cumsum(-np.sort(-np.minimum(checked + distance, one)))
    counts = zeros(len(wanted), like=checked) + np.arange(1, len(wanted) + 1)
    lost = ((wanted - as_k(k)) / counts).max()
    return as_number(1 - max(lost, 0), like=checked)


def as_targets(
    targets: Sequence[DistributionLike], weights: DistributionLike | None
) -> tuple[Array, Distribution]:
    """Check targets and their weights: shapes (m, n) and (m,), in one arithmetic."""
    listed = as_list(targets, "targets", "a list of distributions", 1_000_000)
    if not listed:
        raise ValueError("targets is empty: pass at least one distribution")
    rows = [as_distribution(row, f"targets[{i}]") for i, row in enumerate(listed)]
    for i, row in enumerate(rows):
        check_alike("targets[0]", rows[0], f"targets[{i}]", row)
    stacked = np.array(rows)
    if weights is None:
        return stacked, zeros(len(rows), like=stacked) + (zeros(1, like=stacked)[0] + 1) / len(rows)
    chances = as_distribution(weights, "weights")
    if (chances.dtype == object) is not (stacked.dtype == object) or len(chances) != len(rows):
        raise ValueError(
            f"weights has {len(chances)} entries and targets {len(rows)}: pass a weight for each, "
            "in the same arithmetic"
        )
    return stacked, chances


def _stretches(targets: Array, weights: Distribution) -> list[tuple[Any, Any, int]]:
    """Return stretches of drafting with what one more draft accepts there: the best first."""
    n = targets.shape[1]
    order = np.argsort(targets, axis=0, kind="stable")  # (m, n), each column ascending
    ascending = np.take_along_axis(targets, order, axis=0)
    below = np.vstack([zeros((1, n), like=targets), ascending[:-1]])
    # The weight of the targets that exceed a level inside each stretch.
    worth = np.cumsum(weights[order][::-1], axis=0)[::-1]
    lengths = (ascending - below).ravel()
    some = np.flatnonzero(lengths > 0)
    best = some[np.argsort(-worth.ravel()[some], kind="stable")]
    return list(
        zip(lengths[best].tolist(), worth.ravel()[best].tolist(), (best % n).tolist(), strict=True)
    )
