"""Files of numbers, read whole or by rows: one format a module, all of them in one table."""

# ruff: noqa: I001 -- formats are registered in the order of tables

from otspec.files.base import (
    FORMATS,
    Format,
    StoredArray,
    named_errors,
    small_formats,
    trace_formats,
)
from otspec.files import npy, npz, text, safetensors, zarr, torch, parquet, arrow  # noqa: F401  each registers its format
from otspec.files.base import pick, read_file

__all__ = [
    "FORMATS",
    "Format",
    "StoredArray",
    "named_errors",
    "pick",
    "read_file",
    "small_formats",
    "trace_formats",
]
