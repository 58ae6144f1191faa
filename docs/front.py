"""The picture of the front page, for light and for dark pages: ``python docs/front.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from otspec.datasets import load_smollm2
from otspec.plots import draw_acceptance
from otspec.traces import Summary, compare, summarise

FOLDER = Path(__file__).parent / "_static"
KS = (1, 2, 4, 8, 16)
LAWS = ("iid", "without-replacement", "hub")
BLACK, INDIGO = "#000000", "#332288"  # of the optima and of distinct drafts by pools
INKS = {
    "light": {BLACK: "#222222"},
    "dark": {BLACK: "#e6e6e6", INDIGO: "#9d92f0"},
}
"""What stands for a colour of the charts, by the page; black is that of the text, too."""


def main() -> None:
    """Draw what ``otspec trace`` draws, on no ground."""
    pairs = load_smollm2().pairs()
    rows = summarise(compare(draft, target, KS, LAWS) for _, draft, target in pairs)
    for page, inks in INKS.items():
        draw(rows, inks, FOLDER / f"trace-{page}.svg")


def draw(rows: list[Summary], inks: dict[str, str], path: Path) -> None:
    """Draw the rows in other inks, and write the picture."""
    parts = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    with mpl.rc_context({"svg.hashsalt": "otspec", **dict.fromkeys(parts, inks[BLACK])}):
        figure = Figure(figsize=(7.6, 4.2), layout="constrained")
        axes = draw_acceptance(figure.add_subplot(), rows)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, transparent=True, metadata={"Date": None})
    drawn = path.read_text(encoding="utf-8")
    for colour, ink in inks.items():
        drawn = drawn.replace(colour, ink)
    path.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
