"""Logged logits in, tables and charts out."""

from otspec.traces.comparison import Comparison, compare
from otspec.traces.readers.logged_numbers import Warp, Warping, warp
from otspec.traces.runs.run import FinishedRun, read_run
from otspec.traces.summary import Summary, summarize
from otspec.traces.trace import Trace, load_trace

__all__ = [
    "Comparison",
    "FinishedRun",
    "Summary",
    "Trace",
    "Warp",
    "Warping",
    "compare",
    "load_trace",
    "read_run",
    "summarize",
    "warp",
]
