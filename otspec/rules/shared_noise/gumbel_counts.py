"""Integrals over one race at given values of ρ (Theory, 33); see ``gumbel_race``."""

import math
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from otspec._base import Array, IntArray, remembered
from otspec.rules.shared_noise.gumbel_panels import NEGLIGIBLE, Sorted, power_rows

_NODES = 16  # nodes of the quadrature in each piece of time
_HEAVY = 2  # a token is heavy if its draft mass times the last time of a piece is at least 4^{−2}
POWERS = 14  # most power sums of light tokens
_MOST_PIECES = 510  # 4^510 is within the floats
_LATE, _VERY_LATE = 20, 150
"""Pieces from which on all tokens count as heavy, and no expansion is needed: its terms are 0."""
_CHUNK = 1 << 16  # most chances of heavy tokens in memory at once (512 kB)


def integrals(tokens: Sorted, rho: Array, ends: IntArray, most: int) -> Array:
    """Return the integrals at nodes (e,) for up to ``most`` drafts: (e, 7, most)."""
    # Entry 0 is g_k; the others are ∫ a e^{−aτ} t^j [u^i E s^N]_{<k} dτ, t = τ/V, for
    # (j, i) = (1, 1), (2, 2), (2, 1), (3, 3), (3, 2) and (3, 1), by which the expansion in power
    # sums is multiplied. Each node, ascending, is over the tokens before its place ``ends``.
    return NodeCounts(tokens, rho, ends, most).terms()[0]


