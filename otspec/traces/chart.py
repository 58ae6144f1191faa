"""Charts of acceptance against the number of drafts."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otspec.drafts import IID, LAWS
from otspec.rules import compared_rules
from otspec.traces.comparison import OPTIMUM, Comparison
from otspec.traces.lettering import drawable
from otspec.traces.summary import Summary, attains
from otspec.writing import in_one_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Lines = dict[tuple[str, str], dict[int, float]]
"""(rule, drafts) -> k -> acceptance."""


def save_acceptance_chart(
    rows: Iterable[Summary | Comparison], path: str | PathLike[str], *, title: str
) -> None:
    """Draw acceptance against k, one line per rule, and write the picture.

    The optimum is black. Between that for i.i.d. drafts and the best of the rules that do not
    attain it is shaded what they leave. Each draft law has its line style; what can coincide with
    another line has an open marker, and what does coincide with the optimum is broad behind it.

    Parameters
    ----------
    rows : iterable of Summary or Comparison
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
    figure, to = acceptance_figure(rows, title=title), Path(path)
    with in_one_step(to) as stream:
        figure.savefig(stream, dpi=160, format=to.suffix[1:] or None)


def acceptance_figure(rows: Iterable[Summary | Comparison], *, title: str) -> Figure:
    """Return the picture that :func:`save_acceptance_chart` writes.

    Parameters
    ----------
    rows, title
        As there.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    draw_acceptance(figure.add_subplot(), list(rows))
    figure.suptitle(drawable(title), fontsize=11, parse_math=False)
    return figure


def draw_acceptance(axes: Axes, rows: list[Summary | Comparison]) -> None:
    """Draw the lines, the shaded gap, the axes and the legend on ``axes``."""
    lines = _lines(rows)
    _shade_gap(axes, lines)
    for (rule, drafts), line in lines.items():
        axes.plot(
            list(line),
            list(line.values()),
            linestyle=LAWS[drafts].line_style,
            label=label_of(rule, drafts),
            **look_of(rule, drafts),
        )
    ks = sorted({row.k for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_xlabel("number of drafts k")
    axes.set_ylabel("probability that a draft is accepted")
    axes.grid(alpha=0.25)
    axes.legend(
        fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3
    )


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, and its draft law if that is not i.i.d."""
    return rule if drafts == IID.name else f"{rule}, {drafts}"


def look_of(rule: str, drafts: str) -> dict[str, Any]:
    """Return how a line is drawn: colour by rule, an open marker where lines may coincide."""
    if rule == OPTIMUM:
        look = {"color": "#000000", "marker": "o", "linewidth": 2.0}
        look |= {"markersize": LAWS[drafts].marker_size}
        return look if drafts == IID.name else look | {"markerfacecolor": "none"}
    known = next(known for known in compared_rules() if known.title == rule)
    look = {"color": known.colour, "marker": known.marker, "linewidth": 1.4}
    if known.broad:
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if known.only_k == 1:
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def _shade_gap(axes: Axes, lines: Lines) -> None:
    """Shade between the optimum for i.i.d. drafts and the best of what is below it."""
    top = lines.get((OPTIMUM, IID.name))
    if top is None:
        return
    rules = [line for (rule, law), line in lines.items() if law == IID.name and rule != OPTIMUM]
    below = [line for line in rules if not all(attains(line[k], top[k]) for k in line)]
    if not below:
        return
    best = [max((line[k] for line in below if k in line), default=top[k]) for k in top]
    axes.fill_between(
        list(top),
        best,
        list(top.values()),
        color="#F0E442",
        alpha=0.45,
        linewidth=0,
        label=f"what the other {IID.words} rules leave",
    )


def _lines(rows: list[Summary | Comparison]) -> Lines:
    """Group rows into lines: (rule, drafts) -> k -> acceptance, k ascending."""
    lines: Lines = {}
    for row in sorted(rows, key=lambda row: row.k):
        lines.setdefault((row.rule, row.drafts), {})[row.k] = float(row.acceptance)
    return lines
