"""A chart of choices: what each keeps against what it costs, and how much faster that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from otspec._base.arguments import as_instance
from otspec.advice.advice import Advice
from otspec.advice.evaluation.candidates import CHAIN_RULES, NO_DRAFT
from otspec.advice.evaluation.choices import Choice
from otspec.plots import explain, look_of_several
from otspec.plots.axes import MOST_NAMES, UNNAMED, legend_beside
from otspec.plots.canvas import ink, panel_on
from otspec.plots.pictures import titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CHAINS = {rule.title for rule in CHAIN_RULES}
_BOTTOM = 0.9
"""Of the tokens per call, which are 1 at least."""
_CORNER = 0.08
"""The part of an axis within which a ray has no number."""
_RAYS = 6
"""About how many lines of equal speed there are."""


def draw_pareto(advice: Advice, ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of each choice against its seconds, as parts of a call without.

    The steps join the choices than which none keeps more in no more time. Along a gray line through
    the origin all choices are equally fast, so many times as fast as without drafts; the best is
    ringed. Of more than six rules the five with the fastest choices have names; the others are
    gray. Without ``ax`` a figure in the package's style is made. Raises ``ValueError``: no advice,
    or Matplotlib is not installed.
    """
    as_instance(advice, "advice", Advice, "an Advice, as advise() returns it")
    alone = next(one.seconds for one in advice.choices if one.rule == NO_DRAFT)
    marks: dict[str, list[Choice]] = {}
    for choice in advice.choices:
        marks.setdefault(choice.rule, []).append(choice)
    times = [one.seconds / alone for one in advice.choices]
    margin = 0.06 * max(max(times) - min(times), 0.1)
    left, right = max(min(times) - margin, 0.01), max(times) + margin
    top = 0.3 + max(float(one.tokens) for one in advice.choices)
    with panel_on(ax) as panel:
        _draw_rays(panel, left, right, top)
        front = advice.pareto()
        (steps,) = panel.step(
            [one.seconds / alone for one in front], [float(one.tokens) for one in front],
            where="post", color=ink(), linewidth=1.2, zorder=2, label="the most for the time",
        )  # fmt: skip
        shown: dict[str, Any] = {str(steps.get_label()): steps}
        named = _fastest(marks)
        for rule, choices in marks.items():
            look = look_of_several(rule) | {"linestyle": "none"}
            if rule in _CHAINS:
                look |= {"markerfacecolor": "none", "markersize": 9}
            (drawn,) = panel.plot(
                [one.seconds / alone for one in choices], [float(one.tokens) for one in choices],
                label=rule, **(look if rule in named or rule == NO_DRAFT else UNNAMED),
            )  # fmt: skip
            explain(drawn, [_words(one) for one in choices])
            if rule in named:
                shown[rule] = drawn
            elif rule != NO_DRAFT:
                shown[f"{len(marks) - 1 - len(named)} other rules"] = drawn
        best = advice.best
        places = {"the fastest": best, NO_DRAFT: marks[NO_DRAFT][0]}
        panel.plot(
            [best.seconds / alone], [float(best.tokens)], marker="o", markersize=14,
            markerfacecolor="none", markeredgecolor="#D55E00", markeredgewidth=2, linestyle="none",
            label="the fastest",
        )  # fmt: skip
        for name, one in places.items():
            panel.annotate(
                name, (one.seconds / alone, float(one.tokens)), (0, 10), va="bottom", ha="center",
                textcoords="offset points", fontsize="small", color=ink(),
            )  # fmt: skip
        panel.set_xlim(left, right)
        panel.set_ylim(_BOTTOM, top)
        panel.set_xlabel("time of a call with its drafts, in calls without")
        panel.set_ylabel("tokens per call of the target")
        return legend_beside(panel, handles=list(shown.values()), labels=list(shown))


def _fastest(marks: dict[str, list[Choice]]) -> Sequence[str]:
    """Return the rules that have names: all if they are few, else those with fast choices."""
    rules = [rule for rule in marks if rule != NO_DRAFT]
    if len(rules) <= MOST_NAMES:
        return rules
    best = {rule: max(one.speed_up for one in marks[rule]) for rule in rules}
    return sorted(rules, key=lambda rule: -best[rule])[: MOST_NAMES - 1]


def _words(choice: Choice) -> str:
    """Return what a mark shows."""
    tree = f", {choice.tree}" if choice.tree else ""
    return (
        f"{choice.rule}{tree}: {float(choice.tokens):.4f} tokens per call, "
        f"{choice.speed_up:.3f} times as fast"
    )


def _draw_rays(ax: Axes, left: float, right: float, top: float) -> None:
    """Draw lines of equal speed, each with its number where it leaves the axes."""
    step = _round((top / left - _BOTTOM / right) / _RAYS)
    for speed in np.arange(step, top / left, step):
        end = min(right, top / speed)
        if speed * end > _BOTTOM and end > left:
            ax.plot([left, end], [speed * left, speed * end], color="#BBBBBB", lw=0.7, zorder=0)
            # A number in a corner would lie on the numbers of the axes.
            beside = (end - left) / (right - left), (speed * end - _BOTTOM) / (top - _BOTTOM)
            if min(beside) < _CORNER:
                continue
            ax.annotate(
                f"×{speed:g} ", (end, speed * end), color="#777777", fontsize="small", ha="right",
                va="top",
            )  # fmt: skip


def _round(number: float) -> float:
    """Return a quarter, a half or a whole number near a number above 0."""
    return max(0.25, round(number * 4) / 4 if number < 1 else round(number * 2) / 2)


def pareto_figure(advice: Advice, *, title: str) -> Figure:
    """Return a picture of its own of what :func:`draw_pareto` draws."""
    with titled(title, height=4.6) as figure:
        draw_pareto(advice, figure.add_subplot())
        return figure
