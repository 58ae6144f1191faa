"""Panels of tokens of nearly equal draft/target, for sums over one race (Theory, 33)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array, prefix_sums

_PANELS_PER_UNIT = 3
"""Panels in each unit of log ρ."""
_TOLERANCE = 1e-11
"""What each panel may be off by, as it is estimated, in the sum over all tokens."""
_MOST_NODES = 8
_FEW = 64
"""Tokens so few that each has a node of its own."""
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
            found += [Panel(i, i + 1, 1) for i in range(start, end)]
            continue
        inside, spread = mass[end] - mass[start], width / max(1.0, low)
        # The terms of fourth order that the expansion leaves out.
        first, second = inside * spread, (squares[end] - squares[start]) * spread**2
        if inside * (first**4 / 24 + first**2 * second / 4 + second**2) > _TOLERANCE:
            # The heaviest token gets a node of its own: its kink is then between panels.
            middle = start + int(np.argmax(target[start:end]))
            parts = ((middle + 1, end), (middle, middle + 1), (start, middle))
            waiting += [part for part in parts if part[0] < part[1]]
            continue
        # Chebyshev interpolation with m nodes is off by about (width/4ρ)^m.
        nodes = math.ceil(
            math.log(_TOLERANCE / max(inside, NEGLIGIBLE)) / math.log(width / (4 * low))
        )
        nodes = min(max(nodes, 1), _MOST_NODES)
        if end - start <= nodes:
            found += [Panel(i, i + 1, 1) for i in range(start, end)]
        else:
            found.append(Panel(start, end, nodes))
    return found


def expansions(tokens: Sorted, rho: Array, panels: list[Panel]) -> Array:
    """Expand the product over the tokens inside each panel to third order: (tokens, 7).

    With S_m = Σ (p(z) − ρ q(z))^m over the tokens z of its panel before y, row y is what
    ``terms`` of a node are multiplied by.
    """
    start, end = panels[0].start, panels[-1].end
    draft, target, rho = tokens.draft[start:end], tokens.target[start:end], rho[start:end]
    firsts = np.array([panel.start - start for panel in panels])
    sizes = np.diff(firsts, append=end - start)
    drafts, targets = power_rows(draft, 3), power_rows(target, 3)
    sums = []
    for m in (1, 2, 3):
        # Σ_j C(m, j) (−ρ)^j Σ p^{m−j} q^j, by Horner.
        total = np.zeros_like(rho)
        for j in range(m, -1, -1):
            below = prefix_sums(drafts[m - j] * targets[j])
            inside = below[:-1] - np.repeat(below[firsts], sizes)
            total = math.comb(m, j) * inside - rho * total
        sums.append(np.maximum(total, 0))
    s1, s2, s3 = sums
    return np.stack([
        np.ones_like(s1), s1, (s1**2 - s2) / 2, -s2 / 2,
        s1 * s1 * s1 / 6 - s1 * s2 / 2 + s3 / 3, (s3 - s1 * s2) / 2, s3 / 6,
    ], axis=1)  # fmt: skip


def power_rows(masses: Array, most: int) -> list[Array]:
    """Return powers 0 to ``most``, by products, which are quicker."""
    powers = [np.ones_like(masses)]
    for _ in range(most):
        powers.append(powers[-1] * masses)
    return powers


def chebyshev(low: float, high: float, count: int) -> Array:
    """Return nodes of an interval, (count,)."""
    angles = np.cos((2 * np.arange(count) + 1) * np.pi / (2 * count))
    nodes: Array = (low + high) / 2 + (high - low) / 2 * angles
    return nodes


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
