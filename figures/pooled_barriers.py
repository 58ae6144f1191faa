"""Pooled selection on eight tokens: the selection law between its bounds, and the barriers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec.rules import PooledSelection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAFT = tuple(Fraction(mass, 28) for mass in (5, 5, 4, 2, 4, 2, 4, 2))
TARGET = tuple(Fraction(mass, 48) for mass in (1, 3, 3, 2, 6, 6, 17, 10))
K = 3
UNIFORM = Fraction(2, 5)
"""The uniform number whose barriers are drawn as an example."""

_LAW, _BOUND, _TARGET, _GROUPS = "#0072B2", "#D55E00", "#000000", ("#56B4E9", "#E69F00")


def _from_zero(masses: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return (Fraction(0), *np.cumsum(np.array(masses, dtype=object)))


def _draw_law(axes: Axes, data: PooledBarriers) -> None:
    shift = data.bound[data.cut] - data.wanted[data.cut]
    lifted = [q + shift for q in data.wanted]
    axes.plot(data.knots, lifted, ":", color=_TARGET, lw=1.2, label="$Q + (G_s - Q_s)$")
    axes.plot(data.knots, data.law, "o-", color=_LAW, ms=5, lw=2, label="$B$, selected draft")
    u = np.linspace(0, 1, 201)
    axes.plot(u, u**data.k, "-", color=_BOUND, lw=1.3, label=f"$G = u^{data.k}$, all drafts below")
    axes.plot(data.knots, data.bound, "s", color=_BOUND, ms=4)
    axes.plot(data.knots, data.wanted, "^--", color=_TARGET, ms=4, lw=1, label="$Q$, target")
    cut = data.knots[data.cut]
    axes.axvline(cut, color="#999999", lw=1, zorder=0)
    axes.annotate("cut $s$", (cut, 0.985), xytext=(-4, 0), textcoords="offset points", ha="right")
    for knot, words, place in (
        (data.low, "tangent from (0, 0):\none slope below", (0.03, 0.38)),
        (data.high, "tangent from (1, 1):\none slope above", (0.40, 0.80)),
    ):
        axes.annotate(
            words,
            (data.knots[knot], data.law[knot]),
            xytext=place,
            fontsize=9,
            arrowprops={"arrowstyle": "->", "color": "#555555", "shrinkB": 4},
        )
    axes.set_ylabel("cumulative probability")
    axes.set_ylim(-0.03, 1.08)
    axes.legend(loc="upper left", frameon=False, fontsize=9)


def _draw_barriers(axes: Axes, data: PooledBarriers) -> None:
    top = 1.12
    for index, (start, end) in enumerate(pairwise(data.barriers)):
        span = float(data.knots[start]), float(data.knots[end])
        axes.axvspan(*span, 0, float(1 / Fraction(top)), color=_GROUPS[index % 2], alpha=0.18, lw=0)
        axes.annotate(str(index + 1), (sum(span) / 2, 1.03), ha="center", fontsize=9)
    for j, (knot, lifetime) in enumerate(zip(data.knots, data.lifetimes, strict=True)):
        if lifetime == np.inf:
            axes.plot([knot, knot], [0, 1.06], color=_TARGET, lw=2.5)
            axes.plot(knot, 1.08, "^", color=_TARGET, ms=7, clip_on=False)
        else:
            axes.plot([knot, knot], [0, lifetime], color=_LAW, lw=2.5)
            axes.plot(knot, lifetime, "o" if j in data.barriers else "D", color=_LAW, ms=5)
    axes.axhline(float(data.uniform), color="#CC79A7", ls="--", lw=1.3)
    axes.annotate(f"$w = {float(data.uniform)}$", (0.01, float(data.uniform) + 0.03), fontsize=9)
    axes.annotate("groups at that $w$:", (0.01, 1.03), fontsize=9)
    axes.set_ylim(-0.03, top)
    axes.set_xlabel("draft mass below, $u$")
    axes.set_ylabel("lifetime of the knot")


@item("pooled_barriers", "ours", size=(7.0, 6.6), panels=(2, 1))
class PooledBarriers(Picture):
    """Everything that is drawn, knot by knot.

    Parameters
    ----------
    k : int
        Number of drafts.
    knots : tuple of Fraction
        Draft mass below each boundary of pools, u.
    wanted, bound, law : tuple of Fraction
        Q, G = u**k and B: the target mass below each knot, the probability that all drafts are
        below it, and the probability that the selected draft is.
    cut : int
        The knot s of the minimum cut.
    low, high : int
        The knots where the tangents from (0, 0) and from (1, 1) touch Q + G_s − Q_s.
    lifetimes : tuple of Fraction or float
        A knot is a barrier while the uniform number is below its lifetime; infinity if always.
    uniform : Fraction
    barriers : tuple of int
        The knots that are barriers at ``uniform``.
    optimum : Fraction
        Q_s + 1 − G_s.
    """

    title = "Pooled selection on eight tokens: the law between its bounds, and the barriers"

    k: int
    knots: tuple[Fraction, ...]
    wanted: tuple[Fraction, ...]
    bound: tuple[Fraction, ...]
    law: tuple[Fraction, ...]
    cut: int
    low: int
    high: int
    lifetimes: tuple[Fraction | float, ...]
    uniform: Fraction
    barriers: tuple[int, ...]
    optimum: Fraction

    @classmethod
    def compute(cls, settings: Settings) -> PooledBarriers:  # noqa: ARG003
        """Return the example's numbers."""
        # The tokens ascend by target/draft, each ratio once: every token is a pool.
        rule = PooledSelection(DRAFT, TARGET, K)
        knots = tuple(rule.knots)
        wanted, law = _from_zero(TARGET), _from_zero(tuple(rule.law_of_selection))
        bound = tuple(u**K for u in knots)
        excess = [g - q for g, q in zip(bound, wanted, strict=True)]
        cut = excess.index(max(excess))
        touching = [j for j in range(1, len(knots) - 1) if law[j] == wanted[j] + excess[cut]]
        lifetimes = tuple(rule.lifetimes)
        return cls(
            k=K,
            knots=knots,
            wanted=wanted,
            bound=bound,
            law=law,
            cut=cut,
            low=min(touching),
            high=max(touching),
            lifetimes=lifetimes,
            uniform=UNIFORM,
            barriers=tuple(j for j, lifetime in enumerate(lifetimes) if lifetime > UNIFORM),
            optimum=wanted[cut] + 1 - bound[cut],
        )

    def numbers(self) -> Numbers:
        """Return one row for each knot."""
        rows = zip(self.knots, self.wanted, self.bound, self.law, self.lifetimes, strict=True)
        return Numbers(
            ("knot u", "target Q", "bound G", "selected B", "lifetime"),
            tuple(tuple(float(cell) for cell in row) for row in rows),
        )

    def draw(self, axes: list[Any]) -> None:
        """Draw the law over the draft mass, and below it the lifetimes of the knots."""
        for panel, drawn in zip(axes, (_draw_law, _draw_barriers), strict=True):
            drawn(panel, self)
            panel.set_xlim(-0.01, 1.01)
            panel.grid(alpha=0.2)
