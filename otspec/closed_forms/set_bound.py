"""How much can be accepted at most, by one set of tokens (SpecTr, lemma 3; Theory, 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, groupby
from math import comb, factorial, prod
from typing import TYPE_CHECKING

from otspec._base.arguments import as_integer
from otspec._base.arithmetic import (
    Number,
    as_number,
    over_one_denominator,
    quotient,
    refuse_long_power,
)
from otspec._base.digits import counted
from otspec._base.extras import needed
from otspec.distributions import DistributionLike, as_k, as_pair, token_set

if TYPE_CHECKING:
    import sympy

MOST_DRAFTS = 2_000_000
"""Most drafts in all multisets that are gone through."""
MOST_SYMBOLIC = 2_000
"""Most drafts in all multisets that are written out."""


def set_bound(
    draft: DistributionLike,
    target: DistributionLike,
    k: int,
    tokens: Iterable[int],
    *,
    normalize: bool = False,
) -> Number:
    """Return the bound of a token set Ω₀ on what any rule for k i.i.d. drafts accepts.

    Σ_{y ∈ Ω₀} min(q(y), 1 − (1 − p(y))^k) + Σ_x min(p(x), q(S(x) ∖ Ω₀)), summed over all tuples x
    of k drafts, of which S(x) are the tokens. No rule accepts more, whatever Ω₀ is: it is an upper
    bound. A least cut of :func:`otspec.optimal_acceptance` attains the optimum with it, so that the
    least over all Ω₀ is the optimum; the paper has it up to a factor 1 − (1 − 1/k)^k.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    k : int
    tokens : iterable of int
        Ω₀, which may be empty.
    normalize : bool
        Scale both distributions to sum 1.

    Raises
    ------
    ValueError
        Those of :func:`otspec.distributions.as_pair`, an unusable k, no token ids, or more than
        2,000,000 drafts in all multisets of k tokens.

    Examples
    --------
    >>> pair = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> set_bound(*pair, 2, [0]), set_bound(*pair, 2, []), set_bound(*pair, 2, [0, 1, 2])
    (Fraction(17, 20), Fraction(17, 20), Fraction(91, 100))
    """
    first, second = as_pair(draft, target, normalize=normalize)
    k, n = as_k(k), len(first)
    chosen = token_set(tokens, n).tolist()
    _refuse_many(n, k, MOST_DRAFTS)
    refuse_long_power(first, k)
    masses, wanted, unit = over_one_denominator(first, second)
    p, q = masses.tolist(), wanted.tolist()
    whole = unit**k
    scale = whole // unit if isinstance(unit, int) else 1.0
    total = sum(min(q[y] * scale, whole - (unit - p[y]) ** k) for y in chosen)
    for y in chosen:
        q[y] *= 0
    for times, orders in _multisets(n, k):
        mass = prod(p[y] ** count for y, count in times)
        total += orders * min(mass, scale * sum(q[y] for y, _ in times))
    return as_number(quotient(total, whole), like=first)


def set_bound_expression(n: int, k: int, tokens: Iterable[int]) -> sympy.Expr:
    """Return the formula of :func:`set_bound` in ``draft_0, …`` and ``target_0, …``.

    At most 2,000 drafts in all multisets of k tokens, else ``ValueError``.
    """
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    n, k = as_integer(n, "n", 1, wanted="a number of tokens"), as_k(k)
    _refuse_many(n, k, MOST_SYMBOLIC)
    chosen = set(token_set(tokens, n).tolist())
    p = sympy.symbols(f"draft_:{n}", nonnegative=True)
    q = sympy.symbols(f"target_:{n}", nonnegative=True)
    terms = [sympy.Min(q[y], 1 - (1 - p[y]) ** k) for y in chosen]
    for times, orders in _multisets(n, k):
        rest = sympy.Add(*(q[y] for y, _ in times if y not in chosen))
        mass = sympy.Mul(*(p[y] ** count for y, count in times))
        terms.append(orders * sympy.Min(mass, rest))
    return sympy.Add(*terms)


def _refuse_many(n: int, k: int, most: int) -> None:
    # There are at least n and at least k: larger numbers need not be looked at.
    if n > most or k > most or k * comb(n + k - 1, k) > most:
        raise ValueError(
            f"k is {counted(k)} and there are {counted(n)} tokens: the multisets of k of them hold "
            f"more than {most:,} drafts; use fewer drafts or a smaller vocabulary"
        )


def _multisets(n: int, k: int) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """Yield each multiset of k of n tokens, as tokens with their counts, and its orders."""
    for x in combinations_with_replacement(range(n), k):
        times = [(token, len(list(same))) for token, same in groupby(x)]
        yield times, factorial(k) // prod(factorial(count) for _, count in times)
