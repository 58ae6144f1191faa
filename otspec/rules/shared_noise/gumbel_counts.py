"""Integrals over one race at given values of ρ (Theory, 33); see ``gumbel_race``."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.rules.shared_noise.gumbel_panels import NEGLIGIBLE, Sorted, power_rows

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
_CHUNK = 1 << 16
"""Most chances of heavy tokens in memory at once (512 kB)."""


def integrals(tokens: Sorted, rho: Array, ends: IntArray, most: int) -> Array:
    """Return the integrals at nodes for up to ``most`` drafts: (e, 7, most).

    Entry 0 is g_k; the others are ∫ a e^{−aτ} t^j [u^i E s^N]_{<k} dτ, t = τ/V, for
    (j, i) = (1, 1), (2, 2), (2, 1), (3, 3), (3, 2) and (3, 1), by which the expansion in power
    sums is multiplied.

    Parameters
    ----------
    tokens : Sorted
    rho : ndarray, shape (e,)
    ends : ndarray of int, shape (e,)
        Ascending: each node is over the tokens before this place of the order.
    most : int
    """
    return _Nodes(tokens, rho, ends).terms(most)


class _Nodes:
    """What the integrals at nodes have in common."""

    def __init__(self, tokens: Sorted, rho: Array, ends: IntArray) -> None:
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
        self._binomials: dict[int, Array] = {}

    def terms(self, most: int) -> Array:
        """Return what :func:`integrals` does."""
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
        together = max(1, _CHUNK // (len(alive) * len(times)))
        heavy = np.sort(np.concatenate(self._levels[:first]))
        from otspec.rules.shared_noise import gumbel_passes  # it imports Numba, if it is there

        for place in range(0, len(heavy), together):
            tokens = heavy[place : place + together]
            # The nodes ascend by what is before them: a token is before all from some node on.
            starts = np.searchsorted(ends, tokens, side="right")
            from_first = slice(starts[0], None)
            weight = self._draft[tokens, None] - rho[from_first] * self._target[tokens, None]
            rate = np.maximum(weight, 0) / total[from_first]
            arrived = rate[:, :, None] * -times
            np.negative(np.expm1(arrived, out=arrived), out=arrived)
            gumbel_passes.arrived(counts, starts, arrived)
        return counts

    def _sums(self, level: int, powers: int) -> Array:
        """Return Σ (w_z/V)^m over the tokens of a level before each node: (e, powers)."""
        known = self._known.get(level, np.zeros((len(self._rho), 0)))
        if known.shape[1] < powers:
            tokens = self._levels[level]
            ends = np.append(0, np.searchsorted(tokens, self._ends))
            cuts, which = np.unique(ends, return_inverse=True)
            tokens = tokens[: cuts[-1]]
            drafts = power_rows(self._draft[tokens], powers)
            targets = power_rows(self._target[tokens], powers)
            more = []
            for m in range(known.shape[1] + 1, powers + 1):
                below = np.zeros((m + 1, len(cuts)))
                for j in range(m + 1):
                    np.add.reduceat(drafts[m - j] * targets[j], cuts[:-1], out=below[j, 1:])
                below = np.cumsum(below, axis=1)[:, which[1:]]
                sums = np.einsum("je,je->e", self._binomial(m), below)
                more.append(np.maximum(sums, 0))
            known = self._known[level] = np.column_stack([known, *more])
        return known[:, :powers]

    def _binomial(self, m: int) -> Array:
        """Return C(m, j) (1/V)^{m−j} (−ρ/V)^j for j = 0..m: (m + 1, e)."""
        if m not in self._binomials:
            scale, own = power_rows(1 / self._total, m), power_rows(-self._rho / self._total, m)
            rows = [math.comb(m, j) * scale[m - j] * own[j] for j in range(m + 1)]
            self._binomials[m] = np.stack(rows)
        return self._binomials[m]


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


@cache
def _enough(level: int) -> int:
    """Return how many power sums of weights below 4^{−level} are all but 1e-14 of the series."""
    return math.ceil(-math.log(1e-14) / (level * math.log(4) - math.log(1.5)))
