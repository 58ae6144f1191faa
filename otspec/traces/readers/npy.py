"""Traces in pairs of .npy files, one for each model."""

from __future__ import annotations

from pathlib import Path

from otspec.files.npy import read_header
from otspec.traces.readers.contract import FORMATS, StoredArray, TraceFormat
from otspec.traces.readers.mapped import MappedArray


def locate_npy(path: Path) -> dict[str, StoredArray]:
    """Find the one array of a .npy file, which has no name.

    Raises
    ------
    ValueError
        As :func:`otspec.files.npy.read_header`; or a file of another size than the header says.
    """
    with path.open("rb") as stream:
        header = read_header(stream)
    header.refuse_other_size(path.stat().st_size - header.length)
    return {"": MappedArray.at(path, "", header, header.length)}


FORMATS.register(TraceFormat(".npy", locate_npy, named=False))
