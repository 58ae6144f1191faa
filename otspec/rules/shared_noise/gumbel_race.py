"""Acceptance by one race of shared noise, at full vocabulary in floats (Theory, 33).

Given that the output is y, and with ρ = p(y)/q(y), y is among the first k tokens of the draft's
race with the probability that y is among k successive draws without replacement, from the weights ρ
of y and w_z = (p(z) − ρ q(z))₊ of the others. With V = ρ + Σ w and a = ρ/V that is

    g_k(ρ) = ∫₀^∞ a e^{−aτ} Pr(N(τ) < k) dτ,

where N(τ) counts the others by independent events of probability 1 − e^{−w_z τ/V}. It depends on y
by ρ alone, so that few values of ρ serve all tokens:

- *Panels.* The tokens by ascending q/p are cut into panels of nearly equal ρ. The tokens outside a
  panel add to N(τ) smoothly in ρ, which polynomials in ρ through Chebyshev nodes follow. The tokens
  z inside it that come before y have small weights, whose power sums S_m = Σ w_z^m are known for
  each y; they multiply the generating function E s^N by the product of 1 + u (1 − e^{−w_z t}) with
  u = s − 1, which is expanded to third order.
- *Light tokens.* Where x_z = w_z τ/V < 1/16 at all times of a piece, the logarithm of the product
  is Σ_i (−1)^{i−1} (s^i/i) Σ_z (e^x − 1)^i − Σ_z x, a series in power sums Σ x^m. Its coefficients
  are below (3/2)^m, as log(1 + s (e^x − 1)) has no pole below log 2 for |s| ≤ 1. Heavier tokens are
  multiplied one by one; since V ≥ 1, they are among the tokens with p(z) τ ≥ 1/16.
- *Times.* Gauss-Legendre nodes on pieces that grow fourfold, until what is left is below 1e-18.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array, IntArray, prefix_sums
from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_panels import (
    NEGLIGIBLE,
    chebyshev,
    inside_sums,
    lagrange,
    panels,
    power_rows,
)

_NODES = 16
"""Nodes of the quadrature in each piece of time."""
_HEAVY = 2
"""A token is heavy if its draft mass times the last time of a piece is at least 4^{−2}."""
_POWERS = 14
"""Most power sums of light tokens."""
_MOST_PIECES = 510
"""4^510 is within the floats."""
_LATE, _VERY_LATE = 20, 150
"""Pieces from which on all tokens count as heavy, and no expansion is needed: its terms are 0."""
_LEAST_RATIO, _MOST_RATIO = 1e-280, 1e100
"""Of draft over target: above, a token that is the output is drafted first but for 1e-100."""
_LIGHT = 1e-250
"""Draft mass; more comes first if ρ is below 1e-280, but for e^{−1e30}."""
_UP_TO_THIRD = [(i, j) for i in range(4) for j in range(4 - i) if i + j]


class _Sorted(NamedTuple):
    """Tokens of positive draft mass by ascending target/draft, and the masses of the first ones."""

    draft: Array
    target: Array
    below: tuple[Array, Array]


class GumbelRace:
    """One race for up to ``most`` drafts of a pair.

    Parameters
    ----------
    pair : Pair
        In floats.
    most : int
        The largest k.
    """

    def __init__(self, pair: Pair, most: int) -> None:
        ratios, draft, target = pair.by_ratio
        self._order, self._most = pair.order, most
        # Tokens of no target mass come first, and are no output; those of no draft mass are last.
        drafted = int(np.searchsorted(ratios, np.inf))
        draft, target = draft[:drafted], target[:drafted]
        self._races = list(_races(_Sorted(draft, target, pair.below), most))

    def acceptances(self) -> Array:
        """Return the acceptance for each number of drafts, (most,)."""
        found = np.zeros(self._most)
        for race, before, _ in self._races:
            found[before:] += race.acceptances()
        return np.clip(found, 0, 1)

    def chances(self) -> Array:
        """Return how likely each token is among the first k, given it is the output: (most, n).

        Row k − 1 is for k drafts. Tokens that are never drafted, or never the output, have 0.
        """
        found = np.zeros((self._most, len(self._order)))
        for race, before, places in self._races:
            found[before:, self._order[places]] += race.chances()
        return np.clip(found, 0, 1)


def _races(tokens: _Sorted, most: int) -> Iterator[tuple[_Race, int, IntArray]]:
    """Yield races for parts of the outputs, each with how many drafts come before it, and places.

    Where ρ is tiny, tokens of much larger draft mass come before y for certain. The race for what
    is left has draft masses of sum 1, so that no time is beyond the floats.
    """
    draft, target, _ = tokens
    start, end = int(np.count_nonzero(target == 0)), len(draft)
    with np.errstate(over="ignore", divide="ignore"):
        late = int(np.count_nonzero(draft / target >= _LEAST_RATIO))
    late = max(late, start)
    yield _Race(tokens, slice(start, late), most), 0, np.arange(end)
    light = np.flatnonzero(draft < _LIGHT)
    certain = end - len(light)
    if late < end and certain < most:
        scaled = draft[light] / draft[light].sum(), target[light]
        rest = _Sorted(*scaled, (prefix_sums(scaled[0]), prefix_sums(scaled[1])))
        outputs = slice(int(np.searchsorted(light, late)), len(light))
        yield _Race(rest, outputs, most - certain), certain, light


class _Race:
    """One race for up to ``most`` drafts, and the outputs at some places."""

    def __init__(self, tokens: _Sorted, outputs: slice, most: int) -> None:
        self._tokens, self._most = tokens, most
        with np.errstate(over="ignore"):
            rho = tokens.draft[outputs] / tokens.target[outputs]
        self._rho = np.zeros(len(tokens.draft))
        self._rho[outputs] = np.minimum(rho, _MOST_RATIO)
        end = outputs.stop
        self._panels = panels(self._rho[:end], tokens.target[:end], outputs.start)

    def acceptances(self) -> Array:
        """Return the acceptance for each number of drafts, (most,)."""
        found = np.zeros(self._most)
        for inside, weights, expansion, terms in self._parts():
            shares = (weights * self._tokens.target[inside, None]).T @ expansion
            found += np.tensordot(shares, terms, 2)
        return found

    def chances(self) -> Array:
        """Return the same token by token, given that it is the output: (most, tokens)."""
        found = np.zeros((self._most, len(self._rho)))
        for inside, weights, expansion, terms in self._parts():
            for weight, node in zip(weights.T, terms, strict=True):
                found[:, inside] += weight * (node.T @ expansion.T)
        return found

    def _parts(self) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield for each panel its places, and what the chances there are sums of products of.

        Yields
        ------
        slice
            Of b places.
        weights : ndarray, shape (b, nodes)
            Lagrange polynomials.
        expansion : ndarray, shape (b, 7)
            Of the tokens inside the panel, in their power sums.
        terms : ndarray, shape (nodes, 7, most)
            What each of these terms is multiplied by.
        """
        if not self._panels:
            return
        rho, (draft, target, _) = self._rho, self._tokens
        nodes = [chebyshev(rho[end - 1], rho[start], count) for start, end, count in self._panels]
        starts = np.repeat([panel.start for panel in self._panels], [len(each) for each in nodes])
        terms = _Nodes(self._tokens, np.concatenate(nodes), starts).terms(self._most)
        drafts, targets = power_rows(draft, 3), power_rows(target, 3)
        sums = {(i, j): prefix_sums(drafts[i] * targets[j]) for i, j in _UP_TO_THIRD}
        place = 0
        for panel, points in zip(self._panels, nodes, strict=True):
            inside, own = slice(panel.start, panel.end), terms[place : place + len(points)]
            place += len(points)
            levels = rho[inside]
            s1, s2, s3 = (inside_sums(sums, panel, levels, power) for power in (1, 2, 3))
            expansion = np.stack([
                np.ones_like(s1), s1, (s1**2 - s2) / 2, -s2 / 2,
                s1**3 / 6 - s1 * s2 / 2 + s3 / 3, (s3 - s1 * s2) / 2, s3 / 6,
            ], axis=1)  # fmt: skip
            yield inside, lagrange(points, levels), expansion, own


