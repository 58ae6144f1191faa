"""Pairs with closed forms (SpecTr, app. B), bits (Block, sec. 3.1; Theory, 7 and 8), and k-Seq."""

from fractions import Fraction
from typing import Any

import numpy as np

from otspec._base import Array, Formula, Number, as_integer, as_real, needed
from otspec._base.arithmetic import as_number, as_numbers, over_one_denominator, power, quotient
from otspec.distributions import as_k, as_pair


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
    return min(q, 1 - power(1 - p, k)) + min(1 - q, 1 - power(p, k))


def bernoulli_expression() -> Formula:
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
    return 1 - power(1 - 1 / _ratio(ratio), as_k(k))


def uniform_expression() -> Formula:
    """Return the formula of :func:`uniform_acceptance` in ``ratio`` and ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    ratio = sympy.Symbol("ratio", positive=True)
    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / ratio) ** k


def uniform_rho(ratio: Any, k: int) -> Number:
    """Return k-Seq's ρ* for the pair of :func:`uniform_acceptance`: r (1 − (1 − 1/r)^k)."""
    return _ratio(ratio) * uniform_acceptance(ratio, k)


def uniform_rho_expression() -> Formula:
    """Return the formula of :func:`uniform_rho` in ``ratio`` and ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    return sympy.Symbol("ratio", positive=True) * uniform_expression()


def k_sequential_guarantee(k: int) -> Number:
    """Return 1 − (1 − 1/k)^k: the least share of the optimum of k-Seq at ρ* (SpecTr, thm. 1)."""
    return uniform_acceptance(Fraction(as_k(k)), k)


def k_sequential_guarantee_expression() -> Formula:
    """Return the formula of :func:`k_sequential_guarantee` in ``k``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    k = sympy.Symbol("k", integer=True, positive=True)
    return 1 - (1 - 1 / k) ** k


def _ratio(value: Any) -> Number:
    return as_real(value, "ratio", 1, wanted="a finite number of at least 1")


MOST_TOKENS = 2_000  # longest block
MOST_WORK = 2**44
"""Most work in exact arithmetic, L³ b² with b bits of the denominators: some seconds."""
MOST_SYMBOLIC = 20  # longest block of which the formula is written out


def token_verification_tokens(draft: Any, target: Any, length: int) -> Number:
    """Return how many of ``length`` drafted bits token verification keeps in expectation.

    Σ_{i=1}^{L} (1 − d_TV(Ber(p), Ber(q)))^i, for models without memory that draw 1 with probability
    p = ``draft`` and q = ``target``. The token that follows is not counted: the paper's sum, from
    i = 0, counts it.

    Parameters
    ----------
    draft, target : float or exact number
    length : int
        L.

    Raises
    ------
    ValueError
        A probability outside [0, 1], a mixture of exact and float, no length from 1 to 2,000, or
        exact numbers with too many digits for it.

    Examples
    --------
    >>> token_verification_tokens("1/4", "3/4", 2)
    Fraction(3, 4)
    """
    p, q, length = _checked(draft, target, length)
    kept = min(p, q) + min(1 - p, 1 - q)
    total = power = kept
    for _ in range(1, length):
        power = power * kept
        total = total + power
    return total


def token_verification_tokens_expression(length: int) -> Formula:
    """Return :func:`token_verification_tokens` in ``draft`` and ``target``, for L ≤ 20."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    p, q = sympy.symbols("draft target", nonnegative=True)
    kept = sympy.Min(p, q) + sympy.Min(1 - p, 1 - q)
    return sympy.Add(*(kept**i for i in range(1, _as_length(length, MOST_SYMBOLIC) + 1)))


def block_verification_tokens(draft: Any, target: Any, length: int) -> Number:
    """Return how many of ``length`` drafted bits block verification keeps in expectation.

    Σ_{i=1}^{L} (1 − d_TV(Bin(i, p), Bin(i, q))): texts of i bits of which j are 1 are alike under
    either model. No coupling of the two blocks has a longer common beginning. It is more than token
    verification keeps if and only if p ≠ q, L ≥ 2, and neither is 0 or 1. This is
    :class:`otspec.blocks.BlockVerificationPreprint`; the published rule corrects one token only,
    and keeps no more. Parameters and errors: :func:`token_verification_tokens`.
    """
    p, q, length = _checked(draft, target, length)
    chances = as_numbers([p, q], "probabilities")
    masses, unit = over_one_denominator(chances)
    (one, other), total, whole = masses.tolist(), 0 * unit, unit // unit
    first = second = np.full(1, whole, dtype=masses.dtype)
    for _ in range(length):
        first, second = _one_more(first, one, unit), _one_more(second, other, unit)
        total, whole = total * unit + np.minimum(first, second).sum(), whole * unit
    return as_number(quotient(total, whole), like=chances)


def block_verification_tokens_expression(length: int) -> Formula:
    """Return :func:`block_verification_tokens` in ``draft`` and ``target``, for L ≤ 20."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    p, q = sympy.symbols("draft target", nonnegative=True)
    return sympy.Add(
        *(
            sympy.binomial(i, j) * sympy.Min(p**j * (1 - p) ** (i - j), q**j * (1 - q) ** (i - j))
            for i in range(1, _as_length(length, MOST_SYMBOLIC) + 1)
            for j in range(i + 1)
        )
    )


def _one_more(counts: Array, chance: Any, unit: Any) -> Array:
    """Return the law of how many bits are 1 after one more, times unit."""
    more = np.zeros(len(counts) + 1, dtype=counts.dtype)
    more[:-1] = counts * (unit - chance)
    more[1:] += counts * chance
    return more


def _checked(draft: Any, target: Any, length: Any) -> tuple[Number, Number, int]:
    """Check both probabilities and the length, and that exact ones do not take too long."""
    p, q = as_two_probabilities(draft, target)
    length = _as_length(length, MOST_TOKENS)
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        bits = max(p.denominator.bit_length() + q.denominator.bit_length(), 32)
        if length**3 * bits**2 > MOST_WORK:
            raise ValueError(
                f"length is {length}: with exact probabilities of {bits} bits that takes too long; "
                "use a shorter block, or floats"
            )
    return p, q, length


def _as_length(length: Any, most: int) -> int:
    return as_integer(length, "length", 1, most, wanted="a number of drafted tokens")
