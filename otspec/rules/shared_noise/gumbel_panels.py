"""Panels of tokens of nearly equal draft/target, for sums over one race (Theory, 33)."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from otspec._base import Array, prefix_sums

_PANELS_PER_UNIT = 3  # panels in each unit of log ρ
_TOLERANCE = 1e-11  # what each panel may be off by, as it is estimated, in the sum over all tokens
_MOST_NODES = 8
_FEW = 64  # tokens so few that each has a node of its own
NEGLIGIBLE = 1e-18


class Sorted(NamedTuple):
    """Tokens of positive draft mass by ascending target/draft, and the masses of the first ones."""

    draft: Array
    target: Array
    below: tuple[Array, Array]


class Panel(NamedTuple):
    """Tokens of nearly equal ρ, by their places in the order, and how many nodes serve them."""

    start: int
    end: int
    nodes: int


def panels(rho: Array, target: Array, first: int) -> list[Panel]:
    """Cut tokens of descending ρ, from a place on, into panels."""
    if first == len(rho):
        return []
    cells = np.floor(_PANELS_PER_UNIT * np.log(rho[first:]))
    cuts = [first, *(np.flatnonzero(np.diff(cells)) + 1 + first).tolist(), len(rho)]
    waiting, found = list(pairwise(cuts))[::-1], []
    mass, squares = prefix_sums(target), prefix_sums(target**2)
    while waiting:
        start, end = waiting.pop()
        width, low = rho[start] - rho[end - 1], rho[end - 1]
        if width <= 0:
            found.append(Panel(start, end, 1))
            continue
        if len(rho) - first <= _FEW:
            found += _runs(rho, start, end)
            continue
        inside, spread = mass[end] - mass[start], width / max(1.0, low)
        # The terms of fourth order that the expansion leaves out.
        one, two = inside * spread, (squares[end] - squares[start]) * spread**2
        if inside * (one**4 / 24 + one**2 * two / 4 + two**2) > _TOLERANCE:
            # The heaviest token gets a node of its own: its kink is then between panels.
            heaviest = rho[start + int(np.argmax(target[start:end]))]
            left, right = (start + np.flatnonzero(rho[start:end] == heaviest)[[0, -1]]).tolist()
            parts = ((right + 1, end), (left, right + 1), (start, left))
            waiting += [part for part in parts if part[0] < part[1]]
            continue
        # Chebyshev interpolation with m nodes is off by about (width/4ρ)^m.
        nodes = math.ceil(
            math.log(_TOLERANCE / max(inside, NEGLIGIBLE)) / math.log(width / (4 * low))
        )
        nodes = min(max(nodes, 1), _MOST_NODES)
        if end - start <= nodes:
            found += _runs(rho, start, end)
        else:
            found.append(Panel(start, end, nodes))
    return found


def _runs(rho: Array, start: int, end: int) -> list[Panel]:
    """Return a panel for each value of ρ."""
    cuts = [start, *(np.flatnonzero(np.diff(rho[start:end])) + 1 + start).tolist(), end]
    return [Panel(left, right, 1) for left, right in pairwise(cuts)]


class Expansion:
    """The product over the tokens inside each panel, to third order: ``terms``, (tokens, 7).

    With S_m = Σ (p(z) − ρ q(z))^m over the tokens z before y, row y is the factors of the
    :func:`~otspec.rules.shared_noise.gumbel_counts.integrals` of a node.
    """

    def __init__(self, tokens: Sorted, rho: Array, panels: list[Panel]) -> None:
        start, end = panels[0].start, panels[-1].end
        self._rho = rho[start:end]
        self._drafts = power_rows(tokens.draft[start:end], 3)
        self._targets = power_rows(tokens.target[start:end], 3)
        sizes = [panel.end - panel.start for panel in panels]
        self._firsts = np.repeat([panel.start - start for panel in panels], sizes)
        self._ends = np.repeat([panel.end - start for panel in panels], sizes)
        # Tokens of equal ρ do not come before each other.
        new = np.append(True, np.diff(self._rho) != 0)
        starts = np.append(np.flatnonzero(new), end - start)
        self._run = starts[np.cumsum(new) - 1], starts[np.cumsum(new)]
        self._sums = s1, s2, s3 = [np.maximum(self._sum(m), 0) for m in (1, 2, 3)]
        self.terms = np.stack([
            np.ones_like(s1), s1, (s1**2 - s2) / 2, -s2 / 2,
            s1 * s1 * s1 / 6 - s1 * s2 / 2 + s3 / 3, (s3 - s1 * s2) / 2, s3 / 6,
        ], axis=1)  # fmt: skip

    def _sum(self, m: int) -> Array:
        """Return S_m = Σ_j C(m, j) (−ρ)^j Σ p^{m−j} q^j, by Horner."""
        total = np.zeros_like(self._rho)
        for j in range(m, -1, -1):
            below = prefix_sums(self._drafts[m - j] * self._targets[j])
            inside = below[self._run[0]] - below[self._firsts]
            total = math.comb(m, j) * inside - self._rho * total
        return total

    def slopes(self, factors: Array) -> Array:
        """Return the derivative of Σ factors · terms by each logit: (tokens, 7) -> (tokens,)."""
        # The sum for y changes with log p(z) as the token's own p(z) in it, and with log p(y)
        # inversely with that of all others, as only p(z)/p(y) matters.
        s1, s2, _ = self._sums
        _, f1, f2, f3, f4, f5, f6 = factors.T
        by_sum = (
            f1 + s1 * f2 + (s1**2 - s2) / 2 * f4 - s2 / 2 * f5,
            -(f2 + f3) / 2 - s1 / 2 * (f4 + f5),
            f4 / 3 + f5 / 2 + f6 / 6,
        )
        found = np.zeros_like(s1)
        for m, slope in enumerate(by_sum, start=1):
            for j in range(m):
                part = (m - j) * math.comb(m, j) * (-self._rho) ** j * slope
                own = self._drafts[m - j] * self._targets[j]
                after, before = prefix_sums(part), prefix_sums(own)
                found += own * (after[self._ends] - after[self._run[1]])
                found -= part * (before[self._run[0]] - before[self._firsts])
        return found


def power_rows(masses: Array, most: int) -> list[Array]:
    """Return powers 0 to ``most``, by products, which are quicker."""
    powers = [np.ones_like(masses)]
    for _ in range(most):
        powers.append(powers[-1] * masses)
    return powers


def chebyshev(low: float, high: float, count: int) -> Array:
    """Return nodes of an interval, (count,)."""
    angles = np.cos((2 * np.arange(count) + 1) * np.pi / (2 * count))
    return (low + high) / 2 + (high - low) / 2 * angles


def lagrange(nodes: Array, points: Array) -> Array:
    """Return the Lagrange polynomials of the nodes at the points, (points, nodes)."""
    gaps = nodes[:, None] - nodes
    np.fill_diagonal(gaps, 1)
    scales = 1 / gaps.prod(axis=1)
    away = points - nodes[:, None]
    values, above = np.ones_like(away), np.ones_like(points)
    for i in range(1, len(nodes)):
        np.multiply(values[i - 1], away[i - 1], out=values[i])
    for i in range(len(nodes) - 1, -1, -1):
        values[i] *= above * scales[i]
        above *= away[i]
    return values.T
