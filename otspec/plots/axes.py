"""Axes and legends that several charts have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from otspec.arithmetic import Number
from otspec.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point: TypeAlias = tuple[float, Number, float]
"""Place, number and standard error."""


def against_counts(axes: Axes, ks: Sequence[int], label: str = "number of drafts k") -> Axes:
    """Let the horizontal axis be numbers of drafts, logarithmic, with a mark at each of ``ks``."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_xlabel(label)
    return axes


def line_with_bars(axes: Axes, points: Sequence[Point], **look: Any) -> Axes:
    """Draw a line with bars where numbers have errors, or are estimates with an interval.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    points : sequence of (float, number, float)
        Place, number and standard error, 0 for exact ones and NaN if it is not known.
    look
        Keywords of ``Axes.plot``.
    """
    places = [place for place, _, _ in points]
    bars = np.array([_bar(number, error) for _, number, error in points]).reshape(-1, 2).T
    axes.errorbar(
        places, [float(number) for _, number, _ in points],
        yerr=bars if np.any(bars > 0) else None, elinewidth=0.8, **look,
    )  # fmt: skip
    return axes


def _bar(number: Number, error: float) -> tuple[float, float]:
    """Return how far the bar reaches down and up."""
    if isinstance(number, Estimate):
        return number - number.low, number.high - number
    return (error, error) if error > 0 else (0.0, 0.0)


def legend_beside(axes: Axes, **more: Any) -> Axes:
    """Put a legend to the right of the axes, where it covers no data, if anything has a name."""
    if not axes.get_legend_handles_labels()[0]:
        return axes
    axes.legend(
        fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3,
        **more,
    )  # fmt: skip
    return axes
