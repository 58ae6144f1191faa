"""Results as tables: Arrow, pandas, polars, and files."""

from otspec.frames.columns import (
    Column,
    EstimatedProbability,
    EstimatedTokens,
    Probability,
    Tokens,
    columns_of,
)
from otspec.frames.files import check_ending, write_table
from otspec.frames.rows import Rows, Tabular

__all__ = [
    "Column",
    "EstimatedProbability",
    "EstimatedTokens",
    "Probability",
    "Rows",
    "Tabular",
    "Tokens",
    "check_ending",
    "columns_of",
    "write_table",
]
