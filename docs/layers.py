"""The diagram of the layers, from the imports: ``python docs/layers.py``."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from otspec.plots.canvas import PAGE, STYLE, in_style

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "layers.png"
CONTENT = {
    "cli": "the commands",
    "testing": "for pytest",
    "advice": "what to use",
    "conformance": "for engines",
    "decoding": "real models",
    "learning": "training losses",
    "plots": "charts",
    "display": "notebook cards",
    "reports": "pages for people",
    "traces": "logged logits",
    "datasets": "bundled data",
    "auditing": "is it lossless?",
    "logged": "logged blocks",
    "blocks": "blocks and trees",
    "rules": "one a file",
    "optimum": "with certificate",
    "closed_forms": "formulas",
    "programs": "linear programs",
    "solvers": "floats, fractions",
    "cones": "polyhedra",
    "drafts": "draft laws",
    "models": "language models",
    "coupling": "select, accept",
    "frames": "tables of results",
    "distributions": "probabilities",
    "ratios": "target/draft",
    "estimate": "intervals",
    "chance": "all randomness",
    "warping": "from logits",
    "files": "readers",
    "_base": "checks, arithmetic",
    "batch": "array API",
}
FLOORS = {
    "cli": "commands",
    "advice": "decisions",
    "plots": "pictures",
    "traces": "logs",
    "auditing": "verdicts",
    "blocks": "several tokens",
    "rules": "one token",
    "optimum": "optimum",
    "programs": "programs",
    "drafts": "drafts, models",
    "distributions": "distributions",
    "_base": "base",
}
"""What each floor is called, by its first package."""


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
        for node in _executed(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otspec."):
                graph.add_edge(source, str(node.module).split(".")[1])
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a piece of code, but for what only type checkers read."""
    yield node
    if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from _executed(child)


def floors() -> dict[str, list[str]]:
    """Return the packages floor by floor, the highest first."""
    return {FLOORS[row[0]]: row for row in layers()}


def draw(path: Path = PICTURE) -> None:
    """Draw the house: a floor uses what is below it, and within it what is to the right."""
    with in_style(PAGE, STYLE):
        _draw(path)


def _draw(path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    house = floors() | {"apart": ["batch"]}
    widest = max(map(len, house.values()))
    figure = Figure(figsize=(7.0, 0.42 * len(house)), layout="none")
    axes = figure.add_axes((0, 0, 1, 1))
    for level, (title, names) in enumerate(house.items()):
        edge = "#D55E00" if names == ["batch"] else "#0072B2"
        axes.add_patch(Rectangle((0, -level - 0.46), 1, 0.92, fc=edge, ec="none", alpha=0.08))
        axes.text(0.01, -level, title, va="center", fontweight="bold")
        for place, name in enumerate(names):
            axes.text(0.16 + 0.84 * (place + 0.5) / widest, -level, f"{name}\n{CONTENT[name]}",
                      ha="center", va="center")  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_ylim(0.5 - len(house), 0.5)
    axes.set_axis_off()
    figure.savefig(path, dpi=200)


if __name__ == "__main__":
    draw()
