"""The most that any lossless verification rule can accept, with a certificate.

For every draft law P and target q,

    α(P, q) = min over token sets A of  q(A) + 1 − P(all drafts inside A),

so a minimising A proves that no rule accepts more: anyone can evaluate the right-hand side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number
from otspec.cuts import flow, halfplanes, prefix
from otspec.digits import plain, quoted
from otspec.distributions import (
    Distribution,
    DistributionLike,
    as_distribution,
    as_k,
    as_pair,
)
from otspec.drafts import IID, DraftLaw, Hub, Independent, TopPlusOne, WithoutReplacement


@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimal acceptance of a draft law for a target.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)
    acceptance : float or Fraction
        The largest probability that the output of a lossless rule is one of the drafts.
    cut : tuple of int
        Ascending token ids of a set A with acceptance = q(A) + 1 − P(all drafts inside A).
    """

    law: DraftLaw
    target: Distribution
    acceptance: Number
    cut: tuple[int, ...]

    def __repr__(self) -> str:
        """Return law, acceptance and cut; of long numbers and cuts the ends."""
        return (
            f"Optimum(acceptance={plain(self.acceptance)}, cut={quoted(self.cut)}, "
            f"law={type(self.law).__name__}, k={self.law.k}, n={self.law.n})"
        )

    def check(self) -> None:
        """Recompute the upper bound from the cut alone.

        Raises
        ------
        ValueError
            The bound is not the acceptance: exactly, or in floats beyond the rounding of a sum
            of n terms (and the error of ``law.inside``, which is smaller).
        """
        bound = cut_bound(self.law, self.target, self.cut)
        rounding = 0.0 if self.law.exact else 4 * np.finfo(float).eps * (self.law.n + self.law.k)
        # Not through a float: an exact difference may be too small for one.
        if not -rounding <= bound - self.acceptance <= rounding:
            raise ValueError(
                f"the cut gives the bound {plain(bound)}, but the acceptance is said to be "
                f"{plain(self.acceptance)}: one of the two was changed"
            )


def optimal_acceptance(
    law: DraftLaw, target: DistributionLike, *, normalize: bool = False
) -> Optimum:
    """Return the most that any lossless rule accepts under a draft law, with its cut.

    Parameters
    ----------
    law : DraftLaw
    target : array_like, shape (n,)
    normalize : bool
        Scale the target to sum 1.

    Returns
    -------
    Optimum
        Its acceptance is ``Fraction`` for exact input.

    Raises
    ------
    ValueError
        An unusable target, another length or arithmetic than the law's, or a law without a
        formula (:class:`Joint`, :class:`Independent` with k > 2) on too large a vocabulary.

    Notes
    -----
    Laws: at most 1, and at least Σ min(p_i, q) for each draft's own law p_i.

    One sort for :class:`IID`, :class:`WithoutReplacement`, :class:`Hub` and
    :class:`TopPlusOne`; O(n² log n) for two :class:`Independent` drafts; max flow otherwise.
    Source: min cut in the network of SpecHub, app. E, for any k; for i.i.d. drafts and k = 2 it
    is Canonical, thm. 3.

    Examples
    --------
    >>> best = optimal_acceptance(IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"])
    >>> best.acceptance, best.cut
    (Fraction(17, 20), (0,))
    >>> best.check()
    """
    checked = as_distribution(target, "target", normalize=normalize)
    law.check_alike(checked, "target")
    cut = np.sort(minimum_cut(law, checked))
    bound = cut_bound(law, checked, cut)
    return Optimum(law, checked, bound, tuple(cut.tolist()))


def optimal_acceptances(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    *,
    normalize: bool = False,
) -> Array:
    """Return the optimal acceptance of k i.i.d. drafts for several k from one sort.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : iterable of int
        Numbers of drafts, in any order.
    normalize : bool
        Scale both distributions to sum 1.

    Returns
    -------
    ndarray, shape (len(ks),)
        float64, or ``Fraction`` for exact input.

    Raises
    ------
    ValueError
        As :func:`otspec.distributions.as_pair`; or a k that is no positive integer.

    Notes
    -----
    Laws: non-decreasing in k; the limit is the target mass on the draft's support.
    Floats are within n rounding errors of the exact value (cumulative sums).

    Examples
    --------
    >>> optimal_acceptances([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [1, 2]).round(12).tolist()
    [0.6, 0.85]
    """
    pair = as_pair(draft, target, normalize=normalize)
    numbers = [as_k(k, f"ks[{i}]") for i, k in enumerate(ks)]
    if not numbers:
        raise ValueError("ks is empty: pass at least one number of drafts")
    return prefix.iid_acceptances(*pair, numbers)


def cut_bound(law: DraftLaw, target: Distribution, cut: Iterable[int]) -> Number:
    """Return q(A) + 1 − P(all drafts inside A), an upper bound on every rule's acceptance."""
    members = np.fromiter(cut, dtype=np.intp)
    return as_number(target[members].sum() + (1 - law.inside(members)), like=target)


@singledispatch
def minimum_cut(law: DraftLaw, target: Distribution) -> IntArray:
    """Return a token set that minimises the bound, by whichever way the law allows."""
    return flow.by_max_flow(law, target)


minimum_cut.register(IID, prefix.by_ratio)
minimum_cut.register(WithoutReplacement, prefix.by_ratio)
minimum_cut.register(Hub, prefix.after_fixed)
minimum_cut.register(TopPlusOne, prefix.after_fixed)


@minimum_cut.register
def _(law: Independent, target: Distribution) -> IntArray:
    if law.k == 1:
        return prefix.by_ratio(IID(law.drafts[0], 1), target)
    if law.k == 2:
        return halfplanes.best_halfplane(law.drafts[0], law.drafts[1], target)
    return flow.by_max_flow(law, target)
