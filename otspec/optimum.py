"""The most that any lossless rule can accept, with a certificate (Theory, 1, 2 and 3).

For every draft law P and target q,

    α(P, q) = min over token sets A of  q(A) + 1 − P(all drafts inside A),

so a minimising A proves that no rule accepts more: anyone can evaluate the right-hand side. That
some rule accepts as much is proved by a law of the selected draft (:mod:`otspec.cuts.selections`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from otspec.arguments import as_choice, as_list
from otspec.arithmetic import Array, IntArray, Number, as_number
from otspec.cuts import fixed, flow, halfplanes, prefix
from otspec.cuts.selections import best_selection, shortfall
from otspec.digits import plain
from otspec.distributions import (
    Distribution,
    DistributionLike,
    as_k,
    as_pair,
    check_alike,
)
from otspec.drafts import (
    IID,
    LAWS,
    DraftLaw,
    Independent,
    SingleDraftLaw,
    WithoutReplacement,
)
from otspec.drafts.contract import TooManyTuplesError, as_law
from otspec.drafts.fixed import Certain
from otspec.drafts.single import ByRatio, FixedButOne
from otspec.frozen import Frozen
from otspec.raw import shown


@dataclass(frozen=True, eq=False)
class Optimum(Frozen):
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
            f"Optimum(acceptance={plain(self.acceptance)}, cut={shown(self.cut)}, "
            f"law={type(self.law).__name__}, k={self.law.k}, n={self.law.n})"
        )

    @cached_property
    def selection(self) -> Distribution | None:
        """A law b of the selected draft that attains the acceptance, shape (n,), read-only.

        b(A) ≥ P(all drafts inside A) for every token set A, so that one of the drafts can be
        selected with the law b, and maximal coupling with the target accepts Σ min(b, q), which
        is the acceptance. Computed when it is first asked for, from the law and the target alone.

        None for two :class:`Independent` drafts over more than 100 tokens: their cut is found
        without a flow, and nothing else gives b there.

        Raises
        ------
        ValueError
            As :func:`optimal_acceptance`, where max flow is needed.
        """
        return best_selection(self.law, self.target)

    def check(self) -> None:
        """Prove the acceptance from both sides, whatever way it was computed in.

        No rule accepts more: the cut's bound is evaluated. Some rule accepts as much:
        :attr:`selection` is a distribution, is nowhere below the chance that all drafts are
        inside a set, and has Σ min(b, q) = acceptance. Where it is None only the first is proved.

        Raises
        ------
        ValueError
            A side does not hold: exactly, or in floats beyond the rounding of sums of n terms and
            of their products (``law.accuracy``).
        """
        self._check_cut()
        if self.selection is not None:
            self._check_selection(self.selection)

    def _check_cut(self) -> None:
        bound = cut_bound(self.law, self.target, self.cut)
        tolerance = self.law.accuracy
        # Not through a float: an exact difference may be too small for one.
        if not -tolerance <= bound - self.acceptance <= tolerance:
            raise ValueError(
                f"the cut gives the bound {plain(bound)}, but the acceptance is said to be "
                f"{plain(self.acceptance)}: one of the two was changed"
            )

    def _check_selection(self, selection: Distribution) -> None:
        check_alike("target", self.target, "selection", selection)
        tolerance = self.law.accuracy
        lowest, total = selection.min(), selection.sum()
        if not (lowest >= 0 and -tolerance <= total - 1 <= tolerance):
            raise ValueError(
                f"the selection is no distribution: its least mass is {plain(lowest)}, its "
                f"sum {plain(total)}"
            )
        missed = shortfall(self.law, selection)
        if not missed <= tolerance:
            raise ValueError(
                "the selection is no law of a selected draft: the drafts are all inside some token "
                f"set with a probability that is {plain(missed)} above what it gives to that set"
            )
        accepted = as_number(np.minimum(selection, self.target).sum(), like=self.target)
        if not -tolerance <= accepted - self.acceptance <= tolerance:
            raise ValueError(
                f"the selection accepts {plain(accepted)}, but the acceptance is said to be "
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
    :class:`TopPlusOne`; one sum for :class:`Fixed` and :class:`TopK`; O(n² log n) for two
    :class:`Independent` drafts; max flow otherwise.
    Source: min cut in the network of SpecHub, app. E, for any k; for i.i.d. drafts and k = 2 it
    is Canonical, thm. 3.

    Examples
    --------
    >>> best = optimal_acceptance(IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"])
    >>> best.acceptance, best.cut
    (Fraction(17, 20), (0,))
    >>> best.check()
    """
    checked = as_law(law).as_target(target, normalize=normalize)
    law = law.for_target(checked)
    cut, bound = bounded_cut(law, checked)
    return Optimum(law, checked, bound, tuple(np.sort(cut).tolist()))


