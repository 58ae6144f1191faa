"""Trying a verifier on one case until it is clear whether it is right there."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import IntArray
from otspec.conformance.evidence.evidence import Evidence, Requirement
from otspec.conformance.evidence.statistics import Statistic
from otspec.conformance.report.report import Finding, Tried


class FaultError(Exception):
    """A verifier does what no right one does."""

    def __init__(self, statistic: str, reason: str, traceback: str | None = None) -> None:
        super().__init__(reason)
        self.statistic, self.reason, self.traceback = statistic, reason, traceback


class Tested(NamedTuple):
    """A law that is tested, and what of it may be off before."""

    statistics: Sequence[Statistic]
    """The last is tested; the others say where a fault is."""
    needs: Requirement

    @property
    def last(self) -> Statistic:
        """The statistic that is tested."""
        return self.statistics[-1]

    @property
    def evidence(self) -> Evidence:
        """Its evidence."""
        return Evidence(self.last.expected, self.needs)


def tried(
    name: str, batch: Callable[[int], IntArray], tests: Sequence[Tested], largest: int
) -> tuple[Tried, Finding | None]:
    """Look at ever more samples, and stop when it is clear.

    Parameters
    ----------
    batch : callable
        Takes how many rows to verify; returns how often each fine cell was seen, in so many rows
        or more, and raises :class:`FaultError`.
    """
    running = [(test, test.evidence) for test in tests]
    counts = np.zeros(tests[0].last.cells.shape, dtype=np.int64)
    done, finding = 0, None
    for look in sorted({size for _, evidence in running for size in evidence.looks()}):
        try:
            while done < look:
                counts += batch(min(largest, look - done))
                done = int(counts.sum())
        except FaultError as fault:
            finding = Finding(name, fault.statistic, fault.reason, traceback=fault.traceback)
            break
        off = [test for test, evidence in running if evidence.wrong(test.last.counts(counts))]
        if off:
            finding = first_off(name, off[0].statistics, counts, off[0].needs)
            break
        running = [
            (test, evidence)
            for test, evidence in running
            if not evidence.passes(test.last.counts(counts))
        ]
        if not running:
            break
    first = tests[0]
    found = first.evidence.logarithm(first.last.counts(counts))
    return Tried(name, first.needs, done, found, counts, first.last.expected), finding


def untried(name: str, tests: Sequence[Tested]) -> Tried:
    """Return what is known of a case of which no sample was looked at."""
    first = tests[0]
    counts = np.zeros(first.last.cells.shape, dtype=np.int64)
    return Tried(name, replace(first.needs, detect=1.0), 0, 0.0, counts, first.last.expected)


def first_off(
    name: str, statistics: Sequence[Statistic], counts: IntArray, needs: Requirement
) -> Finding:
    """Return the first statistic that is off; the last one is."""
    for statistic in statistics:
        seen = statistic.counts(counts)
        evidence = Evidence(statistic.expected, needs)
        if evidence.wrong(seen):
            break
    observed = seen / seen.sum()
    worst = int(np.argmax(np.abs(observed - statistic.expected)))
    label, seen_often, size = statistic.label(worst), observed[worst], f"{int(seen.sum()):,}"
    if statistic.meaning:
        reason = (
            f"{statistic.meaning}: {label} in {seen_often:.1%} of {size} comparisons, and "
            f"independent ones in {statistic.expected[worst]:.0%}"
        )
    else:
        reason = (
            f"{label} has frequency {seen_often:.6f} and probability "
            f"{statistic.expected[worst]:.6f} in {size} samples"
        )
    return Finding(
        name,
        statistic.name,
        reason,
        tuple(observed.tolist()),
        tuple(statistic.expected.tolist()),
        evidence.logarithm(seen),
        labels=statistic.labels,
    )
