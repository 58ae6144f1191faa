"""What this machine has: packages of the optional sets of dependencies, and memory."""

import importlib
import os
import sys
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa
    import sympy

ArrowTable: TypeAlias = "pa.Table"
Formula: TypeAlias = "sympy.Expr"
Condition: TypeAlias = "sympy.Basic"
"""Types of optional packages, which are not imported for their names alone."""


def refuse_too_large(size: int) -> None:
    """Refuse to read more bytes than half of this machine's memory."""
    if size > memory() / 2:
        raise ValueError(
            f"it unpacks to {size / 2**30:.3g} GiB, more than half of this machine's memory"
        )


def memory() -> int:
    """Return the physical memory of this machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def needed(package: str, what: str, extra: str, hint: str = "") -> ModuleType:
    """Return a package that something needs, or say in which set of optional dependencies it is."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ValueError(
            f"{what} needs the package {error.name or package}: pip install 'otspec[{extra}]'{hint}"
        ) from None


class _WithoutPandas(MetaPathFinder):
    def find_spec(self, fullname: str, *_: Any) -> None:
        """Refuse pandas; say nothing of other modules."""
        if fullname == "pandas":
            raise ModuleNotFoundError("Arrow does without pandas", name=fullname)


def let_arrow_do_without_pandas() -> None:
    """Make the first array of Arrow here, which would import pandas where it is installed."""
    # That is half a second and 50 MB for nothing. Arrow looks for it once, and again where it is
    # asked for a frame; all others can import it.
    pa = needed("pyarrow", "a run over traces", "runs")
    if "pandas" in sys.modules:
        return
    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
