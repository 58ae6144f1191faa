"""The scripts in docs/ that write pages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def script(name):
    """Return a script of docs/ as a module; one in a folder of it as ``folder/name``."""
    file = ROOT / "docs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
