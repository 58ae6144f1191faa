"""The pictures that explain the idea, for light and for dark pages: ``python docs/front.py``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otspec.datasets import load_smollm2
from otspec.plots.canvas import PAGE, STYLE
from otspec.plots.pictures import acceptance_panels, laws_apart
from otspec.traces import compare, summarize

FOLDER = Path(__file__).parent / "_static"
KS = (1, 2, 4, 8, 16)
LAWS = ("iid", "without-replacement", "hub")
INKS = {"light": "#222222", "dark": "#e6e6e6"}
"""The color of text, axes and optima, by the page that the picture is for."""


KEPT, REPLACED = "#0072B2", "#D55E00"
DRAFT, TARGET = (0.5, 0.3, 0.2), (0.1, 0.6, 0.3)
EXAMPLE = {"draft": (16, 8, 8), "selected": (8, 11, 13), "target": (4, 11, 17)}
"""The example of the page on pooled selection, in parts of 32."""


def main() -> None:
    """Draw the idea, and what ``otspec trace`` draws, on a transparent background."""
    pairs = load_smollm2().pairs()
    panels = laws_apart(summarize(compare(draft, target, KS, LAWS) for _, draft, target in pairs))
    for page, ink in INKS.items():
        with drawn(FOLDER / f"trace-{page}.svg", page, (8.2, 3.6)) as figure:
            acceptance_panels(panels, figure, 2)
        with drawn(FOLDER / f"idea-{page}.svg", page, (8.2, 3.1)) as figure:
            one, two = figure.subplots(1, 2, width_ratios=(1.25, 1))
            one_draft(one, ink)
            two_drafts(two, ink)
        with drawn(FOLDER / f"selection-{page}.svg", page, (8.2, 3.1)) as figure:
            selection(figure.subplots(), ink)


@contextmanager
def drawn(path: Path, page: str, size: tuple[float, float]) -> Iterator[Figure]:
    """Give an empty figure in the ink of a page, and write it when it is drawn."""
    parts = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    inks = dict.fromkeys(parts, INKS[page])
    with style.context([STYLE, PAGE, {"svg.fonttype": "path", "grid.alpha": 0.4, **inks}]):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        figure.savefig(path, metadata={"Date": None})


def one_draft(panel: Axes, ink: str) -> None:
    """Draw the two distributions as bars, and which part of a draft is kept."""
    for token, (draft, target) in enumerate(zip(DRAFT, TARGET, strict=True)):
        kept = min(draft, target)
        for place, mass, name in ((token - 0.2, draft, "draft"), (token + 0.2, target, "target")):
            panel.bar(place, kept, 0.36, color=KEPT)
            more = {"hatch": "////"} if name == "draft" else {}
            panel.bar(
                place, mass - kept, 0.36, bottom=kept, facecolor="none", edgecolor=REPLACED, **more
            )
            panel.annotate(name, (place, mass), (0, 2), textcoords="offset points", ha="center")
    panel.annotate("rejected", (0.02, 0.42), (0.3, 0.55), color=REPLACED, arrowprops=arrow())
    panel.annotate("drawn instead", (1.4, 0.5), (1.6, 0.55), color=REPLACED, arrowprops=arrow())
    panel.annotate("kept", (2.4, 0.1), (2.6, 0.1), color=KEPT, va="center", arrowprops=arrow(KEPT))
    panel.set_title(
        "One draft is kept with probability 0.1 + 0.3 + 0.2 = 0.6", loc="left", color=ink
    )
    panel.set_xticks(range(3), [f"token {name}" for name in "abc"])
    panel.set(ylabel="probability", ylim=(0, 0.72), xlim=(-0.5, 2.95))
    panel.grid(visible=False)


def two_drafts(panel: Axes, ink: str) -> None:
    """Draw the bound of the cut {a} for two i.i.d. drafts."""
    both = DRAFT[0] ** 2
    panel.axhspan(0, both, color=ink, alpha=0.12, linewidth=0)
    panel.bar(0, TARGET[0], 0.5, color=KEPT)
    panel.bar(0, both - TARGET[0], 0.5, bottom=TARGET[0], facecolor="none", edgecolor=REPLACED,
              hatch="////")  # fmt: skip
    panel.bar(0, 1 - both, 0.5, bottom=both, color=KEPT)
    words = {
        0.62: ("some draft is b or c: 0.75", KEPT),
        0.175: ("too many: 0.15 is replaced", REPLACED),
        0.04: ("target wants a: 0.10", KEPT),
    }
    for height, (text, color) in words.items():
        panel.text(0.32, height, text, color=color, va="center")
    panel.annotate("both drafts are a (the cut)", (1.65, both), (0, 3), color=ink, ha="right",
                   textcoords="offset points", fontsize="small")  # fmt: skip
    panel.set_title("Two drafts: at most 0.75 + 0.10 = 0.85", loc="left", color=ink)
    panel.set(xticks=[], xlim=(-0.35, 1.7), ylim=(0, 1.02))
    panel.grid(visible=False)


def selection(panel: Axes, ink: str) -> None:
    """Draw draft, selected draft and target as bars, and which part of the selected is kept."""
    for place, (name, masses) in enumerate(EXAMPLE.items()):
        for token, mass in enumerate(masses):
            at = token + 0.26 * (place - 1)
            kept = min(mass, EXAMPLE["target"][token]) if name == "selected" else 0
            more = {"hatch": "////", "edgecolor": REPLACED} if kept else {"edgecolor": ink}
            panel.bar(at, mass - kept, 0.23, bottom=kept, facecolor="none", **more)
            panel.bar(at, kept, 0.23, color=KEPT)
            panel.text(at, kept / 2, "kept" * bool(kept), color="white", ha="center", va="center")
            panel.annotate(f"{name}\n{mass}/32", (at, mass), (0, 2), textcoords="offset points",
                           ha="center", fontsize="small")  # fmt: skip
    panel.text(0.15, 7.2, "replaced by fox", color=REPLACED)
    panel.set_title(
        "The selected draft is kept with probability 4/32 + 11/32 + 13/32 = 28/32",
        loc="left", color=ink,
    )  # fmt: skip
    panel.set_xticks(range(3), ["cat", "dog", "fox"])
    panel.set(yticks=[], xlim=(-0.5, 2.5), ylim=(0, 21))
    panel.grid(visible=False)


def arrow(color: str = REPLACED) -> dict[str, Any]:
    """Return how arrows look."""
    return {"arrowstyle": "-", "color": color, "linewidth": 0.8}


if __name__ == "__main__":
    main()
