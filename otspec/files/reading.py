"""Reading small files, each error one line that names the file and what to do."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.memory import refuse_too_large
from otspec.files.base import Named, format_of, named_errors, small_formats


def read_file(path: str | PathLike[str], keys: tuple[str, ...] = ()) -> Named:
    """Read the arrays of one file.

    Parameters
    ----------
    path : path
        Of a format in :func:`small_formats`, by its ending. A .csv holds numbers, in one row, one
        column, or columns under a header; a .json a list, or an object of lists.
    keys : tuple of str
        Read only these where the format has names; by default all.

    Returns
    -------
    dict of str to array_like
        Arrays, or lists of numbers and strings (.csv, .json). The name is empty for a .npy
        file, a .json list and a .csv file without a header.

    Raises
    ------
    ValueError
        No such file, a directory, empty, malformed, an unknown ending, or a missing key; pickled
        objects are never loaded.
    """
    path = Path(path)
    form = format_of(path, small_formats(), "use one of")
    with named_errors(path):
        size = path.stat().st_size
        if size == 0:
            raise ValueError("the file is empty")
        refuse_too_large(size)
        return form.read(path, keys)


def pick(path: str, name: str, index: tuple[int, ...]) -> Array | list[Any]:
    """Read one array of a file by its name, "" if it is the only one, and of that one row.

    ``index`` are leading indices, such as (block, position). Errors are those of :func:`read_file`,
    or that a name is needed or an index out of range.
    """
    arrays = read_file(path, (name,) if name else ())
    if name and "" in arrays:
        raise ValueError(f"{path} holds one array without a name: write {path}, without :{name}")
    if not arrays:
        raise ValueError(f"{path} holds no array")
    if len(arrays) != 1:
        names = ", ".join(arrays)
        raise ValueError(f"{path} holds {names}: say which one, as in {path}:{next(iter(arrays))}")
    values = next(iter(arrays.values()))
    for level in index:
        try:
            values = values[level]
        except (IndexError, TypeError, KeyError):
            shown = ",".join(map(str, index))
            raise ValueError(
                f"{path} has no row {shown}: the array has shape {np.shape(values)} there"
            ) from None
    return values
