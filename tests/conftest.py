"""Options and fixtures of the whole test suite."""

import gc
import math
import os
import signal
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from searching import NIGHTLY
from skipped import lines

pytest_plugins = (
    "pytester",  # runs of pytest, for the tests of the plugin of the package
    "absent_packages",
    "made_rules",
)

# OTSPEC_HYPOTHESIS=long looks for counterexamples for hours, nightly for minutes; short tries the
# same examples each time.
settings.register_profile("short", max_examples=40, deadline=None, derandomize=True, database=None)
settings.register_profile("nightly", max_examples=1_000, deadline=None)
settings.register_profile("long", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("OTSPEC_HYPOTHESIS", "short"))

TRACES = {
    "smollm2-trace": ("OTSPEC_SMOLLM2_TRACE", "the SmolLM2 trace of eight blocks"),
    "long-trace": ("OTSPEC_LONG_TRACE", "the SmolLM2 trace of 96 texts (docs/sample.md)"),
}
"""Traces that do not ship: option -> its variable, and what it is."""

# What the tests need of the process that runs them, and of those that they start.
# They hear all signals: a shell ignores Ctrl-C for what it starts in the background, and nohup the
# end of a terminal. Python itself ignores the other two.
for _signal in signal.valid_signals():
    ignored = signal.getsignal(_signal) is signal.SIG_IGN
    if ignored and getattr(_signal, "name", "") not in ("SIGPIPE", "SIGXFSZ"):
        heard = signal.default_int_handler if _signal is signal.SIGINT else signal.SIG_DFL
        signal.signal(_signal, heard)
# Files have the usual permissions.
os.umask(0o022)
# Nothing limits them that need not.
with suppress(ImportError):
    import resource

    for _limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS):
        _, _most = resource.getrlimit(_limit)
        resource.setrlimit(_limit, (_most, _most))
# They print UTF-8, whatever the locale is, and as for no terminal, whatever that of the caller is.
os.environ["PYTHONIOENCODING"] = "utf-8"
for _name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)
# JAX compiles hundreds of functions that run once: machine code as it comes, not polished, and by
# day of loops that are not fused, in half of the time. XLA ends a process over an option that it
# does not know: this one is given to releases that were tried with it.
_COMPILING = "--xla_backend_optimization_level=0"
_JAX = next((found.version for found in distributions(name="jaxlib")), "")
if not NIGHTLY and _JAX.startswith("0.10."):
    _COMPILING += " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
os.environ.setdefault("XLA_FLAGS", _COMPILING)
# By day libraries have one thread each: more of them wait for each other busily, beside as many
# workers as there are cores.
if not NIGHTLY:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Inductor would start processes to compile in, which import PyTorch each.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def pytest_addoption(parser):
    for option, (variable, what) in TRACES.items():
        parser.addoption(
            f"--{option}", default=os.environ.get(variable), metavar="FILE",
            help=f"{what} (default: ${variable})",
        )  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for doctests in the package only: to look, pytest goes through all that a module holds.

    It is called for what is beside this file and below.
    """
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


class FromTheEnd(pytest.Dir):
    """A folder whose last file is collected first."""

    def collect(self):
        return list(super().collect())[::-1]


def pytest_collect_directory(path, parent):
    """Let every other worker collect folders from the end: it finds what is compiled already."""
    odd = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579"
    return FromTheEnd.from_parent(parent, path=path) if odd else None


def pytest_collection_modifyitems(config, items):
    """Leave what is marked as nightly to ``make nightly``; workers have one order."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.path.parts)
    if NIGHTLY:
        return
    skipped = pytest.mark.skip(reason="runs in make nightly")
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(skipped)


def pytest_collection_finish(session):
    """Let the collector leave alone what is there before the first test, and come less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter):
    """Say what was skipped, and how to run it."""
    skipped = [report.longrepr[2] for report in terminalreporter.getreports("skipped")]
    if skipped:
        terminalreporter.section(f"{len(skipped)} skipped")
        terminalreporter.write_line("\n".join(lines(skipped)))


@pytest.fixture(scope="session", autouse=True)
def _one_worker_by_default():
    """Runs that are not told how many workers to start have none: each imports the package again.

    Tests of workers say how many; commands in processes of their own start one for each core.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("otspec.traces.runs.parallel.cores", lambda: 1)
        # However slow the machine is, nothing takes so long that a line tells of progress.
        patched.setattr("otspec.cli.shared.progress._LINE_S", math.inf)
        yield


def given_trace(request, option):
    """Return the path of a trace that does not ship, or skip the test."""
    path = request.config.getoption(f"--{option}")
    if path is None:
        variable, what = TRACES[option]
        pytest.skip(f"{what} does not ship: pass --{option}=FILE or set {variable}")
    return Path(path)


@pytest.fixture(scope="session")
def full_trace_path(request):
    return given_trace(request, "smollm2-trace")


@pytest.fixture(scope="session")
def long_trace_path(request):
    return given_trace(request, "long-trace")
