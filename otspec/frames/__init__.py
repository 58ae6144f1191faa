"""Results as tables: Arrow, pandas, polars, and files."""

from otspec.frames.columns import (
    Column,
    EstimatedProbability,
    EstimatedTokens,
    Probability,
    Tokens,
    columns_of,
)
from otspec.frames.rows import Rows, Tabular, check_ending, write_table

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
