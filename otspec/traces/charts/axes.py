"""Axes and legends that several charts have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def against_counts(axes: Axes, ks: Sequence[int], label: str = "number of drafts k") -> Axes:
    """Let the horizontal axis be numbers of drafts, logarithmic, with a mark at each of ``ks``."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_xlabel(label)
    return axes


def legend_beside(axes: Axes, **more: Any) -> Axes:
    """Put a legend to the right of the axes, where it covers no data."""
    axes.legend(
        fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3,
        **more,
    )  # fmt: skip
    return axes
