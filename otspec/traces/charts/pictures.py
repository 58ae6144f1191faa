"""Charts as pictures of their own, with a title."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from otspec.extras import needed
from otspec.traces.charts.acceptance import draw_acceptance
from otspec.traces.charts.gap import draw_gaps
from otspec.traces.charts.heat import draw_heat, largest_counts
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.heat import by_heat
from otspec.traces.legible import drawable
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attains
from otspec.writing import in_one_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = 3  # beside each other


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a picture in one step; its ending decides the format, as in Matplotlib.

    Raises
    ------
    ValueError
        A format that Matplotlib does not write.
    OSError
        The file cannot be written.
    """
    to = Path(path)
    with in_one_step(to) as stream:
        figure.savefig(stream, dpi=160, format=to.suffix[1:] or None)


def save_acceptance_chart(rows: Iterable[Row], path: str | PathLike[str], *, title: str) -> None:
    """Draw acceptance against k as :func:`draw_acceptance` does, and write the picture.

    Parameters
    ----------
    rows : iterable of Row
    path : path
        Its ending decides the format, as in Matplotlib.
    title : str
        Drawn as it is written; letters that the font lacks are escaped.

    Raises
    ------
    ValueError
        A format that Matplotlib does not write.
    OSError
        The file cannot be written.
    """
    save_figure(acceptance_figure(rows, title=title), path)


def acceptance_figure(rows: Iterable[Row], *, title: str) -> Figure:
    """Return the picture that :func:`save_acceptance_chart` writes.

    Parameters
    ----------
    rows, title
        As there.
    """
    figure, axes = titled(title, height=4.6)
    draw_acceptance(axes, rows)
    return figure


def gap_figure(rows: Sequence[Statistic], *, title: str) -> Figure | None:
    """Return a picture of the gaps of the rules below the optimum, as :func:`draw_gaps` draws them.

    Parameters
    ----------
    rows : sequence of Statistic
        Of one temperature.
    title : str

    Returns
    -------
    matplotlib.figure.Figure or None
        None if all rules attain the optimum.
    """
    below = [r for r in rows if r.rule != OPTIMUM and not attains(r.acceptance, r.optimum)]
    if not below:
        return None
    figure, axes = titled(title, height=1.2 + 0.28 * len(below))
    draw_gaps(axes, below)
    return figure


def heat_figure(rows: Sequence[Statistic], *, title: str) -> Figure | None:
    """Return a picture of acceptance against temperature, as :func:`draw_heat` draws it.

    Each draft law has a panel, with the largest number of drafts that it has.

    Parameters
    ----------
    rows : sequence of Statistic
    title : str

    Returns
    -------
    matplotlib.figure.Figure or None
        None if there is one pair of temperatures only.
    """
    if len(by_heat(rows)) < 2:
        return None
    panels = largest_counts(rows)
    columns = min(len(panels), _PANELS)
    lines = -(-len(panels) // columns)
    figure = _empty(title, width=max(5.0, 3.4 * columns), height=4.8 * lines)
    places = figure.subplots(lines, columns, sharey=True, squeeze=False).flat
    for axes, ((drafts, k), shown) in zip(places, panels.items(), strict=False):
        draw_heat(axes, shown)
        axes.set_title(f"{drafts}, k = {k}", fontsize=10)
    for axes in places[len(panels) :]:
        axes.remove()
    places[0].set_ylabel("probability that a draft is accepted")
    return figure


def titled(title: str, *, height: float) -> tuple[Figure, Axes]:
    """Return a picture of its own with a title, and its axes."""
    figure = _empty(title, width=7.0, height=height)
    return figure, figure.add_subplot()


def _empty(title: str, *, width: float, height: float) -> Figure:
    needed("matplotlib", "a picture", "plots")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(drawable(title), fontsize=11, parse_math=False)
    return figure


def svg_of(figure: Figure) -> str:
    """Return a figure as an element of a page, with text as text."""
    rc_context = needed("matplotlib", "a picture", "plots").rc_context
    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "otspec"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    # Without the XML prologue and the metadata, whose addresses nothing needs.
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
