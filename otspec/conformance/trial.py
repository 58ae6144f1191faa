"""Trying a verifier on one case until it is clear whether it is right there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from otspec.arithmetic import IntArray
from otspec.conformance.evidence import Evidence, Requirement
from otspec.conformance.report import Finding, Tried
from otspec.conformance.statistics import Statistic


class FaultError(Exception):
    """A verifier does what no right one does.

    Parameters
    ----------
    statistic : str
        ``call`` if it raised something, else ``impossible``.
    reason : str
    traceback : str, optional
    """

    def __init__(self, statistic: str, reason: str, traceback: str | None = None) -> None:
        super().__init__(reason)
        self.statistic, self.reason, self.traceback = statistic, reason, traceback


def tried(
    name: str,
    batch: Callable[[int], IntArray],
    statistics: Sequence[Statistic],
    needs: Requirement,
    largest: int,
) -> tuple[Tried, Finding | None]:
    """Look at ever more samples, and stop when it is clear.

    Parameters
    ----------
    name : str
        Of the case.
    batch : callable
        Takes how many rows to verify; returns how often each fine cell was seen, and raises
        :class:`FaultError`.
    statistics : sequence of Statistic
        The last is tested; the others say where a fault is.
    needs : Requirement
        Of that test.
    largest : int
        Rows of one batch.
    """
    tested = statistics[-1]
    evidence = Evidence(tested.expected, needs)
    counts = np.zeros(tested.cells.shape, dtype=np.int64)
    done, finding = 0, None
    for look in evidence.looks():
        try:
            while done < look:
                size = min(largest, look - done)
                counts += batch(size)
                done += size
        except FaultError as fault:
            finding = Finding(name, fault.statistic, fault.reason, traceback=fault.traceback)
            break
        seen = tested.counts(counts)
        if evidence.wrong(seen):
            finding = first_off(name, statistics, counts, needs)
            break
        if evidence.passes(seen):
            break
    found = evidence.logarithm(tested.counts(counts))
    return Tried(name, needs, done, found, counts, tested.expected), finding


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
    return Finding(
        name,
        statistic.name,
        f"{statistic.label(worst)} has frequency {observed[worst]:.6f} and probability "
        f"{statistic.expected[worst]:.6f} in {int(seen.sum()):,} samples",
        tuple(observed.tolist()),
        tuple(statistic.expected.tolist()),
        evidence.logarithm(seen),
        labels=statistic.labels,
    )
