"""The diagram of the layers, from the imports: ``python docs/layers.py``."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "layers.png"
CONTENT = {
    "cli": "the commands",
    "traces": "logged logits in, tables out",
    "datasets": "the bundled trace",
    "auditing": "is a rule lossless",
    "blocks": "language models, blocks, trees",
    "rules": "one verification rule a file",
    "selection": "pools and barriers",
    "plan": "couplings",
    "optimum": "the optimum and its cut",
    "cuts": "minimum cuts by law",
    "programs": "linear programs",
    "cones": "double description",
    "solvers": "HiGHS, cvxpy, rational",
    "closed_forms": "formulas",
    "drafts": "draft laws",
    "ratios": "target/draft",
    "estimate": "numbers with an interval",
    "distributions": "what a distribution is",
    "arguments": "what arguments may be",
    "files": "readers",
    "arithmetic": "floats and fractions",
    "frozen": "arrays that stay",
    "raw": "what a caller passes",
    "tables": "printing",
    "writing": "files, whole or not at all",
    "batch": "array API, (…, V)",
}


def layers() -> list[list[str]]:
    """Return the packages layer by layer, the highest first, as the import linter has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [layer.replace("|", ":").replace(" ", "").split(":") for layer in contract["layers"]]


def imports() -> nx.DiGraph:
    """Return which package of otspec imports which."""
    graph = nx.DiGraph()
    package = ROOT / "otspec"
    for file in package.rglob("*.py"):
        source = file.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otspec."):
                graph.add_edge(source, str(node.module).split(".")[1])
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def draw(path: Path = PICTURE) -> None:
    """Draw a box for each package and the imports that do not follow from others."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    matplotlib.style.use(str(ROOT / "figures" / "book.mplstyle"))
    rows = layers()
    # Layers of one package stand left and right in turn, so that arrows pass beside them.
    sides = (0.5, 0.72, 0.28)
    places = {
        name: ((0.14 + 0.72 * i) if len(row) > 1 else sides[level % 3], -level)
        for level, row in enumerate(rows)
        for i, name in enumerate(row)
    }
    figure = Figure(figsize=(7.0, 8.4))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    known = imports().subgraph(places)
    for source, target in nx.transitive_reduction(known).edges:
        axes.annotate(
            "", places[target], places[source],
            arrowprops={"arrowstyle": "->", "color": "#7F8FA6", "lw": 0.8, "shrinkA": 11,
                        "shrinkB": 11, "connectionstyle": "arc3,rad=0.12"},
        )  # fmt: skip
    for name, place in places.items():
        axes.annotate(
            f"{name}\n{CONTENT[name]}", place, ha="center", va="center", fontsize=7.5,
            bbox={"boxstyle": "round,pad=0.35", "fc": "#EAF2FB", "ec": "#0072B2", "lw": 0.8},
        )  # fmt: skip
    axes.annotate(
        f"batch\n{CONTENT['batch']}\n(distributions only)", (0.93, 1 - len(rows)), ha="center",
        va="center", fontsize=7.5,
        bbox={"boxstyle": "round,pad=0.35", "fc": "#FDF1E3", "ec": "#D55E00", "lw": 0.8},
    )  # fmt: skip
    axes.set_xlim(0, 1.08)
    axes.set_ylim(0.6 - len(rows), 0.6)
    axes.set_axis_off()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    draw()
