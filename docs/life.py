"""The picture of a rule's life, from its draft law to a trace: ``python docs/life.py``.

Each arrow is an import: what it points to uses what it comes from.
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import fill

from otspec.plots.canvas import PAGE, STYLE, in_style

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "rule_life.png"
STATIONS = {
    "drafts": (0, 1, "a draft law", "P(x), which k exist"),
    "rules.base.pair_rule": (1, 1, "PairRule", "draft, target and k, checked"),
    "rules.pooled.partitions": (0, 0, "a partition", "tokens by target/draft in pools"),
    "optimum.pools.pools": (1, 0, "the law b", "wanted of the selected draft"),
    "rules.pooled.barriers": (2, 0, "barriers", "which drafts compete"),
    "coupling": (3, 0, "maximal coupling", "of b and the target"),
    "rules.pooled.base": (2, 1, "pooled rules", "verify(drafts, chance)"),
    "rules": (3, 1, "RULES", "the table, one registration"),
    "cli.commands.audit": (4, 0, "otspec audit NAME", "exactly lossless, or not"),
    "blocks.trees.verifiers.nodes": (4, 1, "trees", "the rule at every node"),
    "traces.comparison": (3, 2, "compare", "a row per rule, law and k"),
    "traces.runs.work": (4, 2, "a run", "rows of all positions, in parts"),
    "traces.summary": (2, 2, "a summary", "means over positions"),
    "traces.statistics": (2, 3, "statistics", "intervals, quantiles"),
    "plots": (1, 2, "plots", "in the rule's own color"),
    "reports.page": (1, 3, "a report", "one page of HTML"),
}
"""Per module its column, its row from below, what it is, and what it does with the rule."""
ARROWS = (
    ("drafts", "rules.base.pair_rule"),
    ("rules.base.pair_rule", "rules.pooled.base"),
    ("rules.pooled.partitions", "rules.pooled.base"),
    ("optimum.pools.pools", "rules.pooled.base"),
    ("optimum.pools.pools", "rules.pooled.barriers"),
    ("rules.pooled.barriers", "rules.pooled.base"),
    ("coupling", "rules.pooled.base"),
    ("rules.pooled.base", "rules"),
    ("rules", "cli.commands.audit"),
    ("rules", "blocks.trees.verifiers.nodes"),
    ("rules", "traces.comparison"),
    ("traces.comparison", "traces.runs.work"),
    ("traces.comparison", "traces.summary"),
    ("traces.summary", "traces.statistics"),
    ("traces.summary", "plots"),
    ("traces.statistics", "reports.page"),
    ("plots", "reports.page"),
)
"""From a module to one that imports it."""


def imported(module: str) -> set[str]:
    """Return what a module or a package imports of otspec, and the packages that this lies in."""
    path = ROOT / "otspec" / module.replace(".", "/")
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otspec."):
                parts = str(node.module).split(".")[1:]
                found |= {".".join(parts[: i + 1]) for i in range(len(parts))}
    return found


def draw(path: Path = PICTURE) -> None:
    """Draw the stations and the arrows between them."""
    with in_style(PAGE, STYLE):
        _draw(path)


def _draw(path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.4), layout="none")
    axes = figure.add_axes((0, 0, 1, 1))
    boxes = {}
    for module, (column, row, what, how) in STATIONS.items():
        color = "#D55E00" if module == "rules.pooled.base" else "#0072B2"
        said = fill(how, 18)
        boxes[module] = axes.text(
            column, row, f"$\\bf{{{what.replace(' ', '~')}}}$\n{said}", ha="center", va="center",
            linespacing=1.4,
            bbox={"boxstyle": "round,pad=0.5", "fc": (color, 0.08), "ec": color, "lw": 0.9},
        )  # fmt: skip
    for first, second in ARROWS:
        ends = {"patchA": boxes[first].get_bbox_patch(), "patchB": boxes[second].get_bbox_patch()}
        look = {"arrowstyle": "-|>", "color": "#7A7A7A", "lw": 1.1, "shrinkA": 2, "shrinkB": 2}
        axes.annotate("", STATIONS[second][:2], STATIONS[first][:2], arrowprops=look | ends)
    axes.set_xlim(-0.5, 4.5)
    axes.set_ylim(-0.45, 3.45)
    axes.set_axis_off()
    figure.savefig(path, dpi=200)


if __name__ == "__main__":
    draw()
