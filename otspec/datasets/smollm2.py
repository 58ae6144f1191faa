"""The SmolLM2 trace: a 135M-parameter model, and itself with four layers skipped as draft."""

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from os import PathLike
from pathlib import Path

from otspec.traces.trace import Trace, load_trace


def load_smollm2(path: str | PathLike[str] | None = None) -> Trace:
    """Return the SmolLM2 trace that ships with the package, or one from a file in the same format.

    It has logits of shape (24, 1, 49152), float16: one position of each of 24 texts. Its
    ``drafted`` are blocks of 8 tokens of two other texts, which ``blocks()`` gives; ``README.md``
    beside it says how it was drawn. Errors are those of :func:`otspec.traces.load_trace`.

    Examples
    --------
    >>> load_smollm2().shape
    (24, 1, 49152)
    """
    if path is not None:
        return load_trace(path)
    with bundled_file() as bundled:
        return load_trace(bundled)


def bundled_file() -> AbstractContextManager[Path]:
    """Give the path of the sample that ships with the package, as long as the block lasts."""
    return as_file(files("otspec.datasets") / "smollm2_trace.npz")
