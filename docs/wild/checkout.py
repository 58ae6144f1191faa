"""Functions of somebody's checkout by file and name, without importing their package."""

from __future__ import annotations
import __future__

import ast
import math
import random
import subprocess
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch


class Checkout:
    """A folder with a clone of a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def commit(self) -> str | None:
        """Return what is checked out; None if the folder does not tell."""
        told = subprocess.run(  # noqa: S603
            ["git", "-C", str(self.folder), "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout.strip() or None

    def line(self, file: str, name: str) -> int:
        """Return where a function or a method, ``Class.method``, begins."""
        return _find(self._tree(file), name).lineno

    def load(self, file: str, *names: str, **given: Any) -> SimpleNamespace:
        """Return functions, methods, classes or constants of a file, compiled from its text.

        They see each other, PyTorch, NumPy and ``typing``, and whatever else is given by name.
        Decorators and annotations are left out.
        """
        tree = self._tree(file)
        nodes = [_find(tree, name) for name in names]
        for node in nodes:
            node.decorator_list = []
        scope: dict[str, Any] = {**vars(typing), "torch": torch, "nn": torch.nn, "np": np}
        scope |= {"F": torch.nn.functional, "softmax": torch.nn.functional.softmax}
        scope |= {"dist": torch.distributions, "math": math, "random": random, **given}
        module = ast.Module(body=nodes, type_ignores=[])
        flags = __future__.annotations.compiler_flag
        exec(compile(module, str(self.folder / file), "exec", flags), scope)  # noqa: S102
        return SimpleNamespace(**{node.name: scope[node.name] for node in nodes})

    def _tree(self, file: str) -> ast.Module:
        return ast.parse((self.folder / file).read_text(encoding="utf-8"))


def _find(tree: ast.Module, name: str) -> Any:
    body: list[Any] = tree.body
    for part in name.split("."):
        found = next((node for node in body if getattr(node, "name", None) == part), None)
        if found is None:
            raise ValueError(f"there is no {name}")
        body = getattr(found, "body", [])
    return found
