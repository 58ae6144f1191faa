"""The optimum where all drafts but one are certain (SpecHub, thms. 2–4; Theory, 14)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Number, as_number
from otspec.distributions import Distribution, DistributionLike, as_pair
from otspec.drafts import Hub, TopPlusOne
from otspec.drafts.single import FixedButOne


def top_plus_one_acceptance(
    draft: DistributionLike, target: DistributionLike, k: int, *, normalize: bool = False
) -> Number:
    """Return the optimum for the k − 1 likeliest tokens and one more draft.

    q(Top) + Σ_{x ∉ Top} min(q(x), p̃(x)), p̃ the draft renormalised off the top. Errors:
    :func:`otspec.distributions.as_pair`, :class:`otspec.drafts.TopPlusOne`.

    Examples
    --------
    >>> top_plus_one_acceptance(["1/2", "1/4", "1/4"], ["1/4", "3/4", 0], k=2)
    Fraction(3, 4)
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return _after_fixed(TopPlusOne(first, k), second)


def hub_acceptance(
    draft: DistributionLike, target: DistributionLike, *, normalize: bool = False
) -> Number:
    """Return the optimum for SpecHub's drafts, q(a) + Σ_{x ≠ a} min(q(x), p(x) / (1 − p(a))).

    Source: SpecHub, thms. 2–4. Errors: :func:`otspec.distributions.as_pair`.

    Examples
    --------
    >>> hub_acceptance(["1/2", "1/4", "1/4"], ["1/4", "3/4", 0])
    Fraction(3, 4)
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return _after_fixed(Hub(first), second)


def _after_fixed(law: FixedButOne, target: Distribution) -> Number:
    served = target[law.fixed].sum() + np.minimum(target, law.free()).sum()
    return as_number(served, like=target)
