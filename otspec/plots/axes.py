"""Axes, lines and legends that several plots have."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from otspec._base.arguments import as_instance, as_list
from otspec._base.arithmetic import Number
from otspec.estimate import Estimate, Quantity
from otspec.plots.canvas import Axes, Line2D, decimals, drawable, letters
from otspec.plots.inline import explain

Point: TypeAlias = tuple[float, Number | Quantity, float]  # place, number and standard error
PER_CALL = "tokens per call of the target"
MOST_NAMES = 6  # lines that have their names beside them; a legend is easier to read for more
UNNAMED: dict[str, Any] = {  # marks of rules without a name
    "color": "#999999", "marker": "o", "markersize": 3, "zorder": 1.5, "linestyle": "none"
}  # fmt: skip
_END = "name of a line"
Kind = TypeVar("Kind")


def as_rows(rows: Iterable[Kind], kind: type[Kind], wanted: str = "") -> list[Kind]:
    """Check rows of a result, of which there is at least one."""
    wanted = wanted or f"a list of {kind.__name__}"
    found = as_list(rows, "rows", wanted)
    for i, row in enumerate(found):
        as_instance(row, f"rows[{i}]", kind, f"a {kind.__name__}")
    if not found:
        raise ValueError(f"rows is empty: pass {wanted}")
    return found


def against_counts(ax: Axes, ks: Sequence[int], label: str = "number of drafts k") -> Axes:
    """Let the horizontal axis be numbers of drafts, logarithmic, with a mark at each of ``ks``."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ks, [str(k) for k in ks])
    ax.minorticks_off()
    ax.set_xlabel(label)
    return ax


def line_with_bars(
    ax: Axes, points: Sequence[Point], label: str, places: Sequence[str], **look: Any
) -> Axes:
    """Draw a line with bars where numbers have errors, or are estimates with an interval."""
    bars = np.array([_bar(number, error) for _, number, error in points]).reshape(-1, 2).T
    drawn = ax.errorbar(
        [place for place, _, _ in points], [float(number) for _, number, _ in points],
        yerr=bars if np.any(bars > 0) else None, elinewidth=0.8, label=label, **look,
    )  # fmt: skip
    words = [
        f"{label}, {place}: {decimals(number)}{_error(number, error)}"
        for place, (_, number, error) in zip(places, points, strict=True)
    ]
    explain(drawn.lines[0], words)
    return ax


def _bar(number: Number | Quantity, error: float) -> tuple[float, float]:
    """Return how far the bar reaches down and up."""
    if isinstance(number, Estimate):
        return number.value - number.low, number.high - number.value
    return (error, error) if error > 0 else (0.0, 0.0)


def _error(number: Number | Quantity, error: float) -> str:
    if isinstance(number, Estimate):
        return f", from {decimals(number.low)} to {decimals(number.high)}"
    return f" ± {decimals(error)}" if error > 0 else ""


def label_ends(ax: Axes, lines: Mapping[str, Line2D]) -> Axes:
    """Write names beside the right ends of lines, in their colors and in the order of their ends.

    Names that would overlap move apart by as little as possible, in the least squares sense.
    Call it when everything is drawn. A second call replaces the names of the first.
    """
    from scipy.optimize import isotonic_regression

    for text in [text for text in ax.texts if text.get_gid() == _END]:
        text.remove()
    scale = ax.yaxis.get_transform()  # of a logarithmic axis, too
    names = sorted(lines, key=lambda name: float(np.asarray(lines[name].get_ydata())[-1]))
    ends = [np.column_stack(lines[name].get_data())[-1] for name in names]
    size = 0.95 * float(ax.xaxis.label.get_fontsize())
    low, high = scale.transform(ax.get_ylim())
    inches = 0.8 * ax.bbox.height / ax.figure.dpi  # axis labels get the rest
    line = (high - low) * 1.25 * size / 72 / inches
    rows = np.array([len(name.splitlines()) for name in names])
    # Heights y_i are far enough apart if y_i - steps_i ascends: names that touch are steps apart.
    steps = line * (np.cumsum(rows) - rows / 2)
    drawn = scale.transform(np.array([y for _, y in ends]))
    heights = scale.inverted().transform(isotonic_regression(drawn - steps).x + steps)
    right = max(x for x, _ in ends)
    for name, height in zip(names, heights, strict=True):
        ax.annotate(
            "\n".join(map(drawable, name.splitlines())), (right, height), (9, 0),
            textcoords="offset points", va="center", color=letters(lines[name].get_color()),
            fontsize=size, annotation_clip=False, parse_math=False, gid=_END,
        )  # fmt: skip
    return ax


def name_lines(ax: Axes) -> Axes:
    """Name what :func:`line_with_bars` drew: at ends of lines, or in a legend of many."""
    lines = {str(drawn.get_label()): drawn[0] for drawn in ax.containers}
    return label_ends(ax, lines) if len(lines) <= MOST_NAMES else legend_beside(ax)


def legend_beside(ax: Axes, *, below: bool = False, **more: Any) -> Axes:
    """Put a legend right of the axes, or below, if anything has a name: it covers no data."""
    more["loc"] = "upper center" if below else "center left"
    if ax.get_legend_handles_labels()[0]:
        where = (0.5, -0.2) if below else (1.0, 0.5)
        ax.legend(bbox_to_anchor=where, frameon=False, handlelength=3, **more)
    return ax
