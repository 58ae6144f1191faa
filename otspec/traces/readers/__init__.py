"""Readers of logged traces: one format a module, all of them in one table."""

# ruff: noqa: I001 -- formats are registered in the order of tables

from otspec.traces.readers.contract import FORMATS, StoredArray, TraceFormat
from otspec.traces.readers import npz, npy, safetensors, zarr, torch  # noqa: F401  each registers its format
from otspec.traces.readers.changed_files import ChangedInputError
from otspec.traces.readers.finding import find_source, locate_arrays
from otspec.traces.readers.logged_numbers import KINDS, Warp, Warping
from otspec.traces.readers.source import Source
from otspec.traces.readers.texts import LoggedText, TextRows

__all__ = [
    "FORMATS",
    "KINDS",
    "ChangedInputError",
    "LoggedText",
    "Source",
    "StoredArray",
    "TextRows",
    "TraceFormat",
    "Warp",
    "Warping",
    "find_source",
    "locate_arrays",
]
