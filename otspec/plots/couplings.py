"""An optimum with its cut as bars, and a plan as a heat map: which output with which drafts."""

from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Number, as_choice, as_instance, as_integer, counted
from otspec.drafts import SingleDraftLaw
from otspec.optimum import Optimum, cut_bound
from otspec.optimum.plan import Plan
from otspec.plots.canvas import WIDE, Axes, decimals, explain, ink, panel_on

MOST_CELLS = 2_000
_ACCEPTED, _REPLACED = "#0072B2", "#D55E00"
_FAINTEST, _STRONGEST = 0.12, 0.7  # opacity of cells: opaque hatches show on all
_HATCHED: dict[str, Any] = {"facecolor": "none", "edgecolor": _REPLACED, "hatch": "////"}
_SIDE, _DISTANCE = 0.16, 0.025  # width and distance of the marginals, as parts of the heat map


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
        ends = {"xlim": (-0.5, tokens - 0.5), "ylim": (len(tuples) - 0.5, -0.5)}
        panel.set(**ends, xlabel="output", ylabel="drafts")
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


ORDERS = ("ratio", "token")
MOST_TOKENS = 200
_OF_DRAFT: dict[str, Any] = {"facecolor": "#0072B2"}
_OF_TARGET: dict[str, Any] = {"facecolor": "none", "edgecolor": "#D55E00", "hatch": "////"}
_CUT = "#999999"
_WIDTH = 0.4


class _Column(NamedTuple):
    name: str
    draft: Number
    target: Number
    inside: bool


def cut(optimum: Optimum, ax: Axes | None = None, *, order: str = "ratio", most: int = 40) -> Axes:
    """Draw draft and target, token by token, the cut that proves the optimum, and its two terms.

    For the tokens A of the cut, which are on gray, acceptance = q(A) + 1 − P(all drafts inside A):
    the legend has both terms. In a draft law of several distributions, draft masses are means of
    its marginals.

    Parameters
    ----------
    optimum : Optimum
        As :func:`otspec.optimal_acceptance` returns it.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.
    order : str
        ``"ratio"``: by ascending target/draft, so that the cut of i.i.d. and of distinct drafts is
        one stretch; ``"token"``: by token id.
    most : int
        How many tokens are drawn at most, up to 200: those of the most mass. What the others have
        is in two columns at the right, of those in the cut and of those that are not.

    Raises
    ------
    ValueError
        No optimum, another order or an unusable number; or Matplotlib is not installed.
    """
    as_instance(optimum, "optimum", Optimum, "an Optimum, as optimal_acceptance returns it")
    by = as_choice(order, "order", ORDERS)
    columns = _columns(optimum, by, as_integer(most, "most", 1, MOST_TOKENS))
    with panel_on(ax, WIDE) as panel:
        for place, column in enumerate(columns):
            words = [_words(column)]
            if column.inside:
                span = panel.axvspan(place - 0.5, place + 0.5, color=_CUT, alpha=0.3, lw=0)
                explain(span, words)
            bars = (place - _WIDTH, column.draft, _OF_DRAFT), (place, column.target, _OF_TARGET)
            for start, mass, look in bars:
                bar = panel.bar(start, float(mass), _WIDTH, align="edge", zorder=2, **look)
                explain(bar.patches[0], words)
        names = [column.name for column in columns]
        panel.set_xticks(range(len(names)), names, rotation=90 if len(names) > 16 else 0)
        label = "token, by ascending target/draft" if by == "ratio" else "token"
        panel.set(xlim=(-0.6, len(names) - 0.4), xlabel=label, ylabel="probability")
        panel.set_ylim(bottom=0)
        panel.grid(visible=False, axis="x")
        panel.grid(alpha=0.25, axis="y")
        return _key(panel, optimum)


def _key(panel: Axes, optimum: Optimum) -> Axes:
    from matplotlib.patches import Patch

    marks = [Patch(label="draft", **_OF_DRAFT), Patch(label="target", **_OF_TARGET)]
    if optimum.cut:
        marks.append(Patch(facecolor=_CUT, alpha=0.3, label="the cut A"))
    panel.legend(
        handles=marks, title=_terms(optimum), loc="center left", bbox_to_anchor=(1.0, 0.5),
        frameon=False, alignment="left",
    ).get_title().set_color(ink())  # fmt: skip
    return panel


def _terms(optimum: Optimum) -> str:
    inside = optimum.target[list(optimum.cut)].sum()
    outside = 1 - optimum.law.inside(optimum.cut)
    bound = cut_bound(optimum.law, optimum.target, optimum.cut)
    lines = [
        f"target mass of the cut {decimals(inside)}",
        f"a draft is outside of it {decimals(outside)}",
        f"together {decimals(bound)}",
    ]
    if abs(float(optimum.acceptance - bound)) > optimum.law.accuracy:
        lines.append(f"with the budget {decimals(optimum.acceptance)}")
    return "\n".join(lines)


def _columns(optimum: Optimum, order: str, most: int) -> list[_Column]:
    """Return what is drawn, from the left to the right."""
    draft, target = _draft_of(optimum), optimum.target
    inside = np.zeros(len(target), dtype=bool)
    inside[list(optimum.cut)] = True
    heaviest = np.argsort(-np.maximum(draft, target).astype(float), kind="stable")
    tokens = sorted(heaviest[:most].tolist())
    if order == "ratio":
        # Equal ratios: what is in the cut first, which may part them.
        ratios = {y: target[y] / draft[y] if draft[y] > 0 else np.inf for y in tokens}
        tokens.sort(key=lambda y: (ratios[y], not inside[y]))
    columns = [_Column(str(y), draft[y], target[y], bool(inside[y])) for y in tokens]
    rest = heaviest[most:]
    for name, chosen in (
        ("others in the cut", rest[inside[rest]]),
        ("others", rest[~inside[rest]]),
    ):
        if len(chosen):
            masses = draft[chosen].sum(), target[chosen].sum()
            columns.append(_Column(name, *masses, inside=name != "others"))
    return columns


def _draft_of(optimum: Optimum) -> Array:
    law = optimum.law
    if isinstance(law, SingleDraftLaw):
        return law.draft
    return np.sum([law.marginal(i) for i in range(law.k)], axis=0) / law.k


def _words(column: _Column) -> str:
    token = f"token {column.name}" if column.name.isdigit() else column.name
    inside = ", in the cut" if column.inside and column.name.isdigit() else ""
    return f"{token}{inside}: draft {decimals(column.draft)}, target {decimals(column.target)}"
