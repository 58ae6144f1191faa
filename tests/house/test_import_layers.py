"""Imports go down the layers only, and the core imports nothing heavy."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import networkx as nx

ROOT = Path(__file__).parents[2]
HEAVY = [
    "scipy", "sympy", "networkx", "matplotlib", "cvxpy", "highspy", "cdd", "click", "rich",
    "pyarrow", "pandas", "polars",
]  # fmt: skip


def check_contracts(root):
    """Run import-linter on the package under a root, which is found before any installed one."""
    command = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [command, "--no-cache", "--config", root / "pyproject.toml"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_imports_go_down_the_layers_only():
    outcome = check_contracts(ROOT)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "0 broken" in outcome.stdout


def test_an_import_up_the_layers_is_noticed(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "otspec", tmp_path / "otspec")
    ratios = tmp_path / "otspec" / "ratios.py"
    ratios.write_text(
        ratios.read_text(encoding="utf-8") + "\nimport otspec.optimum\n", encoding="utf-8"
    )
    outcome = check_contracts(tmp_path)
    assert outcome.returncode == 1
    assert "1 broken" in outcome.stdout
    assert "otspec.ratios is not allowed to import otspec.optimum" in outcome.stdout


def test_no_two_modules_import_each_other():
    """Not even inside a function: a circle is a room that was cut wrong."""
    graph = grimp.build_graph("otspec", cache_dir=None, exclude_type_checking_imports=True)
    found = nx.DiGraph()
    for module in graph.modules:
        found.add_edges_from(
            (module, other) for other in graph.find_modules_directly_imported_by(module)
        )
    circles = [sorted(each) for each in nx.strongly_connected_components(found) if len(each) > 1]
    assert len(found) > 400
    assert circles == []


def test_no_folder_has_more_than_fifteen_modules():
    folders = {path.parent for path in (ROOT / "otspec").rglob("*.py")}
    sizes = {
        folder: len([*folder.glob("[!_]*.py"), *folder.glob("_[!_]*.py")]) for folder in folders
    }
    assert len(sizes) > 30
    assert {str(folder) for folder, size in sizes.items() if size > 15} == set()


def test_there_are_at_most_twelve_floors():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (floors,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["otspec"]
    )
    assert len(floors) <= 12


CORE = ("rules", "closed_forms", "batch", "programs", "frames")


def test_importing_the_core_imports_nothing_heavy():
    assert not set(HEAVY) & imported_by("otspec", *(f"otspec.{name}" for name in CORE))


def test_importing_what_prints_imports_what_it_prints_with_only():
    assert set(HEAVY) & imported_by("otspec.traces", "otspec.cli.main") <= {"click", "rich"}


def imported_by(*modules):
    """Return the names of all modules that a fresh process has after importing some."""
    program = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    imported = set(outcome.stdout.split())
    assert set(modules) <= imported
    return imported


def test_the_picture_of_the_layers_knows_every_package():
    spec = importlib.util.spec_from_file_location("layers", ROOT / "docs" / "layers.py")
    layers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(layers)
    placed = {name for row in layers.layers() for name in row}
    parts = {path.name.removesuffix(".py") for path in (ROOT / "otspec").iterdir()}
    assert placed | {"batch"} == parts - {
        "__init__",
        "__main__",
        "__pycache__",
        "py.typed",
        "version",
    }
    assert placed | {"batch"} == set(layers.CONTENT)
    graph = layers.imports()
    assert nx.is_directed_acyclic_graph(graph.subgraph(placed))
    assert graph.has_edge("rules", "drafts")
    assert not graph.has_edge("drafts", "rules")
