"""How much can be accepted at most, by a set or by entropy (SpecTr, lemma 3; Theory, 1, 45, 46)."""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, groupby
from math import comb, factorial, prod

import numpy as np

from otspec._base import Array, Formula, Number, as_flag, as_integer, counted, needed
from otspec._base.arithmetic import as_number, over_one_denominator, quotient, refuse_long_power
from otspec.distributions import DistributionLike, as_distribution, as_k, as_pair, token_set


def entropy_bound(target: DistributionLike, nodes: int) -> float:
    """Return what no certain tree of so many nodes keeps more than, of independent target tokens.

    log(nodes)/μ + μ₂/μ² with μ = Σ q log 1/q, the entropy, and μ₂ = Σ q log² 1/q.

    Parameters
    ----------
    target : array_like, shape (n,)
        Every token of the text is drawn from it, independently.
    nodes : int
        The drafted tokens, in any tree.

    Returns
    -------
    float
        In tokens; infinite if the target is certain.

    Raises
    ------
    ValueError
        Unusable probabilities, or no positive number of nodes.

    Examples
    --------
    >>> round(entropy_bound(["1/2", "1/2"], 64), 9)  # all texts of 5 tokens keep 5
    7.0
    """
    masses = np.asarray(as_distribution(target, "target"), dtype=float)
    count = as_k(nodes, "nodes")
    surprise = -np.log(masses[masses > 0])
    mean = float((masses[masses > 0] * surprise).sum())
    second = float((masses[masses > 0] * surprise**2).sum())
    if mean == 0:
        return math.inf
    return math.log(count) / mean + second / mean**2


def missing_divergence(target: DistributionLike, m: int = 1, *, of_target: bool = False) -> float:
    """Return the least divergence at which the m likeliest drafts can miss the likeliest token.

    A draft distribution that is nearer to the target has the target's likeliest token among its m
    likeliest, so that a greedy target keeps one of m certain drafts.

    Parameters
    ----------
    target : array_like, shape (n,)
    m : int
        How many tokens are drafted, the likeliest ones.
    of_target : bool
        D(target‖draft) in place of D(draft‖target).

    Returns
    -------
    float
        In nats. 0 if m other tokens are as likely; infinite if there are not m others.

    Raises
    ------
    ValueError
        Unusable probabilities, or no positive number of tokens.

    Examples
    --------
    >>> round(missing_divergence([0.64, 0.36]), 9) == round(-math.log(1 - 0.2**2), 9)
    True
    """
    masses = np.sort(np.asarray(as_distribution(target, "target"), dtype=float))[::-1]
    drafted, arithmetic = as_k(m, "m"), as_flag(of_target, "of_target")
    if drafted >= len(masses):
        return math.inf
    others = masses[1 : drafted + 1][::-1]  # ascending
    pool = masses[:1]
    for other in others:
        # The likeliest token and the least of the others are made alike, until the next is as
        # likely as that.
        if other >= _level(pool, arithmetic):
            break
        pool = np.append(pool, other)
    level = _level(pool, arithmetic)
    if arithmetic:
        held = pool[pool > 0]
        return float((held * np.log(held / level)).sum())
    total = 1 - float(pool.sum()) + len(pool) * level
    return max(0.0, -math.log(total)) if total > 0 else math.inf


def _level(pool: Array, arithmetic: bool) -> float:
    """Return the arithmetic or the geometric mean."""
    if arithmetic:
        return float(pool.mean())
    return 0.0 if pool.min() == 0 else float(np.exp(np.log(pool).mean()))


MOST_DRAFTS = 2_000_000  # most drafts in all multisets that are gone through
MOST_SYMBOLIC = 2_000  # most drafts in all multisets that are written out


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


def set_bound_expression(n: int, k: int, tokens: Iterable[int]) -> Formula:
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
