"""Packages of the optional sets of dependencies, imported where they are used."""

from __future__ import annotations

import importlib
from types import ModuleType


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