def optimal_acceptances(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    *,
    law: str = IID.name,
    normalize: bool = False,
) -> Array:
    """Return the optimal acceptance of k drafts for several k, of i.i.d. ones from one sort.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : iterable of int
        Numbers of drafts, in any order.
    law : str
        How the drafts are drawn, one of :data:`otspec.drafts.LAWS`. ``"iid"`` takes one sort
        for all k and ``"without-replacement"`` one pass more; the others go k by k.
    normalize : bool
        Scale both distributions to sum 1.

    Returns
    -------
    ndarray, shape (len(ks),)
        float64, or ``Fraction`` for exact input.

    Raises
    ------
    ValueError
        As :func:`otspec.distributions.as_pair`; a k that is no positive integer, or that the law
        does not have over this draft; an unknown law.

    Notes
    -----
    Laws: for i.i.d. drafts and without replacement non-decreasing in k; of i.i.d. drafts the
    limit is the target mass on the draft's support. Floats are within n rounding errors of the
    exact value (cumulative sums), and a quadrature's 1e-13 without replacement.

    Examples
    --------
    >>> optimal_acceptances([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [1, 2]).round(12).tolist()
    [0.6, 0.85]
    >>> draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> optimal_acceptances(draft, target, [1, 3], law="without-replacement").tolist()
    [Fraction(3, 5), Fraction(1, 1)]
    """
    pair = as_pair(draft, target, normalize=normalize)
    law_class = LAWS[as_choice(law, "law", LAWS)]
    given = as_list(ks, "ks", "a list of numbers of drafts")
    numbers = [as_k(k, f"ks[{i}]") for i, k in enumerate(given)]
    if not numbers:
        raise ValueError("ks is empty: pass at least one number of drafts")
    for k in numbers:
        law_class.check_k(pair[0], k)
    if together := _TOGETHER.get(law_class):
        return together(*pair, numbers)
    found = [optimal_acceptance(law_class(pair[0], k), pair[1]).acceptance for k in numbers]
    return np.array(found, dtype=pair[0].dtype)


_TOGETHER: dict[type[SingleDraftLaw], Callable[..., Array]] = {
    IID: prefix.iid_acceptances,
    WithoutReplacement: prefix.distinct_acceptances,
}
"""The laws that have all k from one pass."""


def cut_bound(law: DraftLaw, target: Distribution, cut: Sequence[int] | IntArray) -> Number:
    """Return q(A) + 1 − P(all drafts inside A), an upper bound on every rule's acceptance."""
    members = np.asarray(cut, dtype=np.intp)
    return as_number(target[members].sum() + (1 - law.inside(members)), like=target)


@singledispatch
def bounded_cut(law: DraftLaw, target: Distribution) -> tuple[IntArray, Number]:
    """Return a minimum cut and its bound."""
    cut = np.sort(minimum_cut(law, target))
    return cut, cut_bound(law, target, cut)


bounded_cut.register(WithoutReplacement, prefix.by_ratio_with_bound)


@singledispatch
def minimum_cut(law: DraftLaw, target: Distribution) -> IntArray:
    """Return a token set that minimises the bound, by whichever way the law allows."""
    return flow.by_max_flow(law, target)


minimum_cut.register(ByRatio, prefix.by_ratio)
minimum_cut.register(FixedButOne, prefix.after_fixed)
minimum_cut.register(Certain, fixed.drafted)


@minimum_cut.register
def _(law: Independent, target: Distribution) -> IntArray:
    if law.k == 1:
        return prefix.by_ratio(IID(law.drafts[0], 1), target)
    if law.k == 2:
        return halfplanes.best_halfplane(law.drafts[0], law.drafts[1], target)
    try:
        return flow.by_max_flow(law, target)
    except TooManyTuplesError as error:
        raise TooManyTuplesError(
            f"{error}; rules.PriorityMixture(law, target, pools=256) certifies an interval"
        ) from error
