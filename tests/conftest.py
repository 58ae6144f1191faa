"""Options and fixtures of the whole test suite."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# OTSPEC_HYPOTHESIS=long looks for counterexamples for hours; short always tries the same examples.
settings.register_profile("short", max_examples=100, deadline=None, derandomize=True, database=None)
settings.register_profile("long", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("OTSPEC_HYPOTHESIS", "short"))

FULL_TRACE = "OTSPEC_SMOLLM2_TRACE"

# What the tests need of the process that runs them, and of those that they start:
# they hear Ctrl-C, which is ignored in what a shell starts in the background,
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# and print UTF-8, whatever the locale is.
os.environ["PYTHONIOENCODING"] = "utf-8"


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