class _Nodes:
    """The integrals at nodes, each over the tokens before a place of the order.

    Parameters
    ----------
    tokens : _Sorted
    rho : ndarray, shape (e,)
    ends : ndarray of int, shape (e,)
        Ascending.
    """

    def __init__(self, tokens: _Sorted, rho: Array, ends: IntArray) -> None:
        self._draft, self._target, below = tokens
        self._rho, self._ends = rho, ends
        self._total = rho + np.maximum(below[0][ends] - rho * below[1][ends], 0)
        # Tokens whose draft mass is at least 4^{−level−1} and less than 4^{−level}.
        with np.errstate(divide="ignore"):
            level = np.minimum(-np.log2(self._draft[: ends[-1]]) / 2, _MOST_PIECES).astype(int)
        by_level = np.argsort(level, kind="stable")
        cuts = np.searchsorted(level[by_level], np.arange(level.max(initial=0) + 2))
        self._levels = [by_level[start:end] for start, end in pairwise(cuts.tolist())]
        self._known: dict[int, Array] = {}

    def terms(self, most: int) -> Array:
        """Return the integrals for up to ``most`` drafts: (e, 7, most).

        Entry 0 is g_k; the others are ∫ a e^{−aτ} t^j [u^i E s^N]_{<k} dτ, t = τ/V, for
        (j, i) = (1, 1), (2, 2), (2, 1), (3, 3), (3, 2) and (3, 1), by which the expansion in power
        sums is multiplied.
        """
        points, weights = np.polynomial.legendre.leggauss(_NODES)
        own, sums = self._rho / self._total, np.zeros((len(self._rho), 4, most))
        alive, early, late = np.arange(len(own)), 0.0, 1.0
        for piece in range(_MOST_PIECES):
            times = early + (late - early) / 2 * (1 + points)
            counts = self._counts(alive, piece, times, most)
            decay = np.exp(-own[alive, None] * times)
            weight = own[alive, None] * decay * weights * (late - early) / 2
            for j in range(4 if piece < _VERY_LATE else 1):
                sums[alive, j] += np.einsum("ket,et->ek", counts, weight * times**j)
            left = counts[:, :, -1].sum(axis=0) * decay[:, -1]
            alive = alive[left > NEGLIGIBLE]
            if not len(alive):
                break
            early, late = late, 4 * late
        sums *= (1 / self._total)[:, None, None] ** np.arange(4)[:, None]
        # u = s − 1: the sum of the coefficients below k becomes minus coefficient k − 1.
        powers = [-sums]
        for _ in range(2):
            times_u = -powers[-1]
            times_u[..., 1:] += powers[-1][..., :-1]
            powers.append(times_u)
        first, second, third = powers
        return np.stack([
            np.cumsum(sums[:, 0], axis=-1), first[:, 1], second[:, 2], first[:, 2],
            third[:, 3], second[:, 3], first[:, 3],
        ], axis=1)  # fmt: skip

    def _counts(self, alive: IntArray, piece: int, times: Array, most: int) -> Array:
        """Return Pr(N(τ) = i) at the times of a piece, up to 4^piece: (most, alive, times)."""
        rho, ends, total = self._rho[alive], self._ends[alive], self._total[alive]
        light = np.zeros((len(alive), _POWERS))
        first = piece + _HEAVY if piece < _LATE else len(self._levels)
        for level in range(first, len(self._levels)):
            sums = self._sums(level, _enough(level - piece))
            light[:, : sums.shape[1]] += sums[alive]
        counts = _light_counts(light, times if piece < _LATE else 0 * times, most)
        for tokens in self._levels[:first]:
            # The nodes ascend by what is before them: a token is before all from some node on.
            starts = np.searchsorted(ends, tokens, side="right")
            for token, start in zip(tokens.tolist(), starts.tolist(), strict=True):
                part = counts[:, start:]
                weight = self._draft[token] - rho[start:] * self._target[token]
                rate = np.maximum(weight, 0) / total[start:]
                arrived = -np.expm1(-rate[:, None] * times)
                more = arrived * part[:-1]
                part *= 1 - arrived
                part[1:] += more
        return counts

    def _sums(self, level: int, powers: int) -> Array:
        """Return Σ (w_z/V)^m over the tokens of a level before each node: (e, powers)."""
        known = self._known.get(level, np.zeros((len(self._rho), 0)))
        if known.shape[1] < powers:
            tokens = self._levels[level]
            ends, which = np.unique(np.searchsorted(tokens, self._ends), return_inverse=True)
            drafts = power_rows(self._draft[tokens], powers)
            targets = power_rows(self._target[tokens], powers)
            scale, own = 1 / self._total, self._rho / self._total
            more = []
            for m in range(known.shape[1] + 1, powers + 1):
                sums = np.zeros(len(own))
                for j in range(m + 1):
                    below = prefix_sums(drafts[m - j] * targets[j])[ends]
                    sums += math.comb(m, j) * scale ** (m - j) * (-own) ** j * below[which]
                more.append(np.maximum(sums, 0))
            known = self._known[level] = np.column_stack([known, *more])
        return known[:, :powers]


