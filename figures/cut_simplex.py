"""Three tokens: which targets k drafts can serve without a loss, and which set proves a loss."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import atan2
from typing import Any

import numpy as np

import otspec
from figures.contract import PAGE, Numbers, Picture, Settings
from figures.registry import item
from otspec.distributions import as_distribution
from otspec.plots.canvas import ink

DRAFT = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
KS = (1, 2, 3, 4)
CUT_K = 2
STEPS = 60
"""Targets on each side of the triangle whose cut is computed."""

Point = tuple[Fraction, Fraction, Fraction]
_SHADES = ("#084594", "#4292C6", "#9ECAE1", "#DEEBF7")
_CUT_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])


def lossless_region(k: int) -> tuple[Point, ...]:
    """Return the corners of the targets q with q(A) ≥ p(A)^k for all A, in order around it.

    They are the laws of the draft that comes first in an order of the tokens.
    """
    law = otspec.IID(as_distribution(list(DRAFT)), k)
    corners = set()
    for order in permutations(range(3)):
        inside = [Fraction(law.inside(order[j:])) for j in range(3)] + [Fraction(0)]
        masses = dict(zip(order, np.diff(np.array(inside, dtype=object)) * -1, strict=True))
        corners.add((masses[0], masses[1], masses[2]))
    center = np.mean([flat(corner) for corner in corners], axis=0)

    def angle(corner: Point) -> float:
        x, y = flat(corner) - center
        return atan2(y, x)

    return tuple(sorted(corners, key=angle))


def flat(target: Point) -> Any:
    """Return where a target is drawn, shape (2,)."""
    return np.array(target, dtype=float) @ _CORNERS


def _draw_triangle(panel: Any) -> None:
    outline = np.vstack([_CORNERS, _CORNERS[:1]])
    panel.plot(*outline.T, color=ink(), lw=0.8)
    for token, (corner, shift) in enumerate(
        zip(_CORNERS, ((-8, -10), (8, -10), (0, 4)), strict=True)
    ):
        panel.annotate(
            f"all on {token}", corner, xytext=shift, textcoords="offset points", ha="center"
        )
    panel.set_aspect("equal")
    panel.set_axis_off()


@item("cut_simplex", "ours", size=PAGE, panels=(1, 2))
class CutSimplex(Picture):
    """Regions in the triangle of targets.

    Parameters
    ----------
    corners : dict
        k → the corners of the targets with optimum 1, in order around the region.
    targets : tuple of Point
        The grid on the triangle.
    cuts : tuple of tuple of int
        For each target of the grid the cut that proves the optimum for two drafts; empty where
        the optimum is 1.
    """

    title = "Three tokens, draft (1/2, 3/10, 1/5): targets that k drafts serve without a loss"

    corners: dict[int, tuple[Point, ...]]
    targets: tuple[Point, ...]
    cuts: tuple[tuple[int, ...], ...]

    @classmethod
    def compute(cls, settings: Settings) -> CutSimplex:
        """Return the regions for all k and the cuts for two drafts."""
        steps = 12 if settings.quick else STEPS
        targets = tuple(
            (Fraction(i, steps), Fraction(j, steps), Fraction(steps - i - j, steps))
            for i in range(steps + 1)
            for j in range(steps + 1 - i)
        )
        law = otspec.IID(list(DRAFT), CUT_K)
        cuts = []
        for target in targets:
            best = otspec.optimal_acceptance(law, list(target))
            cuts.append(() if best.acceptance == 1 else best.cut)
        return cls({k: lossless_region(k) for k in KS}, targets, tuple(cuts))

    def numbers(self) -> Numbers:
        """Return the corners of each region."""
        rows = [
            (k, *(float(mass) for mass in corner))
            for k, corners in self.corners.items()
            for corner in corners
        ]
        return Numbers(("k", "target(0)", "target(1)", "target(2)"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw the nested regions to the left, the cuts of two drafts to the right."""
        left, right = axes
        for panel in axes:
            _draw_triangle(panel)
        for shade, (k, corners) in reversed(list(zip(_SHADES, self.corners.items(), strict=True))):
            outline = np.array([flat(corner) for corner in corners])
            if len(outline) == 1:
                left.plot(*outline[0], "o", color=shade, ms=5, zorder=4, label="k = 1: the draft")
            else:
                left.fill(
                    *outline.T, facecolor=shade, edgecolor=_SHADES[0], lw=0.7, label=f"k = {k}"
                )
        left.set_title("targets with optimum 1", pad=10)
        places = np.array([flat(target) for target in self.targets])
        for color, cut in zip(_CUT_COLORS, sorted(set(self.cuts) - {()}), strict=False):
            chosen = np.array([found == cut for found in self.cuts])
            label = "{" + ", ".join(map(str, cut)) + "}"
            right.scatter(*places[chosen].T, s=4, color=color, marker="h", label=label, lw=0)
        outline = np.array([flat(corner) for corner in self.corners[CUT_K]])
        right.fill(*outline.T, facecolor="none", edgecolor=ink(), lw=1.0)
        right.set_title(f"k = {CUT_K}: the cut that proves a loss", pad=10)
        left.legend(loc="center left", bbox_to_anchor=(0.93, 0.6), handlelength=1.2)
        right.legend(
            loc="center left", bbox_to_anchor=(0.93, 0.6), markerscale=2.5, handlelength=1.2
        )
