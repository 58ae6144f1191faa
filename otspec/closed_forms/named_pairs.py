"""Bernoulli and uniform pairs, and what k-Seq attains at least (SpecTr, app. B and thm. 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from otspec._base.arguments import as_real
from otspec._base.arithmetic import Number, power
from otspec._base.extras import needed
from otspec.distributions import as_k, as_pair

if TYPE_CHECKING:
    import sympy


def as_two_probabilities(draft: Any, target: Any) -> tuple[Number, Number]:
    """Check the probabilities of token 1 of a draft and of a target over two tokens."""
    p, q = (
        as_real(value, name, 0, 1, wanted="a probability, between 0 and 1")
        for value, name in ((draft, "draft"), (target, "target"))
    )
    as_pair([1 - p, p], [1 - q, q])
    return p, q


def bernoulli_acceptance(draft: Any, target: Any, k: int) -> Number:
    """Return the optimum for k i.i.d. Bernoulli drafts and a Bernoulli target.

    min(q, 1 − (1−p)^k) + min(1 − q, 1 − p^k) with p = ``draft``, q = ``target``: the probabilities
    of token 1.

    Raises
    ------
    ValueError
        A probability outside [0, 1], a mixture of exact and float, or an unusable k.

    Examples
    --------
    >>> bernoulli_acceptance("1/4", "3/4", k=2)
    Fraction(11, 16)
    """
    p, q = as_two_probabilities(draft, target)
    k = as_k(k)
    served: Number = min(q, 1 - power(1 - p, k)) + min(1 - q, 1 - power(p, k))
    return served


def bernoulli_expression() -> sympy.Expr:
    """Return the formula of :func:`bernoulli_acceptance` in ``draft``, ``target`` and ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
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
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    ratio = sympy.Symbol("ratio", positive=True)
    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / ratio) ** k


def uniform_rho(ratio: Any, k: int) -> Number:
    """Return k-Seq's ρ* for the pair of :func:`uniform_acceptance`: r (1 − (1 − 1/r)^k)."""
    return _ratio(ratio) * uniform_acceptance(ratio, k)


def uniform_rho_expression() -> sympy.Expr:
    """Return the formula of :func:`uniform_rho` in ``ratio`` and ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    return sympy.Symbol("ratio", positive=True) * uniform_expression()


def k_sequential_guarantee(k: int) -> Number:
    """Return 1 − (1 − 1/k)^k: the least share of the optimum of k-Seq at ρ* (SpecTr, thm. 1)."""
    return uniform_acceptance(Fraction(as_k(k)), k)


def k_sequential_guarantee_expression() -> sympy.Expr:
    """Return the formula of :func:`k_sequential_guarantee` in ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / k) ** k


def _ratio(value: Any) -> Number:
    return as_real(value, "ratio", 1, wanted="a finite number of at least 1")
