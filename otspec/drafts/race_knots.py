"""P(all distinct drafts are inside a prefix) for a few prefixes of a full vocabulary (Theory, 2).

The race of :mod:`otspec.drafts.race`, seen at a few knots only. With c the mass after a prefix, and
N(t) how many of its tokens have arrived by time t, all k drafts are inside if k of these arrive
before the first other token does, with probability ∫ c e^{−ct} Pr(N(t) ≥ k) dt. For a Poisson
process of rate 1 in the place of N that is (1/(c + 1))^k, and it is no later anywhere; so

    P = (1/(c + 1))^k − ∫ c e^{−ct} [Pr(N(t) < k) − Pr(Poisson(t) < k)] dt,

whose integrand is at most Pr(Poisson(t) ≥ k) at early times and Pr(N(t) < k) at late ones. The
times are those of :mod:`otspec.drafts.race`, whose errors are absolute here.

What a chunk of light tokens between two knots does to Pr(N = i) follows from sums of powers of
their rates: with g = e^{pt} − 1, and divided by the probability that none of them has arrived,

    Σ_i Pr(N = i) z^i = Π (1 + z g) = exp(Σ_i (−1)^{i−1} z^i Σ g^i / i).

Heavy tokens are passed one by one.

Tokens are light up to pt = 1/8 at the last time. So 18 powers of g, each of 24 terms in pt, leave
less than 1e-17 of the first; and a chunk ends where Σ (pt)² is 1, so that what alternating signs
cancel is at most e^{1.2} times what is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from otspec.arithmetic import Array, IntArray
from otspec.drafts.race_times import quadrature

_LIGHT = 1 / 8
_TERMS = 24
_POWERS = 18
_GROWTH = 200.0
"""Most rate times the last time in a chunk; its counts grow by at most the exponential of it."""
_KEPT = 1 << 16
"""Most numbers of a state of the race to go on from it later (half a megabyte)."""


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
    return Knots(rates, ks).inside_at(ends)


class Knots:
    """P(all inside) at prefixes that are asked for by and by: a prefix goes on from one before.

    Parameters and errors are those of :func:`inside_at`.
    """

    def __init__(self, rates: Array, ks: Sequence[int]) -> None:
        positive = rates > 0
        self._places = np.append(0, np.cumsum(positive))
        self._ks = np.array(ks, dtype=np.intp)
        most = int(self._ks.max())
        # Rate · time: arrived for sure, or not at all.
        with np.errstate(over="ignore", under="ignore"):
            timed = quadrature(rates[positive], self._ks)
            self._rates, self._outside, self._times, self._weights = timed
            dues = self._rates * self._times[0]
        self._heavy = np.flatnonzero(dues > _LIGHT)
        self._light = np.append(np.where(dues > _LIGHT, 0.0, dues), 0.0)
        full = np.floor(np.cumsum(self._light**2)) + np.floor(np.cumsum(self._light) / _GROWTH)
        self._full = np.flatnonzero(np.diff(full))
        none = np.eye(most, 1) + np.zeros((most, len(self._times)))
        self._below_of_poisson = _poisson(self._outside[0] * self._times, most)[self._ks - 1]
        # Pr(N = i) and Pr(N < k) at each time, by the number of tokens that have been passed.
        self._counts, self._below = {0: none}, {0: np.ones((len(ks), len(self._times)))}

    def inside_at(self, ends: IntArray) -> Array:
        """Return P(all k drafts inside the first tokens): (m,) -> (len(ks), m)."""
        places = self._places[ends]
        with np.errstate(over="ignore", under="ignore"):
            self._pass(sorted({*places.tolist()} - {*self._below}))
            return self._inside(places)

    def _inside(self, places: IntArray) -> Array:
        below = np.stack([self._below[place] for place in places.tolist()], axis=1)
        masses, rate = self._outside[places], self._outside[0]
        due = np.minimum(np.multiply.outer(masses, self._times), 800.0)  # nothing is left then
        early = below - self._below_of_poisson[:, None]
        missed = np.einsum("amt,mt,at->am", early, due * np.exp(-due), self._weights)
        ks = self._ks[:, None]
        return np.where(ks > places, 0.0, np.clip((rate / (masses + rate)) ** ks - missed, 0, 1))

    def _pass(self, places: Sequence[int]) -> None:
        """Pass tokens up to new places, ascending, each from the last known one before it."""
        if not places:
            return
        chunks = list(self._chunks(places))
        starts, stops = (np.array(bounds) for bounds in zip(*chunks, strict=True))
        counts, none = self._passed(starts, stops)
        among = zip(*np.searchsorted(self._heavy, [starts, stops]).tolist(), strict=True)
        wanted, race, more = set(places), self._counts[0], np.empty_like(self._counts[0][1:])
        for i, (first, last) in enumerate(among):
            start, stop = chunks[i]
            race = _product(self._counts.get(start, race), counts[i]) * none[i]
            due = np.multiply.outer(self._rates[self._heavy[first:last]], self._times)
            for missing, arrived in zip(np.exp(-due), -np.expm1(-due), strict=True):
                np.multiply(race[:-1], arrived, out=more)
                race *= missing
                race[1:] += more
            if stop in wanted:
                self._below[stop] = np.cumsum(race, axis=0)[self._ks - 1]
                if race.size <= _KEPT:
                    self._counts[stop] = race

    def _chunks(self, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield where chunks start and end, up to each place from the last known one before it."""
        known = sorted([*self._counts, *places])
        for place in places:
            start = known[known.index(place) - 1]
            inner = self._full[(self._full >= start) & (self._full < place)] + 1
            yield from pairwise(np.unique([start, *inner, place]).tolist())

    def _passed(self, starts: IntArray, stops: IntArray) -> tuple[Array, Array]:
        """Return what chunks of light tokens multiply the race by, with the chance of no arrival.

        Parameters
        ----------
        starts, stops : ndarray of int, shape (c,)
            Ascending.

        Returns
        -------
        counts : ndarray, shape (c, most, m)
            By number of arrivals, divided by the probability of none.
        none : ndarray, shape (c, m)
        """
        low = int(starts[0])
        dues = self._light[low : int(stops[-1]) + 1]
        bounds = np.stack([starts, stops], axis=1).ravel() - low
        times, most = self._times / self._times[0], len(self._counts[0])
        raised, moments = np.ones_like(dues), np.empty((len(starts), _TERMS))
        for power in range(_TERMS):
            raised = raised * dues
            moments[:, power] = np.add.reduceat(raised, bounds)[::2]
        # Σ (pt)^m, by chunk, m and time.
        terms = moments[:, :, None] * times ** np.arange(1, _TERMS + 1)[:, None]
        powers = min(_POWERS, most - 1)
        signs = (-1.0) ** np.arange(powers)[:, None]
        counts = _exponential((_expansion(powers)[1:, 1:] @ terms) * signs, most)
        return counts, np.exp(-moments[:, :1] * times)


def _poisson(means: Array, most: int) -> Array:
    """Return the chances of fewer than 1, …, ``most`` events for several means: (most, m)."""
    terms = np.empty((most, len(means)))
    terms[0] = np.exp(-means)
    for i in range(1, most):
        terms[i] = terms[i - 1] * means / i
    return np.cumsum(terms, axis=0)


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
        before = series[:, k - 1 :: -1][:, :top]
        series[:, k] = np.einsum("cim,cim->cm", powers[:, :top], before) / k
    return series


def _product(left: Array, right: Array) -> Array:
    """Multiply polynomials up to their degree: (k, m) and (k, m) -> (k, m)."""
    most, nodes = left.shape
    padded = np.concatenate([np.zeros((most - 1, nodes)), left])
    # Entry (n, i) is left[n − i].
    shifted = sliding_window_view(padded, most, axis=0)[:, :, ::-1]
    return np.asarray(np.einsum("nmi,im->nm", shifted, right))
