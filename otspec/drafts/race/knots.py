"""P(all distinct drafts are inside a prefix) for a few prefixes of a full vocabulary (Theory, 2).

The race of :mod:`otspec.drafts.race.inside`, seen at a few knots only. With c the mass after a
prefix, and N(t) how many of its tokens have arrived by time t, all k drafts are inside if k of
these arrive before the first other token does, with probability ∫ c e^{−ct} Pr(N(t) ≥ k) dt. For a
Poisson process of rate 1 in the place of N that is (1/(c + 1))^k, and it is no later anywhere; so

    P = (1/(c + 1))^k − ∫ c e^{−ct} [Pr(N(t) < k) − Pr(Poisson(t) < k)] dt,

whose integrand is at most Pr(Poisson(t) ≥ k) at early times and Pr(N(t) < k) at late ones. The
times are those of :mod:`otspec.drafts.race.inside`, whose errors are absolute here.

What a chunk of light tokens between two knots does to Pr(N = i) follows from sums of powers of
their rates: with g = e^{pt} − 1, and divided by the probability that none of them has arrived,

    Σ_i Pr(N = i) z^i = Π (1 + z g) = exp(Σ_i (−1)^{i−1} z^i Σ g^i / i).

Heavy tokens are passed one by one.

Tokens are light up to pt = 1/8 at the last time. So 18 powers of g, each of 24 terms in pt, leave
less than 1e-17 of the first; and a chunk ends where Σ (pt)² is 1, or up to 15 tokens later, so
that what alternating signs cancel is at most e^{1.5} times what is left.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np

from otspec._base import Array, IntArray
from otspec.drafts.race.inside import quadrature

_LIGHT = 1 / 8
_TERMS = 24
_POWERS = 18
_GROWTH = 200.0
"""Most rate times the last time in a chunk; its counts grow by at most the exponential of it."""
_BLOCK = 16  # a chunk ends at a multiple of so many tokens
_FAINT = 1 / 512
_FAINT_TERMS = 8
"""A light token of pt up to 1/512 needs so few powers; the next is 1e-21 of the first."""
_KEPT = 1 << 16  # most numbers of a state of the race to go on from it later (half a megabyte)

_State: TypeAlias = tuple[Array, Array]
"""Pr(N = i) of tokens that were passed, (k, m), and Σ (pt)^m of light ones since, (24,)."""


def inside_at(rates: Array, ks: Sequence[int], ends: IntArray) -> Array:
    """Return P(all k drafts inside the first ``ends`` tokens), ascending: (len(ks), len(ends))."""
    return Knots(rates, ks).inside_at(ends)


class Knots:
    """P(all inside) at prefixes that are asked for by and by: a prefix goes on from one before."""

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
        blocks = np.arange(0, len(self._light), _BLOCK)
        sums = [np.add.reduceat(each, blocks) for each in (self._light**2, self._light / _GROWTH)]
        full = np.floor(np.cumsum(sums, axis=1)).sum(axis=0)
        self._ends = {*blocks[1:][np.diff(full) > 0].tolist()}
        self._below_of_poisson = _poisson(self._outside[0] * self._times, most)[self._ks - 1]
        # Pr(N < k) at each time, and what the race goes on from, by the tokens that are passed.
        none = np.eye(most, 1) + np.zeros((most, len(self._times)))
        self._below = {0: np.ones((len(ks), len(self._times)))}
        self._states: dict[int, _State] = {0: (none, np.zeros(_TERMS))}

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
        ends = {end for end in self._ends - {*self._states} if end < places[-1]}
        stops = sorted({*places} | ends)
        known = sorted([*self._states, *stops])
        starts = [known[known.index(stop) - 1] for stop in stops]
        state, passed = self._states[0], []
        sums = self._sums_of_powers(np.array([starts, stops]).T)
        for start, stop, more in zip(starts, stops, sums, strict=True):
            heavy, light = self._states.get(start, state)
            state = self._past_heavy(heavy, start, stop), light + more
            passed.append(state)
            if stop in self._ends:
                state = self._without_light(state)
            if heavy.size <= _KEPT:
                self._states[stop] = state
        self._below |= zip(stops, self._below_after(passed), strict=True)

    def _sums_of_powers(self, bounds: IntArray) -> Array:
        """Return Σ (pt)^m of light tokens for m from 1 on, t the last time: (c, 2) -> (c, 24)."""
        low, high = bounds[0, 0], bounds[-1, 1]
        dues, bounds = self._light[low : high + 1], bounds.ravel() - low
        raised, sums = dues.copy(), np.empty((len(bounds), _TERMS))
        for power in range(_FAINT_TERMS):
            sums[:, power] = np.add.reduceat(raised, bounds)
            raised *= dues
        rest = np.flatnonzero(dues > _FAINT)
        chunk = np.searchsorted(bounds, rest, side="right") - 1
        dues, raised = dues[rest], raised[rest]
        for power in range(_FAINT_TERMS, _TERMS):
            sums[:, power] = np.bincount(chunk, raised, len(bounds))
            raised *= dues
        return sums[::2]

    def _past_heavy(self, race: Array, start: int, stop: int) -> Array:
        """Return Pr(N = i) once the heavy tokens among these have been passed, too."""
        first, last = np.searchsorted(self._heavy, [start, stop])
        if first == last:
            return race
        due = np.multiply.outer(self._rates[self._heavy[first:last]], self._times)
        passed = race.copy()
        _fastest_pass()(passed, np.exp(-due), -np.expm1(-due))
        return passed

    def _arrivals(self, sums: Array) -> tuple[Array, Array]:
        """Return how many of chunks of light tokens arrived, given sums Σ (pt)^m, (c, 24)."""
        # none: (c, m); counts, (most, c, m): Pr(N = i), divided by the probability of none.
        times, most = self._times / self._times[0], len(self._states[0][0])
        powers = min(_POWERS, most - 1)
        # Σ (pt)^m, by chunk, m and time: chunk by chunk the products are too small for threads.
        terms = sums[:, :, None] * times ** np.arange(1, _TERMS + 1)[:, None]
        signed = _expansion(powers)[1:, 1:] * (-1.0) ** np.arange(powers)[:, None]
        counts = _exponential((signed @ terms).transpose(1, 0, 2), most)
        return counts, np.exp(-terms[:, 0])

    def _without_light(self, state: _State) -> _State:
        """Return the race once the light tokens have been passed as heavy ones are."""
        race, light = state
        counts, none = self._arrivals(light[None])
        return _product(race, counts[:, 0]) * none[0], np.zeros(_TERMS)

    def _below_after(self, states: Sequence[_State]) -> Array:
        """Return Pr(N < k) after each of several states: (c, len(ks), m)."""
        heavy = np.cumsum(np.stack([race for race, _ in states], axis=1), axis=0)
        counts, none = self._arrivals(np.array([light for _, light in states]))
        # Row by row they are one long dimension.
        heavy, light = (rows.reshape(len(rows), -1) for rows in (heavy, counts))
        below = [np.einsum("in,in->n", light[:k], heavy[k - 1 :: -1]) for k in self._ks]
        return np.stack([each.reshape(none.shape) * none for each in below], axis=1)


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
    """Return exp(Σ s_i z^i / i) up to z^(most − 1): (i, c, m) -> (most, c, m)."""
    series = np.zeros((most, *powers.shape[1:]))
    series[0] = 1.0
    rows = series.reshape(most, -1)
    powers = powers.reshape(len(powers), rows.shape[1])
    for k in range(1, most):
        top = min(k, len(powers))
        rows[k] = np.einsum("im,im->m", powers[:top], rows[k - 1 :: -1][:top]) / k
    return series


def _product(left: Array, right: Array) -> Array:
    """Multiply polynomials up to their degree: (k, m) and (k, m) -> (k, m)."""
    product: Array = left * right[0]
    for i in range(1, len(left)):
        product[i:] += left[:-i] * right[i]
    return product


def _fastest_pass() -> Callable[[Array, Array, Array], None]:
    from otspec._base import compiling  # imports Numba, if it is there

    if not compiling.HAS_NUMBA:
        return pass_heavy
    from otspec.drafts.race import numba_pass

    return numba_pass.fast_pass_heavy


def pass_heavy(race: Array, missing: Array, arrived: Array) -> None:
    """Pass tokens one by one; (k, m), which is updated, and (h, m) each."""
    more = np.empty_like(race[1:])
    for not_yet, here in zip(missing, arrived, strict=True):
        np.multiply(race[:-1], here, out=more)
        race *= not_yet
        race[1:] += more
