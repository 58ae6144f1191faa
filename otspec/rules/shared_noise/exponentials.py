"""Exact integrals of races: sums Σ c u^a with rational exponents, where u = e^{−t} (Theory, 33)."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

Powers: TypeAlias = dict[Any, Any]
"""Maps each exponent a to its coefficient c; of fractions and integers."""

ONE: Powers = {0: 1}


def plus(*parts: Powers) -> Powers:
    """Return a sum of sums of powers."""
    total: Powers = {}
    for part in parts:
        for exponent, coefficient in part.items():
            total[exponent] = total.get(exponent, 0) + coefficient
    return total


def times(one: Powers, other: Powers) -> Powers:
    """Return a product."""
    product: Powers = {}
    for a, c in one.items():
        for b, d in other.items():
            product[a + b] = product.get(a + b, 0) + c * d
    return product


def one_minus(powers: Powers) -> Powers:
    """Return 1 minus a sum of powers."""
    return plus(ONE, {exponent: -coefficient for exponent, coefficient in powers.items()})


def integral(powers: Powers, rate: int = 1) -> Fraction:
    """Return ∫₀^∞ e^{−rate t} Σ c e^{−at} dt = Σ c/(rate + a)."""
    parts = [Fraction(c) / (rate + a) for a, c in powers.items() if c]
    return sum(parts, Fraction(0))


def first_arrivals(
    drafts: Sequence[int], draft: Mapping[int, Any], starts: Mapping[int, Any], at_once: int | None
) -> Powers:
    """Return the probability that the first arrivals are the drafts, in their order."""
    # Token z arrives at rate draft[z] > 0 from the time t·starts[z] on; at_once at its start.
    k, due = len(drafts), dict(draft)
    # Entry i: the first i drafts have arrived, in their order, and nothing else.
    chances: list[Powers] = [dict(ONE), *({} for _ in range(k))]
    knots = sorted(set(starts.values()))
    for now, end in pairwise([*knots, None]):
        if at_once in due and starts[at_once] == now:
            del due[at_once]
            moved: list[Powers] = [{} for _ in range(k + 1)]
            moved[k] = chances[k]
            for i in range(k):
                if drafts[i] == at_once:
                    moved[i + 1] = plus(moved[i + 1], chances[i])
            chances = moved
        rates = {z: rate for z, rate in due.items() if starts[z] <= now}
        chances = _after(chances, drafts, rates, None if end is None else end - now)
    return chances[k]


def _after(
    chances: list[Powers], drafts: Sequence[int], rates: Mapping[int, Any], length: Any
) -> list[Powers]:
    """Return the chances after tokens of these rates had t·length to arrive; None: for ever."""
    k = len(drafts)
    # The rate of all that can come next, if the first i have come; nothing matters after the last.
    left = [sum(rate for z, rate in rates.items() if z not in drafts[:i]) for i in range(k)] + [0]
    found: list[Powers] = [dict(powers) if i == k else {} for i, powers in enumerate(chances)]
    for i in range(k):
        product: Any = 1
        for j in range(i, k + 1):
            if j > i:
                product = product * rates.get(drafts[j - 1], 0)
            if not product:
                break
            # Π p times the divided difference of e^{−x·length} at the rates left, up to its sign.
            step: Powers = {}
            for m in range(i, j + 1):
                if length is None and left[m]:
                    continue
                over: Any = 1
                for other in range(i, j + 1):
                    if other != m:
                        over = over * (left[other] - left[m])
                exponent = left[m] * length if left[m] else 0
                step[exponent] = step.get(exponent, 0) + Fraction(product) / over
            found[j] = plus(found[j], times(chances[i], step))
    return found
