"""The optimum of i.i.d. drafts, and when it is 1 (Canonical, thms. 2 and 3; Theory, 1 and 2).

The last functions have all drafts but one certain (SpecHub, thms. 2–4; Theory, 14).
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from otspec import ratios
from otspec._base import Array, Condition, Formula, Number, arithmetic, as_integer, needed
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.drafts import Hub, TopPlusOne
from otspec.drafts.single import FixedButOne

MOST_SYMBOLIC = 10  # most tokens of which all sets are written out


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
    return arithmetic.as_number(np.minimum(first, second).sum(), like=first)


def single_draft_expression(n: int) -> Formula:
    """Return Σ min(draft_i, target_i) in ``draft_0, …`` and ``target_0, …``."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    n = as_integer(n, "n", 1, 10_000, wanted="a number of tokens")
    drafts = sympy.symbols(f"draft_:{n}", nonnegative=True)
    targets = sympy.symbols(f"target_:{n}", nonnegative=True)
    return sympy.Add(*(sympy.Min(*pair) for pair in zip(drafts, targets, strict=True)))


def limit_acceptance(
    draft: DistributionLike, target: DistributionLike, *, normalize: bool = False
) -> Number:
    """Return what the optimum tends to as k grows: the target mass on the draft's support."""
    first, second = as_pair(draft, target, normalize=normalize)
    return arithmetic.as_number(second[first > 0].sum(), like=first)


def iid_acceptance(
    draft: DistributionLike, target: DistributionLike, k: int, *, normalize: bool = False
) -> Number:
    """Return the optimum for k i.i.d. drafts, the least q(A) + 1 − p(A)^k over all token sets A.

    The least is at a prefix of the tokens by ascending q/p: one sort (Theory, 1). For k = 2 that is
    Canonical, thm. 3, where 1 − p(A)² is written p(Aᶜ)² + 2 p(A) p(Aᶜ); its remark 2 has it for
    every k as a conjecture. :func:`otspec.optimal_acceptance` returns the set, too. Errors:
    :func:`otspec.distributions.as_pair`, and an unusable k.

    Examples
    --------
    >>> iid_acceptance(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2)
    Fraction(17, 20)
    """
    first, second = as_pair(draft, target, normalize=normalize)
    k = as_k(k)
    order = ratios.order(first, second)
    cuts = arithmetic.prefix_sums(second[order]) + _some_outside(
        arithmetic.suffix_sums(first[order]), k
    )
    return arithmetic.as_number(cuts.min(), like=first)


def _some_outside(outside: Array, k: int) -> Array:
    """Return 1 − (1 − s)^k for each draft mass s outside a set, with the digits of a small s."""
    if arithmetic.is_exact(outside):
        return 1 - arithmetic.power(1 - outside, k)
    with np.errstate(divide="ignore"):  # everything outside: log 0
        logarithms = np.log1p(-np.minimum(outside, 1))
    return -np.expm1(float(k) * logarithms)


def iid_expression(n: int) -> Formula:
    """Return the least of 1 and of q(A) + 1 − p(A)^k for all sets A of at most 10 tokens.

    In the symbols ``draft_0, …``, ``target_0, …`` and ``k``.
    """
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    terms = (cost + 1 - inside for cost, inside in _costs_and_powers(n))
    return sympy.Min(1, *terms, evaluate=False)


def always_accepted(
    draft: DistributionLike, target: DistributionLike, k: int, *, normalize: bool = False
) -> bool:
    """Return whether a lossless rule can always accept one of k i.i.d. drafts.

    It can if and only if q(A) ≥ p(A)^k for all token sets A. Floats: what rounding explains,
    2 (n + 4) ε, is not missed. Source: Canonical, thm. 2, for k = 2. Errors: those of
    :func:`iid_acceptance`.

    Examples
    --------
    >>> [always_accepted(["1/2", "1/2"], ["1/4", "3/4"], k) for k in (1, 2)]
    [False, True]
    """
    first, second = as_pair(draft, target, normalize=normalize)
    best = iid_acceptance(first, second, k)
    if arithmetic.is_exact(first):
        return best == 1
    # Sums of up to n numbers, each rounded before; x exp(−x) < 1, so that k multiplies no error.
    return bool(1 - best <= 2 * (len(first) + 4) * np.finfo(float).eps)


def always_accepted_expression(n: int) -> Condition:
    """Return the condition of :func:`always_accepted` in the symbols of :func:`iid_expression`."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    terms = (sympy.Ge(cost, inside) for cost, inside in _costs_and_powers(n))
    return sympy.And(*terms, evaluate=False)


def _costs_and_powers(n: int) -> Iterator[tuple[Formula, Formula]]:
    """Yield q(A) and p(A)^k for all sets of 1 to n − 1 tokens."""
    sympy = needed("sympy", "a formula in symbols", "symbolic")
    n = as_integer(n, "n", 1, MOST_SYMBOLIC, wanted="a number of tokens")
    drafts = sympy.symbols(f"draft_:{n}", nonnegative=True)
    targets = sympy.symbols(f"target_:{n}", nonnegative=True)
    k = sympy.Symbol("k", integer=True, positive=True)
    for size in range(1, n):
        for tokens in combinations(range(n), size):
            inside = sympy.Add(*(drafts[y] for y in tokens))
            yield sympy.Add(*(targets[y] for y in tokens)), inside**k


def top_plus_one_acceptance(
    draft: DistributionLike, target: DistributionLike, k: int, *, normalize: bool = False
) -> Number:
    """Return the optimum for the k − 1 likeliest tokens and one more draft.

    q(Top) + Σ_{x ∉ Top} min(q(x), p̃(x)), p̃ the draft renormalized off the top. Errors:
    :func:`otspec.distributions.as_pair`, :class:`otspec.drafts.TopPlusOne`.
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return _after_fixed(TopPlusOne(first, k), second)


def hub_acceptance(
    draft: DistributionLike, target: DistributionLike, *, normalize: bool = False
) -> Number:
    """Return the optimum for SpecHub's drafts, q(a) + Σ_{x ≠ a} min(q(x), p(x) / (1 − p(a))).

    Source: SpecHub, thms. 2–4. Errors: :func:`otspec.distributions.as_pair`.
    """
    first, second = as_pair(draft, target, normalize=normalize)
    return _after_fixed(Hub(first), second)


def _after_fixed(law: FixedButOne, target: Distribution) -> Number:
    served = target[law.fixed].sum() + np.minimum(target, law.free()).sum()
    return arithmetic.as_number(served, like=target)
