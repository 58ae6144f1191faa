"""The picture of the front page, for light and for dark pages: ``python docs/front.py``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

from otspec.datasets import load_smollm2
from otspec.plots.canvas import PAGE, STYLE
from otspec.plots.pictures import acceptance_panels, laws_apart
from otspec.traces import compare, summarise

FOLDER = Path(__file__).parent / "_static"
KS = (1, 2, 4, 8, 16)
LAWS = ("iid", "without-replacement", "hub")
INKS = {"light": "#222222", "dark": "#e6e6e6"}
"""The color of text, axes and optima, by the page that the picture is for."""


def main() -> None:
    """Draw what ``otspec trace`` draws, on no ground."""
    pairs = load_smollm2().pairs()
    rows = summarise(compare(draft, target, KS, LAWS) for _, draft, target in pairs)
    for page in INKS:
        draw(rows, page, FOLDER / f"trace-{page}.svg")


def draw(rows: Sequence[Any], page: str, path: Path) -> None:
    """Draw comparisons in the ink of a page, and write the picture."""
    parts = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    inks = dict.fromkeys(parts, INKS[page])
    with style.context([STYLE, PAGE, {"svg.fonttype": "path", "grid.alpha": 0.4, **inks}]):
        figure = Figure(figsize=(8.2, 3.6), layout="constrained")
        acceptance_panels(laws_apart(rows), figure, 2)
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
