"""Formulas (SpecTr, app. B): acceptance where theory gives it, as numbers and as expressions.

Every function takes floats or exact numbers and answers in kind; every ``…_expression`` returns
the same formula in the symbols named in its docstring. Source: SpecTr, app. B, unless said
otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from otspec.arguments import as_integer, as_real
from otspec.arithmetic import Number, as_number, power
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import Hub, TopPlusOne
from otspec.drafts.single import FixedButOne

if TYPE_CHECKING:
    import sympy


def single_draft_acceptance(
    draft: DistributionLike, target: DistributionLike, *, normalize: bool = False
) -> Number:
    """Return the optimum for one draft, Σ min(p, q) = 1 − total variation.

    Source: SpecTr, sec. 4. Errors: :func:`otspec.distributions.as_pair`.

    Examples
    --------
    >>> single_draft_acceptance(["1/2", "1/2"], ["1/4", "3/4"])
    Fraction(3, 4)
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return as_number(np.minimum(first, second).sum(), like=first)


def single_draft_expression(n: int) -> sympy.Expr:
    """Return Σ min(draft_i, target_i) in ``draft_0, …`` and ``target_0, …``."""
    import sympy

    n = as_integer(n, "n", 1, 10_000, wanted="a number of tokens")
    drafts = sympy.symbols(f"draft_:{n}", nonnegative=True)
    targets = sympy.symbols(f"target_:{n}", nonnegative=True)
    return sympy.Add(*(sympy.Min(*pair) for pair in zip(drafts, targets, strict=True)))


def bernoulli_acceptance(draft: Any, target: Any, k: int) -> Number:
    """Return the optimum for k i.i.d. Bernoulli drafts and a Bernoulli target.

    min(q, 1 − (1−p)^k) + min(1 − q, 1 − p^k) with p = ``draft``, q = ``target``: the
    probabilities of token 1.

    Raises
    ------
    ValueError
        A probability outside [0, 1], a mixture of exact and float, or an unusable k.

    Examples
    --------
    >>> bernoulli_acceptance("1/4", "3/4", k=2)
    Fraction(11, 16)
    """
    p, q = _probability(draft, "draft"), _probability(target, "target")
    as_pair([1 - p, p], [1 - q, q])
    k = as_k(k)
    served: Number = min(q, 1 - power(1 - p, k)) + min(1 - q, 1 - power(p, k))
    return served


def bernoulli_expression() -> sympy.Expr:
    """Return the formula of :func:`bernoulli_acceptance` in ``draft``, ``target`` and ``k``."""
    import sympy

    p, q = sympy.symbols("draft target", nonnegative=True)
    k = sympy.Symbol("k", integer=True, positive=True)
    return sympy.Min(q, 1 - (1 - p) ** k) + sympy.Min(1 - q, 1 - p**k)


def uniform_acceptance(ratio: Any, k: int) -> Number:
    """Return the optimum for a uniform draft over d tokens and a uniform target over d/r of them.

    1 − (1 − 1/r)^k with r = ``ratio``; k-Seq attains it.

    Raises
    ------
    ValueError
        A ratio below 1, or an unusable k.

    Examples
    --------
    >>> uniform_acceptance(4, k=2)
    Fraction(7, 16)
    """
    accepted: Number = 1 - power(1 - 1 / _ratio(ratio), as_k(k))
    return accepted


def uniform_expression() -> sympy.Expr:
    """Return the formula of :func:`uniform_acceptance` in ``ratio`` and ``k``."""
    import sympy

    ratio = sympy.Symbol("ratio", positive=True)
    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / ratio) ** k


def uniform_rho(ratio: Any, k: int) -> Number:
    """Return k-Seq's ρ* for the pair of :func:`uniform_acceptance`: r (1 − (1 − 1/r)^k).

    Examples
    --------
    >>> uniform_rho(2, k=2)
    Fraction(3, 2)
    """
    return _ratio(ratio) * uniform_acceptance(ratio, k)


def uniform_rho_expression() -> sympy.Expr:
    """Return the formula of :func:`uniform_rho` in ``ratio`` and ``k``."""
    import sympy

    return sympy.Symbol("ratio", positive=True) * uniform_expression()


def limit_acceptance(
    draft: DistributionLike, target: DistributionLike, *, normalize: bool = False
) -> Number:
    """Return what the optimum tends to as k grows: the target mass on the draft's support.

    Errors: :func:`otspec.distributions.as_pair`.

    Examples
    --------
    >>> limit_acceptance([1, 0], ["1/4", "3/4"])
    Fraction(1, 4)
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return as_number(second[first > 0].sum(), like=first)


def k_sequential_guarantee(k: int) -> Number:
    """Return 1 − (1 − 1/k)^k ≥ 1 − 1/e: the least share of the optimum that k-Seq attains at ρ*.

    Exact, since k is an integer. Source: SpecTr, thm. 1.

    Examples
    --------
    >>> k_sequential_guarantee(2)
    Fraction(3, 4)
    """
    return uniform_acceptance(Fraction(as_k(k)), k)


def k_sequential_guarantee_expression() -> sympy.Expr:
    """Return the formula of :func:`k_sequential_guarantee` in ``k``."""
    import sympy

    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / k) ** k


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


def _probability(value: Any, name: str) -> Number:
    return as_real(value, name, 0, 1, wanted="a probability, between 0 and 1")


def _ratio(value: Any) -> Number:
    return as_real(value, "ratio", 1, wanted="a finite number of at least 1")
