"""Charts as pictures of their own, with a title."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike

from otspec._base import as_path, needed
from otspec.drafts import LAWS
from otspec.plots.against_k import acceptance
from otspec.plots.canvas import STYLE, Figure, drawable, in_style, save
from otspec.plots.positions import gap_quantiles, largest_counts, temperatures
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attains, by_temperatures

DPI = 160  # of pictures for screens
_PANELS = 3  # beside each other
_LETTERS = {
    "font.size": 10, "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
}  # fmt: skip


def save_acceptance_chart(results: Iterable[Row], path: str | PathLike[str], *, title: str) -> None:
    """Draw acceptance against k, one panel for each draft law, and write the picture.

    Parameters
    ----------
    results : iterable of Row
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
    to = as_path(path)
    save(acceptance_figure(results, title=title), to, dpi=DPI)


def acceptance_figure(results: Iterable[Row], *, title: str) -> Figure:
    """Return the picture that :func:`save_acceptance_chart` writes."""
    panels = laws_apart(results)
    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    with titled(title, height=0.6 + 3.8 * lines, width=1 + 4.5 * columns) as figure:
        acceptance_panels(panels, figure, columns)
        return figure


def laws_apart(results: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each draft law that has several k; if none has, all rows together."""
    rows = list(results)
    by_law: dict[str, list[Row]] = {}
    for row in rows:
        by_law.setdefault(row.drafts, []).append(row)
    several = {law: own for law, own in by_law.items() if len({row.k for row in own}) > 1}
    return several or {"": rows}


def acceptance_panels(panels: Mapping[str, Sequence[Row]], figure: Figure, columns: int) -> None:
    """Draw acceptance against k on an empty figure, one panel for each draft law."""
    lines = -(-len(panels) // columns)
    places = figure.subplots(lines, columns, sharey=True, squeeze=False)
    for ax, (drafts, own) in zip(places.flat, panels.items(), strict=False):
        ax.set_title(f"{LAWS[drafts].words} drafts" if drafts in LAWS else "", loc="left")
        ax.set_ylim(0, 1.02)
        acceptance(own, ax)
        if ax not in places[:, 0]:
            ax.set_ylabel("")
    for ax in places.flat[len(panels) :]:
        ax.remove()


def gap_figure(rows: Sequence[Statistic], *, title: str) -> Figure | None:
    """Return a picture of :func:`gap_quantiles` at one temperature; None without any gap."""
    below = [r for r in rows if r.rule != OPTIMUM and not attains(r.acceptance, r.optimum)]
    if not below:
        return None
    with titled(title, height=1.2 + 0.28 * len(below)) as figure:
        gap_quantiles(below, figure.add_subplot())
        return figure


def temperature_figure(rows: Sequence[Statistic], *, title: str) -> Figure | None:
    """Return a picture of :func:`temperatures`, with a panel for each draft law and its largest k.

    None if there is one pair of temperatures only.
    """
    if len(by_temperatures(rows)) < 2:
        return None
    panels = largest_counts(rows)
    columns = min(len(panels), _PANELS)
    lines = -(-len(panels) // columns)
    with titled(title, width=max(5.0, 3.4 * columns), height=4.8 * lines) as figure:
        places = figure.subplots(lines, columns, sharey=True, squeeze=False).ravel()
        for ax, ((drafts, k), shown) in zip(places, panels.items(), strict=False):
            temperatures(shown, ax)
            ax.set_title(f"{drafts}, k = {k}")
            if ax is not places[0]:
                ax.set_ylabel("")
        for ax in places[len(panels) :]:
            ax.remove()
        return figure


@contextmanager
def titled(title: str, *, height: float, width: float = 7.0) -> Iterator[Figure]:
    """Give an empty picture with a title, in the common style, with letters for screens."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.figure import Figure

    with in_style(STYLE, _LETTERS):
        figure = Figure(figsize=(width, height))
        figure.suptitle(drawable(title), fontsize=11, parse_math=False)
        yield figure
