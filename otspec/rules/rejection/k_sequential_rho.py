"""Which ρ k-Seq is lossless for (Theory, 31), and the root ρ* from which on it always is."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from otspec._base import plain, shown
from otspec._base.arithmetic import Array, Number, as_number, as_scalar, is_exact, refuse_long_power
from otspec.distributions import Distribution
from otspec.ratios import Pair, target_to_draft
from otspec.rules.base.counts import HALVINGS, covers, crossing, geometric
from otspec.rules.base.pair_rule import refuse_many_drafts

MOST_EXACT = 2_000  # most drafts for which ρ* is found exactly
_EXCESS = Fraction(1, 2**64)  # how far above an irrational root an exact ρ may lie


def root_rho(pair: Pair, k: int) -> Number:
    """Return ρ*, in [1, k], from which on k-Seq is lossless; 1 for disjoint draft and target."""
    # Floats: the smallest at or above the root. Exact: the root if rational, else ≤ 2⁻⁶⁴ above.
    # p_acc/β is 1 + (1−β) + … + (1−β)^{k−1}, so that ρ* is where ρ reaches that sum. As ρ grows
    # ρβ grows and p_acc falls, hence the crossing is unique. β(ρ) = Σ min(p, q/ρ) is P + Q/ρ
    # between neighboring ratios q/p, P the draft mass of the ratios above and Q the target mass of
    # those below: halving the order finds the stretch, and the root is found in it.
    if pair.exact:
        refuse_many_drafts(k, MOST_EXACT, "an exact rho*")
        refuse_long_power(pair.draft, k)
    knots, below, above = pair.by_ratio.ratios, pair.below[1], pair.above[0]

    def suffices(rho: Number, place: int) -> bool:
        return bool(_reaches(rho, above[place] + below[place] / rho, k))

    first = stretch = int(np.searchsorted(knots, 1, side="right"))
    last = beyond = int(np.searchsorted(knots, k if pair.exact else float(k)))
    while stretch < beyond:
        middle = (stretch + beyond) // 2
        stretch, beyond = (
            (stretch, middle) if suffices(knots[middle], middle) else (middle + 1, beyond)
        )
    low = knots[stretch - 1] if stretch > first else as_number(1, like=pair.draft)
    high = knots[stretch] if stretch < last else as_number(k, like=pair.draft)
    if suffices(low, stretch):
        return as_number(low, like=pair.draft)
    low, high = as_number(low, like=pair.draft), as_number(high, like=pair.draft)
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        guess = crossing(above[stretch], below[stretch], low, high, k)
        return _exact_root(lambda rho: suffices(rho, stretch), low, high, guess)
    return _float_root(lambda rho: suffices(rho, stretch), low, high)


def least_ratio(draft: Distribution, target: Distribution) -> Number:
    """Return the least q/p of the tokens that both have, infinite if there is none."""
    both = (draft > 0) & (target > 0)
    if not both.any():
        return math.inf
    return as_number(target_to_draft(draft[both], target[both]).min(), like=draft)


def lossless_from(pair: Pair, k: int) -> Number:
    """Return 0 if k-Seq is lossless with every ρ > 0, and else ρ*, the least ρ that is lossless."""
    # Parameters are those of `root_rho`.
    draft, target = pair.draft, pair.target
    served = as_number(draft[target > 0].sum(), like=draft)
    if _reaches(least_ratio(draft, target) + _rounding(draft, k), served, k):
        return as_number(0, like=draft)
    return root_rho(pair, k)


def as_rho(given: Number, pair: Pair, k: int) -> Number:
    """Check a ρ."""
    draft, target = pair.draft, pair.target
    rho = as_scalar(given, "rho")
    if isinstance(rho, Fraction) != is_exact(draft):
        raise ValueError(
            f"rho is {shown(given)}, in another arithmetic than the distributions: "
            "write all exactly, or all as floats"
        )
    if not 0 < rho < math.inf:
        raise ValueError(
            f"rho is {plain(rho)}: it must be a positive finite number, such as rho* = "
            f"{float(root_rho(pair, k))!r}"
        )
    kept = accepted_each(draft, target, rho)
    beta = as_number(kept.sum(), like=draft)
    bound = max(rho, least_ratio(draft, target))
    if not _reaches(bound + _rounding(draft, k), beta, k):
        served = kept * geometric(1 - beta, k)
        token = int(np.argmax(served - target))
        raise ValueError(
            f"rho is {plain(rho)}, with which the rule is lossy: it puts token {token} out with "
            f"probability {plain(served[token])} at least, the target with "
            f"{plain(target[token])}; raise rho to at least rho* = "
            f"{float(root_rho(pair, k))!r}, or leave it out"
        )
    return rho


def accepted_each(draft: Distribution, target: Distribution, rho: Number) -> Array:
    """Return min(p, q/ρ), with what probability a draft is accepted as each token, shape (n,)."""
    with np.errstate(over="ignore"):
        kept: Array = np.minimum(draft, target / rho)
    return kept


def _rounding(draft: Distribution, k: int) -> Number:
    """Return by how much the rounding of β moves p_acc/β: at most k²/2 times that of its sum."""
    if is_exact(draft):
        return Fraction(0)
    return float(k**2 * np.finfo(float).eps * (2 + math.log2(len(draft))))


def _reaches(bound: Array | Number, beta: Array | Number, k: int) -> Array:
    """Return whether a bound is at least g = p_acc/β, or nothing is ever accepted."""
    if is_exact(np.asarray(beta)):
        exact = np.frompyfunc(
            lambda r, b: r == math.inf or covers(Fraction(r), Fraction(b), k), 2, 1
        )
        return np.asarray(exact(bound, beta), dtype=bool)
    return (beta == 0) | (bound >= geometric(1 - beta, k))


def _float_root(suffices: Callable[[Number], bool], low: Number, high: Number) -> Number:
    """Return the smallest float in (low, high] that suffices, by bisection of one stretch."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _exact_root(
    suffices: Callable[[Fraction], bool], low: Fraction, high: Fraction, guess: int
) -> Fraction:
    """Return a simple fraction from the least number in (low, high] that suffices on."""
    # That is found between two neighbors among 2^200 steps from low to high, of which the upper
    # one was guessed in rounded numbers; what suffices is decided exactly.
    step, steps = (high - low) / 2**HALVINGS, (0, 2**HALVINGS)
    for upper in (guess, guess + 1, guess - 1):
        below, above = (low + place * step for place in (upper - 1, upper))
        if low <= below and above <= high and suffices(above) and not suffices(below):
            steps = upper - 1, upper
            break
    first, last = steps
    while last - first > 1:  # where rounded numbers do not tell
        middle = (first + last) // 2
        first, last = (first, middle) if suffices(low + middle * step) else (middle, last)
    low, high = low + first * step, low + last * step
    simplest = _simplest_between(low, high)
    if suffices(simplest):
        return simplest
    return _simplest_between(high, high + _EXCESS)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of smallest denominator in [low, high] (continued fractions)."""
    whole = low.__ceil__()
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / _simplest_between(1 / (high - whole + 1), 1 / (low - whole + 1))
