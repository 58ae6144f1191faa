"""Options and fixtures of the whole test suite."""

import os
from pathlib import Path

import pytest

FULL_TRACE = "OTSPEC_SMOLLM2_TRACE"


def pytest_addoption(parser):
    parser.addoption(
        "--smollm2-trace",
        default=os.environ.get(FULL_TRACE),
        metavar="FILE",
        help=f"the SmolLM2 trace of eight blocks (default: ${FULL_TRACE})",
    )


@pytest.fixture(scope="session")
def full_trace_path(request):
    path = request.config.getoption("--smollm2-trace")
    if path is None:
        pytest.skip(f"the full trace does not ship: pass --smollm2-trace=FILE or set {FULL_TRACE}")
    return Path(path)
