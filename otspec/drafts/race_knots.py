"""P(all distinct drafts are inside a prefix) for a few prefixes of a full vocabulary (Theory, 2).

The race of :mod:`otspec.drafts.race`, seen at a few knots only. What a chunk of light tokens
between two knots does to it follows from sums of powers of their rates: with g = e^{pt} − 1, and
divided by the probability that none of them has arrived,

    Σ_i Pr(N = i) z^i = Π (1 + z g) = exp(Σ_i (−1)^{i−1} z^i Σ g^i / i),

and the density of the logarithm of the time of the next arrival is that times Σ t p/(1 + z g) =
Σ_i (−z)^i Σ t p g^i. Heavy tokens are passed one by one.

Tokens are light up to pt = 1/8 at the last time. So 18 powers of g, each of 24 terms in pt, leave
less than 1e-17 of the first; and a chunk ends where Σ (pt)² is 1, so that what alternating signs
cancel is at most e^{1.2} times what is left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.drafts.race_times import quadrature

_LIGHT = 1 / 8
_TERMS = 24
_POWERS = 18
_GROWTH = 200.0
"""Most rate times the last time in a chunk; its counts grow by at most the exponential of it."""


def inside_at(rates: Array, ks: Sequence[int], ends: IntArray) -> Array:
    """Return P(all k drafts inside the first tokens) for several k and several prefixes.

    Parameters
    ----------
    rates : ndarray of float, shape (n,)
        The draft distribution, in the order of the prefixes.
    ks : sequence of int
        At most as many drafts as rates are positive.
    ends : ndarray of int, shape (m,)
        How many tokens each prefix has, ascending, from 0 to n.

    Returns
    -------
    ndarray, shape (len(ks), m)

    Raises
    ------
    ValueError
        So many drafts that the counts would not fit into the memory.
    """
    positive = rates > 0
    places = np.append(0, np.cumsum(positive))[ends]
    with np.errstate(over="ignore", under="ignore"):  # rate · time: arrived for sure, or not at all
        return _inside_at(rates[positive], np.array(ks, dtype=np.intp), places)


def _inside_at(rates: Array, ks: IntArray, ends: IntArray) -> Array:
    """Answer :func:`inside_at` for positive rates."""
    rates, outside, times, weights = quadrature(rates, ks)
    most, n = int(ks.max()), len(rates)
    dues = rates * times[0]
    light = dues <= _LIGHT
    starts = _starts(np.where(light, dues, 0.0), ends[ends < n])
    counts, densities, none = _chunks(np.where(light, dues, 0.0), starts, times / times[0], most)
    heavy = np.flatnonzero(~light)
    due = np.multiply.outer(rates[heavy], times)
    missing, arrived = np.exp(-due), -np.expm1(-due)
    into = np.where(missing > 0, due, 0.0) * missing
    among = np.searchsorted(heavy, [*starts, n])
    # Pr(N = i), and the density of the logarithm of the arrival after i others, at each time.
    race = np.zeros((2, most, len(times)))
    race[0, 0] = 1.0
    found = np.zeros((len(ks), len(ends)))
    for chunk, start in enumerate([*starts, n]):
        found[:, ends == start] = (weights * np.exp(-outside[start] * times) * race[1, ks - 1]).sum(
            axis=1
        )[:, None]
        if start == n:
            break
        passed = _product(race, counts[chunk])
        passed[1] += _product(race[0], densities[chunk])
        race = passed * none[chunk]
        for token in range(among[chunk], among[chunk + 1]):
            passed = race * missing[token]
            passed[:, 1:] += arrived[token] * race[:, :-1]
            passed[1] += into[token] * race[0]
            race = passed
    return found


def _starts(dues: Array, ends: IntArray) -> list[int]:
    """Return where chunks start: at all ends, and before any is too much for one."""
    full = np.floor(np.cumsum(dues**2)) + np.floor(np.cumsum(dues) / _GROWTH)
    starts: list[int] = np.union1d(np.flatnonzero(np.diff(full, prepend=0.0)), [0, *ends]).tolist()
    return starts


def _chunks(dues: Array, starts: list[int], times: Array, most: int) -> tuple[Array, Array, Array]:
    """Return what each chunk of light tokens multiplies the race by.

    Parameters
    ----------
    dues : ndarray, shape (n,)
        Rates times the last time; 0 for heavy tokens.
    starts : list of int, length c
    times : ndarray, shape (m,)
        In units of the last.
    most : int
        The most drafts.

    Returns
    -------
    counts, densities : ndarray, shape (c, most, m)
        By number of arrivals, divided by the probability of none.
    none : ndarray, shape (c, m)
    """
    raised, moments = np.ones_like(dues), np.empty((len(starts), _TERMS + 1))
    for power in range(_TERMS + 1):
        raised = raised * dues
        moments[:, power] = np.add.reduceat(raised, starts)
    # Σ (pt)^m, by chunk, m and time.
    terms = moments[:, :, None] * times ** np.arange(1, _TERMS + 2)[:, None]
    powers = min(_POWERS, most - 1)
    signs = (-1.0) ** np.arange(powers + 1)[:, None]
    expansion = _expansion(powers)
    counts = _exponential((expansion[1:, 1:] @ terms[:, :-1]) * -signs[1:], most)
    densities = _product(counts, (expansion @ terms) * signs)
    return counts, densities, np.exp(-moments[:, :1] * times)


@cache
def _expansion(powers: int) -> Array:
    """Return the coefficient of x^m in (e^x − 1)^i for i up to ``powers`` and m up to 24."""
    rows = [
        [
            sum((-1) ** (i - j) * math.comb(i, j) * j**m for j in range(i + 1)) / math.factorial(m)
            for m in range(_TERMS + 1)
        ]
        for i in range(powers + 1)
    ]
    expansion = np.array(rows)
    expansion.setflags(write=False)
    return expansion


def _exponential(powers: Array, most: int) -> Array:
    """Return exp(Σ s_i z^i / i) up to z^(most − 1): (c, i, m) -> (c, most, m)."""
    chunks, known, nodes = powers.shape
    series = np.zeros((chunks, most, nodes))
    series[:, 0] = 1.0
    for k in range(1, most):
        top = min(k, known)
        series[:, k] = (powers[:, :top] * series[:, k - 1 :: -1][:, :top]).sum(axis=1) / k
    return series


def _product(left: Array, right: Array) -> Array:
    """Multiply polynomials up to the degree of the left: (…, k, m) and (…, i, m) -> (…, k, m)."""
    product: Array = left * right[..., :1, :]
    for i in range(1, min(left.shape[-2], right.shape[-2])):
        product[..., i:, :] += left[..., :-i, :] * right[..., i : i + 1, :]
    return product
