"""A chart of choices: what each keeps against what it costs, and how much faster that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from otspec.advice.advice import Advice
from otspec.advice.candidates import NO_DRAFT
from otspec.advice.choices import Choice
from otspec.traces.charts import legend_beside, look_of_several
from otspec.traces.charts.pictures import titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RAYS = 6
"""About how many lines of equal speed there are."""


def draw_pareto(axes: Axes, advice: Advice) -> Axes:
    """Draw the tokens per call of each choice against its seconds, as parts of a call without.

    The black steps join the choices than which none keeps more in no more time. Along a grey line
    through the origin all choices are equally fast, so many times as fast as without drafts; the
    best is ringed.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    advice : Advice
    """
    alone = next(one.seconds for one in advice.choices if one.rule == NO_DRAFT)
    marks: dict[str, list[Choice]] = {}
    for choice in advice.choices:
        marks.setdefault(choice.rule, []).append(choice)
    right = 1.05 * max(one.seconds for one in advice.choices) / alone
    top = 0.5 + max(float(one.tokens) for one in advice.choices)
    _draw_rays(axes, right, top)
    front = advice.pareto()
    axes.step(
        [one.seconds / alone for one in front], [float(one.tokens) for one in front],
        where="post", color="#000000", linewidth=1.2, zorder=2, label="the most for the time",
    )  # fmt: skip
    for rule, choices in marks.items():
        look = look_of_several(rule) | {"linestyle": "none"}
        axes.plot(
            [one.seconds / alone for one in choices], [float(one.tokens) for one in choices],
            label=rule, **look,
        )  # fmt: skip
    best = advice.best
    axes.plot(
        [best.seconds / alone], [float(best.tokens)], marker="o", markersize=14,
        markerfacecolor="none", markeredgecolor="#D55E00", markeredgewidth=2, linestyle="none",
        label="the fastest",
    )  # fmt: skip
    axes.set_xlim(0, right)
    axes.set_ylim(0, top)
    axes.set_xlabel("time of a call with its drafts, in calls without")
    axes.set_ylabel("tokens per call of the target")
    return legend_beside(axes)


def _draw_rays(axes: Axes, right: float, top: float) -> None:
    """Draw lines of equal speed, each with its number where it leaves the axes."""
    fastest = top / 1.0
    step = _round(fastest / _RAYS)
    for speed in np.arange(step, fastest, step):
        axes.plot([0, right], [0, speed * right], color="#BBBBBB", linewidth=0.7, zorder=0)
        x, y = (right, speed * right) if speed * right < top else (top / speed, top)
        axes.annotate(
            f"×{speed:g}", (x, y), color="#777777", fontsize=7, ha="right", va="top",
            annotation_clip=True,
        )  # fmt: skip


def _round(number: float) -> float:
    """Return a quarter, a half or a whole number near a number above 0."""
    return max(0.25, round(number * 4) / 4 if number < 1 else round(number * 2) / 2)


def pareto_figure(advice: Advice, *, title: str) -> Figure:
    """Return a picture of its own of what :func:`draw_pareto` draws."""
    figure, axes = titled(title, height=4.6)
    draw_pareto(axes, advice)
    return figure
