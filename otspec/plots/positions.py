"""How far rules are from the optimum: position by position, and against the temperature."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from otspec._base import as_instance, as_list
from otspec.plots.axes import as_rows, label_of, legend_beside, look_of
from otspec.plots.canvas import WIDE, Axes, decimals, explain, ink, panel_on
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.statistics import Statistic
from otspec.traces.summary import attains, temperatures_of

_POSITIONS = "lists of Comparison objects, one per position"


def gaps(positions: Iterable[Sequence[Row]], ax: Axes | None = None) -> Axes:
    """Draw how far each rule is below the optimum of its drafts, position by position.

    Each rule has a row, with a mark for each position and a bar at the median; the rule with the
    largest median is at the top.

    Parameters
    ----------
    positions : iterable of sequence of Comparison
        What :func:`otspec.traces.compare` returns for each position of a trace, as for
        :func:`otspec.traces.summarize`.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

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
    one_k = len({k for _, _, k in found}) == 1
    values = {
        key: [0.0 if attains(it.acceptance, it.optimum) else float(it.gap) for it in own.values()]
        for key, own in found.items()
    }
    with panel_on(ax, (WIDE[0], 0.9 + 0.26 * len(found))) as panel:
        names = []
        for place, key in enumerate(sorted(values, key=lambda key: -median(values[key]))):
            rule, drafts, k = key
            names.append(label_of(rule, drafts) + ("" if one_k else f", k = {k}"))
            look = look_of(rule, drafts) | {"linestyle": "none", "markersize": 5, "alpha": 0.6}
            (line,) = panel.plot(values[key], [place] * len(values[key]), label=names[-1], **look)
            told = found[key].items()
            explain(line, [f"{names[-1]}, position {at}: {decimals(row.gap)}" for at, row in told])
            panel.plot(median(values[key]), place, color=ink(), marker="|", markersize=12)
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.set_xlim(left=-0.01 * max(1e-9, *map(max, values.values())))
        panel.set_xlabel(f"gap to the optimum at each of {len(places)} positions; bar: the median")
        panel.grid(alpha=0.25, axis="x")
        return panel


def gap_quantiles(rows: Iterable[Statistic], ax: Axes | None = None) -> Axes:
    """Draw the distribution of the gap over the positions, for each rule and k.

    A thin line from the 5% to the 95% quantile, a thick one from 25% to 75%, a mark at the median.

    Parameters
    ----------
    rows : iterable of Statistic
        Of a run, at one temperature.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

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


Line = dict[float, float]  # temperature of the target -> acceptance
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

    Raises
    ------
    ValueError
        No rows, rows of several draft laws or k, or something else; or Matplotlib is not installed.
    """
    found = as_statistics(rows)
    if len(largest_counts(found)) > 1 or len({row.k for row in found}) > 1:
        raise ValueError("rows are of several draft laws or k: pass those of one law and one k")
    alike = all(temperatures_of(row).alike for row in found)
    with panel_on(ax, (4.6, 4.4)) as panel:
        for label, line, look in _by_rule(found) if alike else _by_draft(found):
            (drawn,) = panel.plot(list(line), list(line.values()), label=label, **look)
            explain(drawn, [f"{label}, T = {t:g}: {decimals(at)}" for t, at in line.items()])
        panel.set_xticks(sorted({row.temperature for row in found}))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.set_xlabel("temperature" if alike else "temperature of the target")
        panel.set_ylabel("probability that a draft is accepted")
        panel.grid(alpha=0.25)
        return legend_beside(panel, below=True)


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
    for place, degree in enumerate(drafts):
        color = colormaps["plasma"](0.85 * place / max(1, len(drafts) - 1))
        own = [row for row in rows if row.draft_temperature == degree]
        look = {"color": color, "marker": _MARKS[place % len(_MARKS)], "markersize": 5}
        yield f"optimum, draft T = {degree:g}", _line(own, OPTIMUM), look
        if beside is not None:
            yield f"{beside}, draft T = {degree:g}", _line(own, beside), look | _BROKEN


def _line(rows: Iterable[Statistic], rule: str | None = None) -> Line:
    found = {row.temperature: row.acceptance for row in rows if rule in (None, row.rule)}
    return dict(sorted(found.items()))
