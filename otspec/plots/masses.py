"""An optimum: what draft and target give to each token, and the cut that proves the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from otspec._base.arguments import as_choice, as_instance, as_integer
from otspec._base.arithmetic import Array, Number
from otspec.drafts import SingleDraftLaw
from otspec.optimum import Optimum
from otspec.optimum.cuts.minimum import cut_bound
from otspec.plots.canvas import WIDE, decimals, ink, panel_on
from otspec.plots.inline import explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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

    For the tokens A of the cut, which are on grey, acceptance = q(A) + 1 − P(all drafts inside A):
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
            for start, mass, look in (
                (place - _WIDTH, column.draft, _OF_DRAFT),
                (place, column.target, _OF_TARGET),
            ):
                bar = panel.bar(start, float(mass), _WIDTH, align="edge", zorder=2, **look)
                explain(bar.patches[0], words)
        names = [column.name for column in columns]
        panel.set_xticks(range(len(names)), names, rotation=90 if len(names) > 16 else 0)
        panel.set_xlim(-0.6, len(names) - 0.4)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("token, by ascending target/draft" if by == "ratio" else "token")
        panel.set_ylabel("probability")
        panel.grid(visible=False, axis="x")
        panel.grid(alpha=0.25, axis="y")
        return _legend(panel, optimum)


def _legend(panel: Axes, optimum: Optimum) -> Axes:
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
        tokens.sort(key=lambda y: (_ratio(draft[y], target[y]), not inside[y]))
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
    mean: Array = np.sum([law.marginal(i) for i in range(law.k)], axis=0) / law.k
    return mean


def _ratio(draft: Any, target: Any) -> Any:
    return target / draft if draft > 0 else np.inf


def _words(column: _Column) -> str:
    token = f"token {column.name}" if column.name.isdigit() else column.name
    inside = ", in the cut" if column.inside and column.name.isdigit() else ""
    return f"{token}{inside}: draft {decimals(column.draft)}, target {decimals(column.target)}"
