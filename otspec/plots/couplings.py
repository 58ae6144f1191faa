"""A plan as a heat map: which output comes with which drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from otspec._base.arguments import as_instance
from otspec._base.arithmetic import Array
from otspec._base.digits import counted
from otspec.optimum.plan import Plan
from otspec.plots.canvas import decimals, panel_on
from otspec.plots.inline import explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS = 2_000
_ACCEPTED, _REPLACED = "#0072B2", "#D55E00"
_FAINTEST, _STRONGEST = 0.12, 0.7
"""How opaque cells are: hatches, which are opaque, are seen on all."""
_HATCHED: dict[str, Any] = {"facecolor": "none", "edgecolor": _REPLACED, "hatch": "////"}
_SIDE, _DISTANCE = 0.16, 0.025
"""How wide the marginals are, and how far away, as parts of the heat map."""


def plan(coupling: Plan, ax: Axes | None = None) -> Axes:
    """Draw a plan: the probability of each tuple of drafts with each output, and both marginals.

    A row is a tuple of drafts, a column an output; the stronger the color, the likelier both are
    together, and what is impossible is blank. Blue: the output is one of the drafts; vermilion,
    hatched: it replaces them. At the right is the law of the drafts, above it the target. The
    legend has the acceptance, which is what is blue.

    Parameters
    ----------
    coupling : Plan
        As :func:`otspec.optimal_plan` returns it, with at most 2,000 cells.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the heat map; the marginals are on ``child_axes`` of it.

    Raises
    ------
    ValueError
        No plan, or one of more cells; or Matplotlib is not installed.
    """
    as_instance(coupling, "coupling", Plan, "a Plan, as optimal_plan returns it")
    law = coupling.law
    tokens = law.n
    if law.table_rows() * tokens > MOST_CELLS:
        raise ValueError(
            f"coupling has {counted(law.table_rows())} tuples of drafts and {tokens:,} tokens: at "
            f"most {MOST_CELLS:,} cells can be drawn, use fewer tokens or drafts"
        )
    tuples, masses = law.tuples()
    cells: Array = np.array([coupling.kernel(x) for x in tuples.tolist()])
    cells = (cells * masses.astype(cells.dtype)[:, None]).astype(float)
    size = 2.4 + 0.3 * tokens, 1.6 + 0.17 * len(tuples)
    with panel_on(ax, size) as panel:
        _draw_cells(panel, tuples.tolist(), cells)
        _draw_marginals(panel, tuples.tolist(), cells)
        _legend(panel, float(coupling.acceptance), float(cells.max()))
        panel.set_xticks(range(tokens), map(str, range(tokens)))
        names = [_named(x) for x in tuples.tolist()]
        panel.set_yticks(range(len(names)), names if len(names) <= 64 else [""] * len(names))
        panel.set_xlim(-0.5, tokens - 0.5)
        panel.set_ylim(len(tuples) - 0.5, -0.5)
        panel.set_xlabel("output")
        panel.set_ylabel("drafts")
        panel.grid(visible=False)
        return panel


def _named(drafts: list[int]) -> str:
    return ", ".join(map(str, drafts))


def _draw_cells(panel: Axes, tuples: list[list[int]], cells: Array) -> None:
    from matplotlib.patches import Rectangle

    most = cells.max()
    for (row, token), mass in np.ndenumerate(cells):
        if mass > 0:
            accepted = token in tuples[row]
            strength = _FAINTEST + (_STRONGEST - _FAINTEST) * mass / most
            fill: dict[str, Any] = {"facecolor": (_ACCEPTED if accepted else _REPLACED, strength)}
            how = "accepted" if accepted else "replaced by"
            # Hatches of their own: SVG makes them as faint as what is below them.
            for look in (fill,) if accepted else (fill, _HATCHED):
                cell = Rectangle((token - 0.48, row - 0.47), 0.96, 0.94, linewidth=0, **look)
                explain(cell, [f"drafts {_named(tuples[row])}, {how} {token}: {decimals(mass)}"])
                panel.add_patch(cell)


def _draw_marginals(panel: Axes, tuples: list[list[int]], cells: Array) -> None:
    """Draw the sums over rows and columns, which are the two laws."""
    above = panel.inset_axes((0.0, 1 + _DISTANCE, 1.0, _SIDE), sharex=panel)
    beside = panel.inset_axes((1 + _DISTANCE, 0.0, _SIDE, 1.0), sharey=panel)
    columns, rows = cells.sum(axis=0), cells.sum(axis=1)
    for token, bar in enumerate(above.bar(range(len(columns)), columns, 0.8, color="#999999")):
        explain(bar, [f"target of {token}: {decimals(columns[token])}"])
    for row, bar in enumerate(beside.barh(range(len(rows)), rows, 0.8, color="#999999")):
        explain(bar, [f"probability of the drafts {_named(tuples[row])}: {decimals(rows[row])}"])
    above.tick_params(labelbottom=False, bottom=False)
    beside.tick_params(labelleft=False, left=False)
    for side in (above, beside):
        side.grid(visible=False)
        side.locator_params(axis="y" if side is above else "x", nbins=2)
        side.spines[["top", "right"]].set_visible(False)
    above.set_ylabel("target")
    beside.set_xlabel("draft law")


def _legend(panel: Axes, acceptance: float, most: float) -> None:
    from matplotlib.patches import Patch

    accepted = Patch(facecolor=(_ACCEPTED, _STRONGEST), linewidth=0)
    replaced = Patch(facecolor=(_REPLACED, _STRONGEST / 2), linewidth=0)
    panel.legend(
        [accepted, (replaced, Patch(linewidth=0, **_HATCHED))],
        [
            f"a draft is the output: {decimals(acceptance)}",
            f"drafts are replaced: {decimals(1 - acceptance)}",
        ],
        title=f"color: probability, up to {decimals(most)}",
        loc="lower left",
        bbox_to_anchor=(0.0, 1 + _DISTANCE + _SIDE),
        alignment="left",
        frameon=False,
    )
