"""How far rules are from the optimum, position by position and over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from otspec._base.arguments import as_instance, as_list
from otspec.plots.axes import as_rows, legend_beside
from otspec.plots.canvas import WIDE, decimals, ink, panel_on
from otspec.plots.inline import explain
from otspec.plots.looks import label_of, look_of
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POSITIONS = "lists of Comparison objects, one per position"


def gaps(positions: Iterable[Sequence[Row]], ax: Axes | None = None) -> Axes:
    """Draw how far each rule is below the optimum of its drafts, position by position.

    Rules that attain the optimum everywhere are left out: the legend's title names them.

    Parameters
    ----------
    positions : iterable of sequence of Comparison
        What :func:`otspec.traces.compare` returns for each position of a trace, as for
        :func:`otspec.traces.summarise`.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        No position, something else, or no rule beside the optimum; or Matplotlib is not installed.
    """
    found: dict[tuple[str, str, int], dict[int, Row]] = {}
    places = as_list(positions, "positions", _POSITIONS)
    for place, rows in enumerate(places):
        for row in as_list(rows, f"positions[{place}]", _POSITIONS):
            as_instance(row, f"positions[{place}]", Row, "a list of Comparison objects")
            if row.rule != OPTIMUM:
                found.setdefault((row.rule, row.drafts, row.k), {})[place] = row
    if not found:
        raise ValueError(f"positions has no rows of rules: pass {_POSITIONS}")
    below = {
        key: rows for key, rows in found.items()
        if not all(attains(row.acceptance, row.optimum) for row in rows.values())
    }  # fmt: skip
    one_k = len({k for _, _, k in found}) == 1
    with panel_on(ax) as panel:
        for (rule, drafts, k), rows in below.items():
            name = label_of(rule, drafts) + ("" if one_k else f", k = {k}")
            (line,) = panel.plot(
                list(rows), [float(row.gap) for row in rows.values()], label=name,
                **look_of(rule, drafts) | {"linestyle": "none"},
            )  # fmt: skip
            explain(
                line,
                [f"{name}, position {place}: {decimals(row.gap)}" for place, row in rows.items()],
            )
        panel.set_xlim(-0.5, max(len(places) - 0.5, 0.5))
        panel.locator_params(axis="x", integer=True)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("position")
        panel.set_ylabel("gap to the optimum")
        panel.grid(alpha=0.25)
        none = list(dict.fromkeys(rule for rule, _, _ in found.keys() - below.keys()))
        if none and below:
            return legend_beside(panel, title="no gap:\n" + "\n".join(sorted(none)) + "\n\ngap:")
        return legend_beside(panel)


def gap_quantiles(rows: Iterable[Statistic], ax: Axes | None = None) -> Axes:
    """Draw the distribution of the gap over the positions, for each rule and k.

    A thin line from the 5% to the 95% quantile, a thick one from 25% to 75%, a mark at the median.

    Parameters
    ----------
    rows : iterable of Statistic
        Of a run, at one temperature.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    found = as_statistics(rows)
    lines = sorted(found, key=lambda row: (row.drafts, row.rule, row.k))
    with panel_on(ax, (WIDE[0], 0.8 + 0.22 * len(lines))) as panel:
        for place, row in enumerate(lines):
            color = look_of(row.rule, row.drafts)["color"]
            at = row.gap_quantiles
            words = [_words(row)]
            for low, high, width, alpha in ((0.05, 0.95, 1.2, 1.0), (0.25, 0.75, 5.0, 0.6)):
                (line,) = panel.plot(
                    [at[low], at[high]], [place, place], color=color, lw=width, alpha=alpha
                )
                explain(line, words)
            (mark,) = panel.plot([at[0.5]], [place], color=ink(), marker="|", markersize=10)
            explain(mark, words)
        names = [f"{label_of(row.rule, row.drafts)}, k = {row.k}" for row in lines]
        panel.set_yticks(range(len(lines)), names)
        panel.invert_yaxis()
        panel.set_xlim(left=0)
        panel.set_xlabel("gap to the optimum at a position")
        panel.grid(alpha=0.25, axis="x")
        return panel


def _words(row: Statistic) -> str:
    at = row.gap_quantiles
    return (
        f"{label_of(row.rule, row.drafts)}, k = {row.k}: the gap is at most {decimals(at[0.5])} at "
        f"half of the positions, from {decimals(at[0.05])} to {decimals(at[0.95])} at nine of ten"
    )


def as_statistics(rows: Iterable[Statistic]) -> list[Statistic]:
    """Check the rows of a run."""
    return as_rows(rows, Statistic, "rows of statistics_of, as a run has them")
