"""The lowest floor: arithmetic, argument checks, frozen values, registries, writing.

Modules above import its names from here, and what prints from ``tables`` and ``webpage``.
"""

# ruff: noqa: F403 -- the modules say what they hold

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otspec._base.arguments import *
    from otspec._base.arithmetic import *
    from otspec._base.coerce import *
    from otspec._base.extras import *
    from otspec._base.frozen import *
    from otspec._base.registry import *
    from otspec._base.writing import *
else:
    # Those without NumPy first, so that ``otspec --help`` does not import it.
    MODULES = "registry extras writing arithmetic coerce arguments frozen"

    def __getattr__(name: str) -> Any:
        """Return a name of one of the modules, which are imported until it is found."""
        for module in MODULES.split():
            found = import_module(f"otspec._base.{module}")
            if hasattr(found, name):
                break
        return getattr(found, name)
