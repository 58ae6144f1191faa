"""Axes, lines and legends that several plots have: the same look of a rule in every chart."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from otspec._base import Number, as_instance, as_list, shown
from otspec.drafts import IID
from otspec.estimate import Estimate, Quantity
from otspec.plots.canvas import Axes, Line2D, decimals, drawable, explain, ink, letters
from otspec.traces.comparison import OPTIMUM

_OF_OPTIMUM: dict[str, Any] = {"marker": "o", "linewidth": 2.0}


class Look(NamedTuple):
    """How the line of a rule is drawn."""

    color: str  # as Matplotlib writes it
    marker: str
    # ``"broad"`` behind the line of the optimum, which the rule attains; ``"single"`` with a large
    # open marker, for a rule for one draft; ``"tree"`` dashed with an open marker, for a rule for
    # whole trees
    drawn: str = ""


LOOKS: dict[str, Look] = {  # by the titles of rules; those of your own rules can be added
    # for one token: Okabe and Ito's colors first, which colorblind readers can tell apart
    "k-sequential": Look("#0072B2", "s"),
    "recursive rejection": Look("#D55E00", "^"),
    "importance sampling": Look("#AA4499", "X"),
    "maximal coupling": Look("#999999", "v", "single"),
    "naive sampling": Look("#56B4E9", "o"),
    "recursive rejection (distinct)": Look("#009E73", "D"),
    "SpecHub": Look("#E69F00", "P"),
    "SpecHub (two hubs)": Look("#AA7700", "p"),
    "pooled selection": Look("#CC79A7", "h", "broad"),
    "pooled selection (earliest)": Look("#CC79A7", "h", "broad"),
    "pooled selection (distinct)": Look("#6650C8", "p", "broad"),
    "coupling of the drawn draft": Look("#B0306A", "d"),
    "shared noise": Look("#8C510A", ">"),
    "shared noise (lists)": Look("#BF812D", "<"),
    "target-only verification": Look("#117733", "*"),
    # for one token, lossy
    "lenience": Look("#0072B2", "o", "single"),
    "lenience by entropy": Look("#0072B2", "<", "single"),
    "mentored decoding": Look("#56B4E9", "s", "single"),
    "interpolated target": Look("#117733", "^", "single"),
    "Cactus": Look("#009E73", "d", "single"),
    "typical acceptance": Look("#D55E00", "D", "single"),
    "relaxed acceptance (top)": Look("#E69F00", "P", "single"),
    "rollback": Look("#B0306A", "v", "single"),
    "fuzzy verification": Look("#CC79A7", "X", "single"),
    "cascade by position": Look("#6650C8", "p", "single"),
    "cascade by token": Look("#AA4499", "h", "single"),
    "target-only with thresholds": Look("#999999", "*"),
    # for one block
    "token verification": Look("#0072B2", "s"),
    "block verification (published)": Look("#009E73", "v"),
    "block verification (preprint)": Look("#D55E00", "o"),
    "hierarchical speculative decoding (public code, lossy)": Look("#CC79A7", "d"),
    # for a tree: those of the rule for one token that they lift
    "traversal verification": Look("#D55E00", "^", "tree"),
    "universal tree": Look("#CC79A7", "h", "tree"),
    "universal tree (earliest)": Look("#6699CC", "<", "tree"),
    "traversal verification (distinct)": Look("#009E73", "D", "tree"),
    "universal tree (distinct)": Look("#6650C8", "p", "tree"),
    "greedy multi-path": Look("#AA4499", "X", "tree"),
}

UNKNOWN = Look("#666666", "x")
"""The look of a rule that :data:`LOOKS` lacks."""

LAW_LOOKS: dict[str, tuple[str | tuple[int, tuple[int, ...]], int]] = {
    "iid": ("-", 6),
    "without-replacement": ("--", 9),
    "hub": (":", 12),
    "top-plus-one": ("-.", 15),
    "top": ((0, (5, 1, 1, 1, 1, 1)), 18),
}
"""By draft law: line style, and size of the marks of the optimum, which may lie on one another."""


def as_title(rule: Any) -> str:
    """Check the title of a rule."""
    if not isinstance(rule, str):
        raise ValueError(f"rule is {shown(rule)}: pass the title of a rule, or 'optimum'")
    return rule


def look_of(rule: str, drafts: str = IID.name) -> dict[str, Any]:
    """Return how a line is drawn: color by rule, an open marker where lines may coincide.

    Parameters
    ----------
    rule : str
        The title of a rule for one token, or ``"optimum"``, which has the color of the ink in the
        style at hand; one that :data:`LOOKS` lacks is gray.
    drafts : str
        The draft law, by name.

    Returns
    -------
    dict
        Keywords of ``Axes.plot``.

    Raises
    ------
    ValueError
        A title that is no text; or Matplotlib is not installed.
    """
    if as_title(rule) == OPTIMUM:
        look = _OF_OPTIMUM | {"color": ink(), "markersize": LAW_LOOKS.get(drafts, ("-", 5))[1]}
        return look if drafts == IID.name else look | {"markerfacecolor": "none"}
    color, marker, drawn = LOOKS.get(rule, UNKNOWN)
    look = {"color": color, "marker": marker, "linewidth": 1.4}
    if drawn == "broad":
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if drawn == "single":
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def look_of_several(rule: str) -> dict[str, Any]:
    """Return how the line of a rule for several tokens is drawn.

    Parameters
    ----------
    rule : str
        The title of a rule for blocks or for trees, or of one for one token, which trees apply
        depth by depth; ``"optimum"``; one that :data:`LOOKS` lacks is gray. Rules for whole trees
        have the color and the marker of the rule that they lift, open and with a dashed line.

    Returns
    -------
    dict
        Keywords of ``Axes.plot``.

    Raises
    ------
    ValueError
        A title that is no text; or Matplotlib is not installed.
    """
    if as_title(rule) == OPTIMUM:
        opened = {"markersize": 10, "markerfacecolor": "none", "zorder": 1.5}
        return _OF_OPTIMUM | {"color": ink()} | opened
    color, marker, drawn = LOOKS.get(rule, UNKNOWN)
    look = {"color": color, "marker": marker, "linewidth": 1.4, "markersize": 5}
    opened = {"linestyle": "--", "markerfacecolor": "none", "markersize": 8}
    return look | (opened if drawn == "tree" else {})


def style_of(drafts: str) -> str | tuple[int, tuple[int, ...]]:
    """Return the line style of a draft law; a solid line for one without a name."""
    return LAW_LOOKS.get(drafts, ("-", 5))[0]


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, or of which drafts the optimum is, but for i.i.d."""
    return rule if rule != OPTIMUM or drafts == IID.name else f"{rule}, {drafts}"


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
