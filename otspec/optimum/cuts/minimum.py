"""The minimum cut of a draft law and a target, by whichever way the law allows (Theory, 1)."""

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from otspec._base.arithmetic import IntArray, Number, as_number
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw, Independent, Masked, WithoutReplacement
from otspec.drafts.base import TooManyTuplesError
from otspec.drafts.fixed import Certain
from otspec.drafts.single import ByRatio, FixedButOne
from otspec.optimum.cuts import fixed, flow, halfplanes, prefix


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
bounded_cut.register(FixedButOne, fixed.after_fixed_with_bound)


@singledispatch
def minimum_cut(law: DraftLaw, target: Distribution) -> IntArray:
    """Return a token set that minimizes the bound, by whichever way the law allows."""
    return flow.by_max_flow(law, target)


minimum_cut.register(ByRatio, prefix.by_ratio)
minimum_cut.register(FixedButOne, fixed.after_fixed)
minimum_cut.register(Certain, fixed.drafted)


@minimum_cut.register
def _of_masked(law: Masked, target: Distribution) -> IntArray:
    """Cut the law with the drafts as they were drawn: those withdrawn cost nothing (Theory, 36)."""
    if law.set_aside is None:
        return flow.by_max_flow(law, target)
    cut = minimum_cut(law.set_aside, law.target_aside(target))
    return np.append(np.intersect1d(cut, law.keep), law.null).astype(np.intp)


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
