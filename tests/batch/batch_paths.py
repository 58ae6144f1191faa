"""The paths of a batch rule on a CPU: row by row in machine code, or operations on arrays."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from otspec._base import compiling
from otspec.batch import _dispatch

PATHS = ["rows", "arrays"] if compiling.HAS_NUMBA else ["arrays"]


@contextmanager
def taking(path):
    """Calls take a path, if it is for their arguments."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_dispatch, "ROWS", path == "rows")
        yield


@pytest.fixture(params=PATHS)
def path(request):
    with taking(request.param):
        yield request.param


def every_path(names):
    """Rules by name with each of their paths."""
    return [(name, path) for name in names for path in PATHS]
