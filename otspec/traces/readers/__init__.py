"""Logged pairs of arrays, found by their headers and read by rows."""

from otspec.traces.readers.finding import find_source, locate_arrays
from otspec.traces.readers.logged_numbers import KINDS
from otspec.traces.readers.source import ChangedInputError, Source
from otspec.traces.readers.texts import LoggedText, TextRows

__all__ = [
    "KINDS",
    "ChangedInputError",
    "LoggedText",
    "Source",
    "TextRows",
    "find_source",
    "locate_arrays",
]
