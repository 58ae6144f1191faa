"""Acceptance against the number of drafts."""

from collections.abc import Iterable, Mapping
from typing import Any

from otspec._base import Number, as_list, as_real, shown
from otspec.distributions import as_k
from otspec.drafts import IID
from otspec.estimate import value_of
from otspec.optimum import Optimum
from otspec.plots import axes
from otspec.plots.axes import MOST_NAMES
from otspec.plots.canvas import Axes, decimals, explain, panel_on
from otspec.rules import Rule
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.summary import attains

Lines = dict[tuple[str, str], dict[int, Number]]  # (rule, drafts) -> k -> acceptance

_BAND = "optimum minus best other rule"
_WANTED = "rows of a comparison, rules, optima, or a dict of names to {k: acceptance}"


def acceptance(
    results: Iterable[Row | Rule | Optimum] | Mapping[str, Mapping[int, Number]],
    ax: Axes | None = None,
) -> Axes:
    """Draw acceptance against k, one line for each rule and draft law.

    Up to six lines have their names at their right ends, more have a legend. The optimum has the
    color of the text. A rule that attains it is a broad line behind it, and shares its name. The
    band between the best optimum and the best of the other rules is shaded. Each draft law has its
    line style.

    Parameters
    ----------
    results : iterable or mapping
        Rows of :func:`otspec.traces.compare`, of ``summarize`` or of a run, at one temperature;
        rules, whose acceptance is computed here; optima of :func:`otspec.optimal_acceptance`; or
        all of these. A mapping has numbers of your own for i.i.d. drafts, by the title of a rule or
        any other name, such as ``{"optimum": {1: 0.6, 2: 0.85}}``.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    ValueError
        Two numbers for one place; :class:`otspec.rules.NotExactError`: a rule that has no formula,
        and too many tuples.
    """
    lines = _lines(results)
    with panel_on(ax) as panel:
        _shade_gap(panel, lines)
        drawn = {}
        for (rule, drafts), line in lines.items():
            look = axes.look_of(rule, drafts) | {"linestyle": axes.style_of(drafts)}
            values = [float(value) for value in line.values()]
            (drawn[rule, drafts],) = panel.plot(
                list(line), values, label=axes.label_of(rule, drafts), **look
            )
            explain(drawn[rule, drafts], [_words(rule, drafts, k, lines) for k in line])
        axes.against_counts(panel, sorted({k for line in lines.values() for k in line}))
        panel.set_ylabel("probability that a draft is accepted")
        panel.grid(alpha=0.25)
        names = _names(lines)
        if len(names) > MOST_NAMES:
            return axes.legend_beside(panel)
        if panel.collections:
            panel.annotate(
                f"shaded: {_BAND}", (0.98, 0.03), xycoords="axes fraction", ha="right",
            )  # fmt: skip
        return axes.label_ends(panel, {name: drawn[line] for name, line in names.items()})


def _names(lines: Lines) -> dict[str, tuple[str, str]]:
    """Return what stands beside each line; rules that attain the optimum are named with it."""
    attaining: dict[str, list[str]] = {}
    others = {}
    for (rule, drafts), line in lines.items():
        best = lines.get((OPTIMUM, drafts), {})
        if rule == OPTIMUM:
            attaining.setdefault(drafts, [])
        elif best and all(attains(value, best.get(k, value)) for k, value in line.items()):
            # Rules for fewer numbers of drafts, such as one, end elsewhere: the optimum has a name.
            attaining.setdefault(drafts, []).extend([rule] if list(line) == list(best) else [])
        else:
            others[axes.label_of(rule, drafts)] = rule, drafts
    one = len(attaining) == 1
    optima = {
        "\n= ".join([OPTIMUM if one else axes.label_of(OPTIMUM, drafts), *rules]): (OPTIMUM, drafts)
        for drafts, rules in attaining.items()
    }
    return optima | others


def _lines(results: Any) -> Lines:
    """Return what is drawn, k ascending."""
    if isinstance(results, Mapping):
        points = _own(results)
    else:
        points = [_point(i, each) for i, each in enumerate(as_list(results, "results", _WANTED))]
    if not points:
        raise ValueError(f"results is empty: pass {_WANTED}")
    found: Lines = {}
    for rule, drafts, k, value in points:
        line = found.setdefault((rule, drafts), {})
        if line.setdefault(k, value) != value:
            raise ValueError(
                f"results has {shown(line[k])} and {shown(value)} for {rule}, {drafts} drafts, "
                f"k = {k}: pass results of one pair and one temperature, or their means"
            )
    return {name: dict(sorted(line.items())) for name, line in found.items()}


def _point(index: int, result: Any) -> tuple[str, str, int, Number]:
    if isinstance(result, Row):
        return result.rule, result.drafts, result.k, value_of(result.acceptance)
    if isinstance(result, Rule):
        return result.title, _drafts_of(result.law), result.k, result.acceptance()
    if isinstance(result, Optimum):
        return OPTIMUM, _drafts_of(result.law), result.law.k, result.acceptance
    raise ValueError(f"results[{index}] is {shown(result)}: pass {_WANTED}")


def _drafts_of(law: Any) -> str:
    """Return what a draft law is called: by its class, if it has no name."""
    return str(getattr(law, "name", type(law).__name__))


def _own(results: Mapping[Any, Any]) -> list[tuple[str, str, int, Number]]:
    points = []
    for name, line in results.items():
        if not isinstance(name, str) or not isinstance(line, Mapping):
            raise ValueError(f"results holds {shown(name)}: {shown(line)}: pass {_WANTED}")
        for k, value in line.items():
            where = f"results[{shown(name)}][{shown(k)}]"
            number = as_real(value, where, 0, 1)
            points.append((name, IID.name, as_k(k, f"{where}'s k"), number))
    return points


def _words(rule: str, drafts: str, k: int, lines: Lines) -> str:
    """Return what a mark shows."""
    value = lines[rule, drafts][k]
    words = f"{axes.label_of(rule, drafts)}, k = {k}: {decimals(value)}"
    best = lines.get((OPTIMUM, drafts), {}).get(k)
    if best is None or rule == OPTIMUM:
        return words
    if attains(value, best):
        return f"{words}, the optimum"
    return f"{words}, {decimals(best - value)} below the optimum"


def _shade_gap(panel: Axes, lines: Lines) -> None:
    """Shade the band between the best optimum and the best rule that attains none."""
    optima = {law: line for (rule, law), line in lines.items() if rule == OPTIMUM}
    below = [
        line for (_, law), line in lines.items()
        if not all(attains(line[k], optima.get(law, {}).get(k, line[k])) for k in line)
    ]  # fmt: skip
    if not below:
        return
    ks = sorted({k for line in optima.values() for k in line})
    top = [max(float(line[k]) for line in optima.values() if k in line) for k in ks]
    best = [
        max((float(line[k]) for line in below if k in line), default=most)
        for k, most in zip(ks, top, strict=True)
    ]
    panel.fill_between(ks, best, top, color="#F0E442", alpha=0.45, linewidth=0, label=_BAND)
