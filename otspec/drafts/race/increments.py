"""P(all distinct drafts are inside a prefix of the tokens), prefix by prefix (Theory, 2)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from otspec._base import Array, Number, arithmetic, counted
from otspec.distributions import Distribution, complement
from otspec.drafts.base import TABLE_LIMIT, TooManyTuplesError
from otspec.drafts.race import inside as race

_MOST_STEPS = TABLE_LIMIT // 50
"""Most exact steps from a set of drafts to one with one more (a few seconds)."""


def inside_rises(rates: Distribution, k: int) -> Array:
    """Return P(all k distinct drafts are inside the first j + 1 tokens, one of them token j).

    Raises ``TooManyTuplesError``: more than 400,000 exact steps from a set to a larger one.
    """
    # Their sums are the probabilities to be inside a prefix; here all terms are positive, so that
    # each difference keeps its digits. k ≤ 2 is a closed form. Above, floats are a quadrature, and
    # fractions a sum over sets of drafts, of which there are k! times fewer than tuples.
    if k == 1:
        return rates.copy()
    if k == 2:
        return inside_pairs(rates)
    return set_rises(rates, k) if arithmetic.is_exact(rates) else race.rises(rates, [k])[0]


def inside_of_prefixes(rates: Distribution, ks: Sequence[int]) -> Array:
    """Return P(all k drafts inside the first j tokens) for several k: (len(ks), n + 1)."""
    # In floats all k > 2 cost one quadrature for the largest of them.
    inside = arithmetic.zeros((len(ks), len(rates) + 1), like=rates)
    many = sorted({k for k in ks if k > 2})
    if arithmetic.is_exact(rates):
        sums = {k: arithmetic.prefix_sums(set_rises(rates, k)) for k in many}
    else:
        sums = {
            k: _sums(rates, each) for k, each in zip(many, race.rises(rates, many), strict=True)
        }
    for i, k in enumerate(ks):
        inside[i] = sums[k] if k > 2 else _closed_form(rates, k)
    return inside


def inside_pairs(draft: Distribution) -> Array:
    """Return :func:`inside_rises` of two drafts."""
    # It is p(y) Σ_{x before y} p(x) (1/(1−p(x)) + 1/(1−p(y))).
    light, heavy, others = light_odds(draft)
    pairs: Array = draft * arithmetic.prefix_sums(light)[:-1]
    pairs[heavy + 1 :] += draft[heavy + 1 :] / others * draft[heavy]
    return pairs + draft * (arithmetic.prefix_sums(draft)[:-1] / complement(draft))


def light_odds(draft: Distribution) -> tuple[Array, int, Number]:
    """Return p/(1−p) for all but the heaviest token (0 there), that token, and its 1 − p."""
    rest = complement(draft)
    heavy = int(np.argmax(draft))
    others = rest[heavy]
    rest[heavy] = rest[heavy] * 0 + 1
    odds: Array = draft / rest
    odds[heavy] -= odds[heavy]
    return odds, heavy, others


def set_rises(rates: Array, k: int) -> Array:
    """Return :func:`inside_rises` of fractions: set by set of drafts, whatever their order."""
    # Each set with i drafts is reached from those with one less, by the draft that came last. What
    # the rates lack to 1 is the rate of tokens that come later.
    support = np.flatnonzero(rates).tolist()
    check_steps(len(support), k)
    weights, unit = arithmetic.as_whole(rates[support].tolist())
    # By the bits of its tokens, a set's probability and the mass that it leaves, times the unit.
    sets: dict[int, tuple[Fraction, int]] = {0: (Fraction(1), unit)}
    for _ in range(k):
        # By set, what it leaves, and for each last draft the share of those before and its rate.
        larger: dict[int, tuple[int, list[Fraction], list[int]]] = {}
        for drafted, (mass, left) in sets.items():
            share = mass / left if left else mass
            for token, weight in zip(support, weights, strict=True):
                if not drafted >> token & 1:
                    both = drafted | 1 << token
                    _, shares, last = larger.setdefault(both, (left - weight, [], []))
                    shares.append(share)
                    last.append(weight)
        sets = {both: (_dot(shares, last), left) for both, (left, shares, last) in larger.items()}
    found = arithmetic.zeros(len(rates), like=rates)
    for drafted, (mass, _) in sets.items():
        found[drafted.bit_length() - 1] += mass
    return found


def _dot(fractions: list[Fraction], numbers: list[int]) -> Fraction:
    """Return the sum of the products, brought over one denominator first."""
    whole, unit = arithmetic.as_whole(fractions)
    return Fraction(sum(map(mul, whole, numbers)), unit)


def check_steps(n: int, k: int) -> None:
    """Refuse more than 400,000 steps from a set of up to k of n tokens to one with one more."""
    steps = sum(math.comb(n, i) * (n - i) for i in range(min(k, n))) if n < _MOST_STEPS else n**2
    if steps > _MOST_STEPS:
        raise TooManyTuplesError(
            f"{k} distinct drafts of {n} tokens take {counted(steps)} exact steps from a set of "
            f"drafts to the next, more than {_MOST_STEPS:,}: use floats, a smaller vocabulary or a "
            "smaller k"
        )


def _closed_form(draft: Distribution, k: int) -> Array:
    """Answer :func:`inside_of_prefixes` for one k ≤ 2."""
    if k == 1:
        return arithmetic.prefix_sums(draft)
    # 1 − P = c (1 + Σ p/(1−p)) with c outside; the heaviest token's odds might overflow, but
    # once it is inside, c is at most its complement.
    outside = arithmetic.suffix_sums(draft)
    light, heavy, others = light_odds(draft)
    escape: Array = outside * (1 + arithmetic.prefix_sums(light))
    escape[heavy + 1 :] += outside[heavy + 1 :] / others * draft[heavy]
    escape[0] = escape[0] * 0 + 1
    return 1 - escape


def _sums(rates: Array, rises: Array) -> Array:
    """Return the sums of the rises in floats: at most 1, and 1 where nothing is left outside."""
    sums = np.zeros(len(rates) + 1)
    sums[1:] = np.minimum(np.cumsum(rises, dtype=np.longdouble), 1)
    sums[np.flatnonzero(rates)[-1] + 1 :] = 1
    return sums
