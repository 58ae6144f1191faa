"""Language models from files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from otspec._base.arguments import as_flag, as_path
from otspec._base.arithmetic import in_arithmetic
from otspec.files import read_file
from otspec.models.base import Prefix
from otspec.models.tables import TableModel


def load_model(
    path: str | PathLike[str],
    name: str = "model",
    *,
    exact: bool = False,
    normalize: bool = False,
) -> TableModel:
    """Read a table of distributions by the last tokens.

    Parameters
    ----------
    path : path
        A .json file: one object, from prefixes such as ``""``, ``"0"`` and ``"0 1"`` to lists of
        numbers. See :class:`TableModel` for what they mean. A file that is one list of numbers is
        a memoryless model.
    name : str
        What error messages call the model.
    exact : bool
        Read decimals as the fractions that they write. Fractions such as ``"3/10"`` are always
        read exactly, and then all numbers of the file.
    normalize : bool
        Scale every row to sum 1.

    Raises
    ------
    ValueError
        An unreadable file, a key that is no prefix, or rows that make no model. The message
        names the file.
    """
    exact, normalize = as_flag(exact, "exact"), as_flag(normalize, "normalize")
    if as_path(path).suffix != ".json":
        raise ValueError(f"{path}: a language model is a .json file of rows by prefix")
    content = read_file(path)
    try:
        exact = exact or any(_has_fraction(row) for row in content.values())
        rows = {}
        for key, row in content.items():
            if not isinstance(row, list) or any(isinstance(cell, list) for cell in row):
                raise ValueError(f"the row of {key!r} is not one list of numbers")
            rows[_prefix(key)] = in_arithmetic(
                row, f"{name}[{key}]" if key.strip() else name, exact
            )
        if len(rows) < len(content):
            raise ValueError("two keys mean the same prefix: write one blank between tokens")
        return TableModel(rows, name, normalize=normalize)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _prefix(key: str) -> Prefix:
    cells = key.split()
    if not all(cell.isascii() and cell.isdigit() for cell in cells):
        raise ValueError(
            f"{key!r} is no prefix: write token ids with blanks between them, such as '0 1', and "
            "'' for the first token"
        )
    return tuple(int(cell) for cell in cells)


def _has_fraction(row: Any) -> bool:
    return isinstance(row, list) and any(isinstance(cell, str) and "/" in cell for cell in row)
