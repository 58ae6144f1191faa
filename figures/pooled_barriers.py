"""Pooled selection on eight tokens: the selection law between its bounds, and the barriers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec import plots
from otspec.rules import PooledSelection

DRAFT = tuple(Fraction(mass, 28) for mass in (5, 5, 4, 2, 4, 2, 4, 2))
TARGET = tuple(Fraction(mass, 48) for mass in (1, 3, 3, 2, 6, 6, 17, 10))
K = 3
UNIFORM = Fraction(2, 5)
"""The uniform number whose barriers are drawn as an example."""


def _from_zero(masses: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return (Fraction(0), *np.cumsum(np.array(masses, dtype=object)))


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
        law, lifetimes = axes
        rule = PooledSelection(DRAFT, TARGET, self.k)
        plots.selection(rule, law)
        plots.barriers(rule, lifetimes, uniform=self.uniform)
        for knot, words, place in (
            (self.low, "tangent from (0, 0):\none slope below", (0.03, 0.38)),
            (self.high, "tangent from (1, 1):\none slope above", (0.40, 0.80)),
        ):
            law.annotate(
                words,
                (self.knots[knot], self.law[knot]),
                xytext=place,
                arrowprops={"arrowstyle": "->", "color": "#999999", "shrinkB": 4},
            )
        law.set_xlabel("")
