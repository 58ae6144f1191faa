"""Runs: a folder each, with what was computed, what failed, and what it was made with."""

from otspec.traces.runs.opening import open_run
from otspec.traces.runs.run import Failure, Run
from otspec.traces.runs.temporary import temporary_folder

__all__ = ["Failure", "Run", "open_run", "temporary_folder"]
