"""The most that any rule accepts, for any draft law (Theory, 1, 2, 29 and 30)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Number, as_choice, as_instance, as_list
from otspec.distributions import Distribution, DistributionLike, as_k
from otspec.drafts import IID, LAWS, DraftLaw, Masked, SingleDraftLaw, WithoutReplacement
from otspec.drafts.base import as_law
from otspec.optimum.budgets import Budget, Outputs, TotalVariation, refuse_null_outputs
from otspec.optimum.certificate import LossyOptimum, Optimum
from otspec.optimum.cuts import prefix
from otspec.optimum.cuts.minimum import bounded_cut
from otspec.optimum.divergences import KullbackLeibler, Renyi, ReverseKullbackLeibler
from otspec.ratios import Pair


def optimal_acceptance(
    law: DraftLaw,
    target: DistributionLike,
    *,
    total_variation: Any = None,
    kullback_leibler: Any = None,
    reverse_kullback_leibler: Any = None,
    renyi: Any = None,
    normalize: bool = False,
) -> Optimum:
    """Return the most that any rule accepts under a draft law, with its cut.

    Laws: at most 1, and at least Σ min(p_i, q) for each draft's own law p_i. With the total
    variation ε it is min(1, α + ε), α the lossless optimum. With a divergence it is α if the
    budget B is 0, never descends, and is concave in B, or in e^{(a − 1) B} for orders above 1. It
    is then what an output attains, in floats, and ``bound`` a bound: the two differ by rounding,
    for the order a by 3e-12 (1 + a) at most.

    One sort for :class:`IID`, :class:`WithoutReplacement`, :class:`Hub` and :class:`TopPlusOne`;
    one sum for :class:`Fixed` and :class:`TopK`; at most 64 sorts for two :class:`Independent`
    drafts, but for ties; max flow otherwise. Source: min cut in the network of SpecHub, app. E, for
    any k; for i.i.d. drafts and k = 2 it is Canonical, thm. 3.

    Parameters
    ----------
    law : DraftLaw
    target : array_like, shape (n,)
    total_variation : number, optional
        By how much the law o of the output may be off the target q, from 0 to 1 and in the
        arithmetic of the target. By default rules are lossless; one budget may be given.
    kullback_leibler, reverse_kullback_leibler : number, optional
        How large D(o‖q) = Σ o log(o/q), or D(q‖o), may be, in nats; in floats only.
    renyi : pair of numbers, optional
        The order a, positive and not 1, and how large log Σ q (o/q)^a / (a − 1) may be; in floats.
    normalize : bool
        Scale the target to sum 1.

    Returns
    -------
    Optimum
        Its acceptance is ``Fraction`` for exact input. A :class:`LossyOptimum`, which has an
        output law as well, if the output may be off.

    Raises
    ------
    ValueError
        An unusable target, another length or arithmetic than the law's, an unusable budget, one
        that lets the output be the null token of a :class:`Masked` law, or a law without a formula
        (:class:`Joint`, :class:`Independent` with k > 2) on too large a vocabulary.

    Examples
    --------
    >>> best = optimal_acceptance(IID(["1/2", "3/10", "1/5"], k=2), ["1/10", "3/5", "3/10"])
    >>> best.acceptance, best.cut
    (Fraction(17, 20), (0,))
    >>> best.check()
    >>> lossy = optimal_acceptance(best.law, best.target, total_variation="1/20")
    >>> lossy.acceptance, [str(mass) for mass in lossy.output]
    (Fraction(9, 10), ['3/20', '17/30', '17/60'])
    """
    checked = as_law(law).as_target(target, normalize=normalize)
    given, law = law, law.for_target(checked)
    cut, bound = bounded_cut(law, checked)
    ascending = tuple(np.sort(cut).tolist())
    kinds = TotalVariation, KullbackLeibler, ReverseKullbackLeibler, Renyi
    amounts = total_variation, kullback_leibler, reverse_kullback_leibler, renyi
    budget = _budget(checked, dict(zip(kinds, amounts, strict=True)))
    if budget is None:
        return Optimum(law, checked, bound, ascending)
    accepted = budget.acceptance(law, checked, bound)
    best = LossyOptimum(law, checked, accepted, ascending, budget)
    if isinstance(given, Masked):
        outputs = None if best.selection is None else Outputs(best.selection, checked)
        refuse_null_outputs(given, budget, outputs, best.lossless, law.accuracy)
    return best


class MaskPrice(NamedTuple):
    """What it costs to withdraw drafts, and what it saves."""

    every: Number
    """The optimal acceptance of all drafts."""
    kept: Number
    """The optimal acceptance of the drafts that are kept."""
    price: Number
    """What is accepted less: the difference of the two, at least 0."""
    withdrawn: Number
    """The expected number of drafts that need not be verified."""


def price_of_mask(law: Masked, target: DistributionLike) -> MaskPrice:
    """Return the optimal acceptance that is lost with the drafts that a policy withdraws.

    The law is a :class:`Masked`; errors are those of :func:`optimal_acceptance`.

    Examples
    --------
    >>> from otspec import Masked
    >>> law = Masked(IID(["1/2", "3/10", "1/5"], k=2), keep=[0, 1])
    >>> [str(number) for number in price_of_mask(law, ["1/10", "3/5", "3/10"])]
    ['17/20', '61/100', '6/25', '2/5']
    """
    masked = as_instance(law, "law", Masked, "a Masked law, such as Masked(law, keep=[0, 3])")
    every: Any = optimal_acceptance(masked.law, target).acceptance
    kept: Any = optimal_acceptance(masked, target).acceptance
    return MaskPrice(every, kept, every - kept, masked.withdrawn())


def _budget(target: Distribution, amounts: Mapping[type[Budget], Any]) -> Budget | None:
    """Return the budget that is given, if one is."""
    given = [(kind, amount) for kind, amount in amounts.items() if amount is not None]
    if len(given) > 1:
        names = " and ".join(kind.name for kind, _ in given)
        raise ValueError(f"{names} are both given: pass one budget")
    return None if not given else given[0][0].of(given[0][1], target)


def optimal_acceptances(
    draft: DistributionLike,
    target: DistributionLike,
    ks: Iterable[int],
    *,
    law: str = IID.name,
    total_variation: Any = None,
    normalize: bool = False,
) -> Array:
    """Return the optimal acceptance of k drafts for several k, of i.i.d. ones from one sort.

    Laws: for i.i.d. drafts and without replacement non-decreasing in k; of i.i.d. drafts the
    limit is the target mass on the draft's support. Floats are within n rounding errors of the
    exact value (cumulative sums), and a quadrature's 1e-13 without replacement.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : iterable of int
        Numbers of drafts, in any order.
    law : str
        How the drafts are drawn, one of :data:`otspec.drafts.LAWS`. ``"iid"`` takes one sort
        for all k and ``"without-replacement"`` one pass more; the others go k by k.
    total_variation : number, optional
        By how much the output may be off, as for :func:`optimal_acceptance`.
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
        does not have over this draft; an unknown law, an unusable budget.

    Examples
    --------
    >>> optimal_acceptances([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [1, 2]).round(12).tolist()
    [0.6, 0.85]
    >>> draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> optimal_acceptances(draft, target, [1, 3], law="without-replacement").tolist()
    [Fraction(3, 5), Fraction(1, 1)]
    """
    pair = Pair(draft, target, normalize=normalize)
    law_class = LAWS[as_choice(law, "law", LAWS)]
    given = as_list(ks, "ks", "a list of numbers of drafts")
    numbers = [as_k(k, f"ks[{i}]") for i, k in enumerate(given)]
    if not numbers:
        raise ValueError("ks is empty: pass at least one number of drafts")
    _refuse_by_name(numbers, lambda k: law_class.check_k(pair.draft, k))
    budget = TotalVariation.of(0 if total_variation is None else total_variation, pair.target)
    try:
        lossless = optima_of(pair, numbers, law_class)
    except ValueError:  # of one of the numbers, but they are looked at together
        _refuse_by_name(numbers, lambda k: optima_of(pair, [k], law_class))
        raise
    if budget.amount == 0:
        return lossless
    return np.array([budget.added_to(alpha) for alpha in lossless], dtype=pair.draft.dtype)


def _refuse_by_name(ks: Sequence[int], look: Callable[[int], object]) -> None:
    """Look at numbers of drafts one by one; an error says which of them it is about."""
    for i, k in enumerate(ks):
        try:
            look(k)
        except ValueError as error:
            raise type(error)(f"ks[{i}]: {error}") from error


def optima_of(pair: Pair, ks: Sequence[int], law_class: type[SingleDraftLaw]) -> Array:
    """Return the optima of a pair for numbers of drafts that a law has: (len(ks),)."""
    if together := _TOGETHER.get(law_class):
        return together(pair, ks)
    found = [bounded_cut(law_class(pair.draft, k), pair.target)[1] for k in ks]
    return np.array(found, dtype=pair.draft.dtype)


_TOGETHER: dict[type[SingleDraftLaw], Callable[[Pair, Sequence[int]], Array]] = {
    IID: prefix.iid_acceptances,
    WithoutReplacement: prefix.distinct_acceptances,
}
"""The laws that have all k from one pass."""
