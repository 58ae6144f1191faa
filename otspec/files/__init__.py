"""Small files of numbers, read whole: one format a module, all of them in one table."""

# ruff: noqa: I001 -- formats are registered in the order of tables

from otspec.files.contract import READERS, Reader, named_errors
from otspec.files import npy, npz, csv, json, safetensors, torch, parquet, arrow  # noqa: F401  each registers its format
from otspec.files.reading import pick, read_file

__all__ = ["READERS", "Reader", "named_errors", "pick", "read_file"]
