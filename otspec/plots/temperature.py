"""How acceptance depends on the temperatures of draft and target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from otspec.plots.axes import legend_below
from otspec.plots.canvas import decimals, panel_on
from otspec.plots.inline import explain
from otspec.plots.looks import look_of
from otspec.plots.positions import as_statistics
from otspec.traces.comparison import OPTIMUM
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attains
from otspec.traces.temperatures import heat_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line = dict[float, float]
"""Temperature of the target -> acceptance."""
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "h")
_BROKEN = {"linestyle": "--", "markerfacecolor": "none"}


def temperatures(rows: Iterable[Statistic], ax: Axes | None = None) -> Axes:
    """Draw acceptance against the temperature of the target, with a legend below.

    If the draft always has the target's temperature, there is a line for the optimum, and one for
    each rule. Otherwise there are two for each temperature of the draft, in a color and with a
    mark of its own: the optimum, and, broken and open, the best of the rules that do not attain it.

    Parameters
    ----------
    rows : iterable of Statistic
        Of one draft law and one k, at several temperatures.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        No rows, rows of several draft laws or k, or something else; or Matplotlib is not installed.
    """
    found = as_statistics(rows)
    if len(largest_counts(found)) > 1 or len({row.k for row in found}) > 1:
        raise ValueError("rows are of several draft laws or k: pass those of one law and one k")
    alike = all(heat_of(row).alike for row in found)
    with panel_on(ax, (4.6, 4.4)) as panel:
        for label, line, look in _by_rule(found) if alike else _by_draft(found):
            (drawn,) = panel.plot(list(line), list(line.values()), label=label, **look)
            explain(drawn, [f"{label}, T = {heat:g}: {decimals(at)}" for heat, at in line.items()])
        panel.set_xticks(sorted({row.temperature for row in found}))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.set_xlabel("temperature" if alike else "temperature of the target")
        panel.set_ylabel("probability that a draft is accepted")
        panel.grid(alpha=0.25)
        return legend_below(panel)


def largest_counts(rows: Iterable[Statistic]) -> dict[tuple[str, int], list[Statistic]]:
    """Return the rows of each draft law with its largest number of drafts, by law and k."""
    found: dict[str, list[Statistic]] = {}
    for row in rows:
        found.setdefault(row.drafts, []).append(row)
    most = {law: max(row.k for row in own) for law, own in found.items()}
    return {(law, k): [row for row in found[law] if row.k == k] for law, k in most.items()}


def best_below(rows: Sequence[Statistic]) -> str | None:
    """Return the rule with the highest mean of those that do not always attain the optimum."""
    means: dict[str, list[float]] = {}
    for row in rows:
        if any(not attains(other.acceptance, other.optimum) for other in rows
               if other.rule == row.rule):  # fmt: skip
            means.setdefault(row.rule, []).append(row.acceptance)
    return max(means, key=lambda rule: sum(means[rule]) / len(means[rule]), default=None)


def _by_rule(rows: Sequence[Statistic]) -> Iterable[tuple[str, Line, dict[str, Any]]]:
    for rule in dict.fromkeys(row.rule for row in rows):
        own = [row for row in rows if row.rule == rule]
        yield rule, _line(own), look_of(rule, own[0].drafts)


def _by_draft(rows: Sequence[Statistic]) -> Iterable[tuple[str, Line, dict[str, Any]]]:
    from matplotlib import colormaps

    drafts = sorted({row.draft_temperature for row in rows})
    beside = best_below(rows)
    for place, heat in enumerate(drafts):
        color = colormaps["plasma"](0.85 * place / max(1, len(drafts) - 1))
        own = [row for row in rows if row.draft_temperature == heat]
        look = {"color": color, "marker": _MARKS[place % len(_MARKS)], "markersize": 5}
        yield f"optimum, draft T = {heat:g}", _line(own, OPTIMUM), look
        if beside is not None:
            yield f"{beside}, draft T = {heat:g}", _line(own, beside), look | _BROKEN


def _line(rows: Iterable[Statistic], rule: str | None = None) -> Line:
    found = {row.temperature: row.acceptance for row in rows if rule in (None, row.rule)}
    return dict(sorted(found.items()))
