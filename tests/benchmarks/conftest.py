"""A table of ratios, each of two things timed in turn in the same run."""

import statistics
import time
from dataclasses import dataclass

import pytest

_RESULTS = []


@dataclass
class Ratio:
    """Ours against a reference, with the goal that the ratio should meet."""

    what: str
    reference: str
    ours_s: float
    reference_s: float
    ratio: float
    goal: str


def timed(function, clock=time.perf_counter):
    start = clock()
    function()
    return clock() - start


@pytest.fixture
def report_ratio():
    """Time two functions in turn and put the median of the paired ratios into the table."""

    def measure(what, ours, reference, against, goal, rounds=30, clock=time.perf_counter):
        ours(), against()  # imports, caches, page faults
        pairs = [(timed(ours, clock), timed(against, clock)) for _ in range(rounds)]
        result = Ratio(
            what,
            reference,
            statistics.median(first for first, _ in pairs),
            statistics.median(second for _, second in pairs),
            statistics.median(first / second for first, second in pairs),
            goal,
        )
        _RESULTS.append(result)
        return result

    return measure


def pytest_terminal_summary(terminalreporter):
    if not _RESULTS:
        return
    terminalreporter.section("ratios (medians of pairs timed in turn)")
    for row in _RESULTS:
        ratio = f"{row.ratio:.2f}x" if row.ratio >= 0.1 else f"1/{1 / row.ratio:,.0f}"
        terminalreporter.line(
            f"{row.what}\n    against {row.reference}\n    {1e3 * row.ours_s:.3f} ms against "
            f"{1e3 * row.reference_s:.3f} ms: {ratio} (goal: {row.goal})"
        )
