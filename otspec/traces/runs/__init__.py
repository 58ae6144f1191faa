"""Runs: a folder each, with what was computed, what failed, and what it was made with."""

from otspec.traces.runs.opening import open_run, temporary_folder
from otspec.traces.runs.run import Failure, Run
from otspec.traces.runs.work import Chunk, Label, Settings, Work, read_part

__all__ = [
    "Chunk",
    "Failure",
    "Label",
    "Run",
    "Settings",
    "Work",
    "open_run",
    "read_part",
    "temporary_folder",
]