@cache
def _enough(level: int) -> int:
    """Return how many power sums of weights below 4^{−level} are all but 1e-14 of the series."""
    return math.ceil(-math.log(1e-14) / (level * math.log(4) - math.log(1.5)))


def _light_counts(sums: Array, times: Array, most: int) -> Array:
    """Return Pr(N = i) of light tokens alone: (e, powers), (m,) -> (most, e, m)."""
    counts = np.zeros((most, len(sums), len(times)))
    powers = times ** np.arange(1, _POWERS + 1)[:, None]
    # Coefficient of s^i in the logarithm, times i.
    logs = [sums @ (row[:, None] * powers) for row in _series(min(most - 1, _POWERS))]
    counts[0] = np.exp(-np.maximum(sums[:, :1], 0) * times)
    for i in range(1, most):
        for j, log in enumerate(logs[:i], start=1):
            counts[i] += log * counts[i - j]
        counts[i] /= i
    return counts


@cache
def _series(most: int) -> Array:
    """Return the coefficients of x^m in (−1)^{i−1} (e^x − 1)^i: row i − 1, column m − 1."""
    rows = np.zeros((most, _POWERS))
    power = np.zeros(_POWERS + 1)
    power[0] = 1
    step = np.array([0.0, *(1 / math.factorial(m) for m in range(1, _POWERS + 1))])
    for i in range(most):
        power = np.convolve(power, step)[: _POWERS + 1]
        rows[i] = (-1) ** i * power[1:]
    return rows
