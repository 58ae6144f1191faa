"""Code of the user's that a command is given by name, as MODULE:NAME."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from otspec._base.registry import meant
from otspec._base.tables import say
from otspec.auditing.sandbox import attempt


def imported(name: str, instead: str, takes: str, traceback: bool) -> Callable[..., Any]:
    """Import a callable, also from the working directory."""
    module_name, colon, attribute = name.partition(":")
    if module_name.endswith(".py"):
        raise ValueError(
            f"{name!r} names a file: write the module as Python imports it from here, such as "
            f"{Path(module_name).stem}:{attribute or 'NAME'}"
        )
    if not colon or not module_name or not attribute:
        raise ValueError(f"{name!r} is no MODULE:NAME: write for instance {instead}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    found, crash = attempt(_find, module_name, attribute)
    if crash is not None:
        if traceback:
            say(*crash.traceback.splitlines(), err=True)
        closest = ""
        if isinstance(crash.error, AttributeError):
            there = [each for each in dir(sys.modules.get(module_name)) if each[0] != "_"]
            closest = meant(attribute, there)
        raise ValueError(f"cannot import {name}: it {crash.what}{closest}") from crash.error
    if not callable(found):
        raise ValueError(f"{name} is not callable: it must take {takes}")
    function: Callable[..., Any] = found
    return function


def _find(module_name: str, attribute: str) -> Any:
    found = importlib.import_module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found
