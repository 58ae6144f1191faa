"""Pooled selection: the law of the selected draft between its bounds, and the barriers."""

from itertools import pairwise
from typing import Any

import numpy as np

from otspec._base import Array, as_instance, as_real
from otspec.drafts import IID
from otspec.plots.axes import legend_beside
from otspec.plots.canvas import WIDE, Axes, decimals, explain, ink, panel_on
from otspec.rules.pooled.base import PooledRule

_LAW, _BOUND, _GROUPS, _UNIFORM = "#0072B2", "#D55E00", ("#56B4E9", "#E69F00"), "#CC79A7"
_MOST_MARKS = 120
_NARROW = 0.02  # narrower groups have no room for their number
_WANTED = "PooledSelection or PooledSelectionWithoutReplacement"


def selection(rule: PooledRule, ax: Axes | None = None) -> Axes:
    """Draw the law of the selected draft over the draft mass below each knot, between its bounds.

    All curves are cumulative: how likely the target (Q), the selected draft (B) and all drafts (G)
    are below a knot, the boundary of two pools. B is nowhere below G, as no selection is; the rule
    is optimal if B is nowhere above the dotted curve, which is Q lifted until it touches G at the
    cut s.
    """
    as_instance(rule, "rule", PooledRule, _WANTED)
    knots, target, selected, bound = _curves(rule)
    cut = rule.wanted_law.cut
    few = len(knots) <= _MOST_MARKS
    with panel_on(ax, WIDE) as panel:
        panel.plot(
            knots, target + (bound[cut] - target[cut]), ":", color=ink(), lw=1.2,
            label="Q lifted to G at the cut",
        )  # fmt: skip
        if isinstance(rule.law, IID):
            u = np.linspace(0, 1, 201)
            panel.plot(u, u**rule.k, color=_BOUND, lw=1.0, zorder=1.9)
        looks: tuple[tuple[str, Array, dict[str, Any]], ...] = (
            ("B, selected draft", selected, {"color": _LAW, "marker": "o", "lw": 2.0, "ms": 5}),
            ("G, all drafts below", bound, {"color": _BOUND, "marker": "s", "ms": 4}),
            ("Q, target", target, {"color": ink(), "marker": "^", "ms": 4, "ls": "--", "lw": 1.0}),
        )
        for name, curve, look in looks:
            (line,) = panel.plot(knots, curve, label=name, **look | ({} if few else {"marker": ""}))
            if name.startswith("G") and isinstance(rule.law, IID):
                line.set_linestyle("-" if not few else "none")
            if few:
                at = zip(map(decimals, knots), map(decimals, curve), strict=True)
                explain(line, [f"{name}, below u = {u}: {height}" for u, height in at])
        panel.axvline(knots[cut], color="#999999", lw=1, zorder=0)
        side = 1 if knots[cut] < 0.5 else -1
        panel.annotate(
            "cut s", (knots[cut], 1.0), xytext=(3 * side, 1), textcoords="offset points",
            ha="left" if side > 0 else "right",
        )  # fmt: skip
        return _finished(panel, 1.08, "cumulative probability")


def barriers(rule: PooledRule, ax: Axes | None = None, *, uniform: Any = None) -> Axes:
    """Draw for how long each knot is a barrier: below which uniform number it parts the drafts.

    A knot with an arrow always is one: the cut and both ends. At a given uniform number w, drafts
    compete within the groups between two barriers, which are shaded and numbered.

    Parameters
    ----------
    rule : PooledSelection or PooledSelectionWithoutReplacement
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.
    uniform : number, optional
        From 0 to 1: a uniform number whose groups are shaded.

    Raises
    ------
    ValueError
        Another rule, or no such number; or Matplotlib is not installed.
    """
    as_instance(rule, "rule", PooledRule, _WANTED)
    at = None if uniform is None else as_real(uniform, "uniform", 0, 1)
    knots, lifetimes = rule.knots.astype(float), rule.lifetimes
    alive = np.flatnonzero(lifetimes > 0)
    always = np.array([lifetimes[j] == np.inf for j in alive])
    with panel_on(ax, WIDE) as panel:
        if at is not None:
            chosen = [j for j in alive.tolist() if lifetimes[j] > at]
            _draw_groups(panel, knots[chosen], float(at))
        few = len(alive) <= _MOST_MARKS
        size = 5 if few else 2
        for marker, places, tops, color, name in (
            ("^", alive[always], np.full(always.sum(), 1.08), ink(), "always a barrier"),
            ("o", alive[~always], lifetimes[alive[~always]].astype(float), _LAW, "for a time"),
        ):
            panel.vlines(knots[places], 0, tops, color=color, lw=2.0 if few else 0.8)
            (marks,) = panel.plot(knots[places], tops, marker, color=color, ms=size, label=name)
            if few and len(places):
                explain(marks, [_lived(knots[j], lifetimes[j]) for j in places])
        return _finished(panel, 1.14, "lifetime of the knot")


def _finished(panel: Axes, top: float, label: str) -> Axes:
    panel.set(xlim=(-0.02, 1.02), ylim=(-0.03, top))
    panel.set(xlabel="draft mass below the knot, u", ylabel=label)
    panel.grid(alpha=0.25)
    return legend_beside(panel)


def _curves(rule: PooledRule) -> tuple[Array, Array, Array, Array]:
    """Return the knots, and Q, B and G there, as floats."""
    found = rule.barriers
    pools = found.pools
    masses = pools.target, found.slopes * pools.draft
    target, selected = (np.concatenate([[0.0], np.cumsum(each.astype(float))]) for each in masses)
    return rule.knots.astype(float), target, selected, found.heights.values.astype(float)


def _draw_groups(panel: Axes, ends: Array, uniform: float) -> None:
    for index, (start, end) in enumerate(pairwise(ends.tolist())):
        color = _GROUPS[index % 2]
        panel.axvspan(start, end, color=color, alpha=0.2, lw=0, zorder=0)
        if end - start > _NARROW:
            panel.annotate(str(index + 1), ((start + end) / 2, 1.02), ha="center")
    (line,) = panel.plot(
        [0, 1], [uniform, uniform], "--", color=_UNIFORM, lw=1.3, label=f"w = {uniform:g}"
    )
    explain(line, [f"at the uniform number {uniform:g} drafts compete in {len(ends) - 1} groups"])


def _lived(knot: float, lifetime: Any) -> str:
    how = "always" if lifetime == np.inf else f"below the uniform number {decimals(lifetime)}"
    return f"the knot at u = {decimals(knot)} is a barrier {how}"