class NodeCounts:
    """What the integrals at nodes have in common."""

    parts = 1  # how many kinds of counts there are; the first are Pr(N(τ) = i)

    def __init__(self, tokens: Sorted, rho: Array, ends: IntArray, most: int) -> None:
        self._draft, self._target, below = tokens
        self._rho, self._ends, self._most = rho, ends, most
        self._total = rho + np.maximum(below[0][ends] - rho * below[1][ends], 0)
        # Tokens whose draft mass is at least 4^{−level−1} and less than 4^{−level}.
        with np.errstate(divide="ignore"):
            level = np.minimum(-np.log2(self._draft[: ends[-1]]) / 2, _MOST_PIECES).astype(int)
        by_level = np.argsort(level, kind="stable")
        cuts = np.searchsorted(level[by_level], np.arange(level.max(initial=0) + 2))
        self._levels = [by_level[start:end] for start, end in pairwise(cuts.tolist())]
        self._known: dict[int, Array] = {}

    def terms(self) -> Array:
        """Return what :func:`integrals` does, for each kind of counts: (parts, e, 7, most)."""
        points, weights = np.polynomial.legendre.leggauss(_NODES)
        own = self._rho / self._total
        sums = np.zeros((self.parts, len(own), 4, self._most))
        alive, early, late = np.arange(len(own)), 0.0, 1.0
        for piece in range(_MOST_PIECES):
            times = early + (late - early) / 2 * (1 + points)
            decay = np.exp(-own[alive, None] * times)
            weight = own[alive, None] * decay * weights * (late - early) / 2
            counts = self._counts(alive, piece, times, weight)
            for j in range(4 if piece < _VERY_LATE else 1):
                sums[:, alive, j] += np.einsum("pket,et->pek", counts, weight * times**j)
            left = counts[0, :, :, -1].sum(axis=0) * decay[:, -1]
            alive = alive[left > NEGLIGIBLE]
            if not len(alive):
                break
            early, late = late, 4 * late
        return combined(sums * self._scales[:, :, None])

    @cached_property
    def _scales(self) -> Array:
        """V^{−j} at each node, (e, 4)."""
        return (1 / self._total)[:, None] ** np.arange(4)

    def _counts(self, alive: IntArray, piece: int, times: Array, weight: Array) -> Array:  # noqa: ARG002
        """Return Pr(N(τ) = i) at the times of a piece, up to 4^piece: (1, most, alive, times)."""
        early = times if piece < _LATE else 0 * times  # later there are no light tokens
        counts = light_counts(self._light(alive, piece)[0], early, self._most)
        from otspec.rules.shared_noise import gumbel_passes  # it imports Numba, if it is there

        for _, starts, rate in self._heavy(alive, piece, _CHUNK // (len(alive) * len(times))):
            arrived = rate[:, starts[0] :, None] * -times
            np.negative(np.expm1(arrived, out=arrived), out=arrived)
            gumbel_passes.arrived(counts, starts, arrived)
        return counts[None]

    def _heavy(
        self, alive: IntArray, piece: int, together: int
    ) -> Iterator[tuple[IntArray, IntArray, Array]]:
        """Yield some heavy tokens at once, from which node on each counts, and rates w_z/V."""
        # The rates are (tokens, alive), and 0 where the token does not count.
        rho, ends, total = self._rho[alive], self._ends[alive], self._total[alive]
        heavy = np.sort(np.concatenate(self._levels[: self._first(piece)]))
        for place in range(0, len(heavy), max(1, together)):
            tokens = heavy[place : place + max(1, together)]
            # The nodes ascend by what is before them: a token is before all from some node on.
            starts = np.searchsorted(ends, tokens, side="right")
            weight = self._draft[tokens, None] - rho * self._target[tokens, None]
            yield tokens, starts, np.maximum(weight, 0) / total

    def _first(self, piece: int) -> int:
        """Return the first level of light tokens."""
        return piece + _HEAVY if piece < _LATE else len(self._levels)

    def _light(self, alive: IntArray, piece: int) -> Array:
        """Return Σ (w_z/V)^m of light tokens, and its change with log p: (2, alive, powers)."""
        found = np.zeros((2, len(alive), POWERS))
        for level in range(self._first(piece), len(self._levels)):
            sums = self._sums(level, enough(level - piece))
            found[:, :, : sums.shape[-1]] += sums[:, alive]
        return found

    def _sums(self, level: int, powers: int) -> Array:
        """Return the same over the tokens of a level before each node: (2, e, powers)."""
        known = self._known.get(level, np.zeros((2, len(self._rho), 0)))
        if known.shape[-1] < powers:
            tokens, cuts, which = self._before(level)
            drafts = power_rows(self._draft[tokens], powers)
            targets = power_rows(self._target[tokens], powers)
            more = []
            for m in range(known.shape[-1] + 1, powers + 1):
                below = np.zeros((m + 1, len(cuts)))
                for j in range(m + 1):
                    np.add.reduceat(drafts[m - j] * targets[j], cuts[:-1], out=below[j, 1:])
                below = self._binomial(m) * np.cumsum(below, axis=1)[:, which]
                more.append([below.sum(axis=0), np.arange(m, -1, -1) @ below])
            known = np.concatenate([known, np.maximum(np.stack(more, axis=-1), 0)], axis=-1)
            self._known[level] = known
        return known[:, :, :powers]

    def _before(self, level: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return tokens of a level that are before a node, cuts between nodes, and each's cut."""
        tokens = self._levels[level]
        cuts, which = np.unique(
            np.append(0, np.searchsorted(tokens, self._ends)), return_inverse=True
        )
        return tokens[: cuts[-1]], cuts, which[1:]

    @remembered
    def _binomial(self, m: int) -> Array:
        """Return C(m, j) (1/V)^{m−j} (−ρ/V)^j for j = 0..m: (m + 1, e)."""
        scale, own = power_rows(1 / self._total, m), power_rows(-self._rho / self._total, m)
        return np.stack([math.comb(m, j) * scale[m - j] * own[j] for j in range(m + 1)])


def combined(sums: Array) -> Array:
    """Return the entries of :func:`integrals` from ∫ a e^{−aτ} t^j Pr(N = i): (..., 4, most)."""
    # u = s − 1: the sum of the coefficients below k becomes minus coefficient k − 1.
    powers = [-sums]
    for _ in range(2):
        times_u = -powers[-1]
        times_u[..., 1:] += powers[-1][..., :-1]
        powers.append(times_u)
    first, second, third = powers
    return np.stack([
        np.cumsum(sums[..., 0, :], axis=-1), first[..., 1, :], second[..., 2, :], first[..., 2, :],
        third[..., 3, :], second[..., 3, :], first[..., 3, :],
    ], axis=-2)  # fmt: skip


def light_counts(sums: Array, times: Array, most: int) -> Array:
    """Return Pr(N(τ) = i) of light tokens alone: (e, powers), (m,) -> (most, e, m)."""
    counts = np.zeros((most, len(sums), len(times)))
    powers = times ** np.arange(1, POWERS + 1)[:, None]
    # Coefficient of s^i in the logarithm, times i.
    logs = [sums @ (row[:, None] * powers) for row in series(min(most - 1, POWERS))]
    counts[0] = np.exp(-np.maximum(sums[:, :1], 0) * times)
    for i in range(1, most):
        for j, log in enumerate(logs[:i], start=1):
            counts[i] += log * counts[i - j]
        counts[i] /= i
    return counts


@cache
def series(most: int) -> Array:
    """Return the coefficients of x^m in (−1)^{i−1} (e^x − 1)^i: row i − 1, column m − 1."""
    rows = np.zeros((most, POWERS))
    power = np.zeros(POWERS + 1)
    power[0] = 1
    step = np.array([0.0, *(1 / math.factorial(m) for m in range(1, POWERS + 1))])
    for i in range(most):
        power = np.convolve(power, step)[: POWERS + 1]
        rows[i] = (-1) ** i * power[1:]
    return rows


@cache
def enough(level: int) -> int:
    """Return how many power sums of weights below 4^{−level} are all but 1e-14 of the series."""
    return math.ceil(-math.log(1e-14) / (level * math.log(4) - math.log(1.5)))
