"""Packages of the optional sets of dependencies, imported where they are used."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any


def needed(package: str, what: str, extra: str) -> ModuleType:
    """Return a package that something needs.

    Parameters
    ----------
    package : str
    what : str
        What needs it, as an error says.
    extra : str
        The set of optional dependencies that it is in.

    Raises
    ------
    ValueError
        It, or a package that it needs, is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ValueError(
            f"{what} needs the package {error.name or package}: pip install 'otspec[{extra}]'"
        ) from None


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, fullname: str, *_: Any) -> None:
        """Refuse pandas; say nothing of other modules.

        Raises
        ------
        ModuleNotFoundError
        """
        if fullname == "pandas":
            raise ModuleNotFoundError("this process does without pandas", name=fullname)


def do_without_pandas() -> None:
    """Let a process that is the package's own do as if pandas were not installed.

    Arrow imports it where it finds it, with the first array: half a second and 50 MB for nothing.
    """
    sys.meta_path.insert(0, _WithoutPandas())
