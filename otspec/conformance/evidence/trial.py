"""Trying a verifier on one case until it is clear, and how much of its drafts it accepted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from otspec._base import IntArray
from otspec.blocks import BlockVerificationPreprint
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import model_of
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.evidence import Evidence, Requirement
from otspec.conformance.evidence.statistics import Statistic
from otspec.conformance.report.report import Finding, Tried
from otspec.drafts import LAWS
from otspec.estimate import Estimate
from otspec.optimum import optimal_acceptance


class FaultError(Exception):
    """A verifier does what no right one does."""

    def __init__(
        self,
        statistic: str,
        reason: str,
        traceback: str | None = None,
        fault: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.statistic, self.reason, self.traceback = statistic, reason, traceback
        self.fault = fault  # the known fault that it is, where it can be no other

    def on(self, case: str) -> Finding:
        """Return the finding on a case."""
        known = () if self.fault is None else (self.fault,)
        return Finding(
            case, self.statistic, self.reason, looks_like=known, traceback=self.traceback
        )


class Tested(NamedTuple):
    """A law that is tested, and what of it may be off before."""

    statistics: Sequence[Statistic]  # the last is tested; the others locate a fault
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
    name: str,
    batch: Callable[[int], IntArray],
    tests: Sequence[Tested],
    largest: int,
    begin: int = 0,
) -> tuple[Tried, Finding | None]:
    """Look at ever more samples, from so many on, and stop when it is clear."""
    running = [(test, test.evidence) for test in tests]
    counts = np.zeros(tests[0].last.cells.shape, dtype=np.int64)
    done, finding = 0, None
    sizes = {size for _, evidence in running for size in evidence.looks() if size >= begin}
    for look in sorted(sizes):
        try:
            while done < look:
                counts += batch(min(largest, look - done))
                done = int(counts.sum()) // tests[0].last.samples
        except FaultError as fault:
            finding = fault.on(name)
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
    found = float(first.evidence.logarithms(first.last.counts(counts)).max())
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
    if statistic.ways:
        found = evidence.logarithms(seen)
        found = np.where(found < needs.threshold, 0, found)
        if statistic.meaning:  # numbers that are shared make two agree more
            found = found * np.where(seen[:, 0] < seen[:, 1], 1, 2)
        place = int(np.argmax(found >= found.max() / 2))  # the first way of much evidence
        statistic, seen = statistic.of_way(place), seen[place]
    observed = seen / seen.sum()
    # Of two cells both are off by the same; the first is named.
    worst = int(np.argmax(np.round(np.abs(observed - statistic.expected), 12)))
    label, seen_often, size = statistic.labels[worst], observed[worst], f"{int(seen.sum()):,}"
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
        looks_like=(statistic.fault,) if statistic.fault else (),
        labels=statistic.labels,
    )


def accepted(kind: Kind, counts: IntArray) -> Estimate | None:
    """Return how much was accepted on average; None of fewer than two rows."""
    by_mark = counts.sum(axis=1)
    if by_mark.sum() < 2:
        return None
    worth = np.minimum(np.arange(kind.marks), 1) if kind.name == "tokens" else kind.kept
    values = np.repeat(np.array(worth, dtype=float), by_mark)
    return Estimate.of_mean(values, most=float(max(worth)))


def most_accepted(kind: Kind, case: Case) -> float | None:
    """Return the most that any lossless rule accepts on average, if that is cheap to tell."""
    known = kind.name == "block" or (kind.name == "tokens" and kind.law == "iid")
    if case.uneven or case.sizes.max() > 1 or not known:
        return None
    # A case in a large vocabulary has the rows of the small one.
    return _most_of(kind, case.draft.shape, case.draft.tobytes(), case.target.tobytes())


@lru_cache(maxsize=1024)
def _most_of(kind: Kind, shape: tuple[int, ...], draft: bytes, target: bytes) -> float:
    """Return the most that is accepted of models whose numbers are these bytes."""
    draft_rows, target_rows = (np.frombuffer(each).reshape(shape) for each in (draft, target))
    pairs, length = zip(draft_rows, target_rows, strict=True), len(kind.parents)
    if kind.name == "block":
        models = ((model_of(draft), model_of(target)) for draft, target in pairs)
        each = [BlockVerificationPreprint(*pair, length).expected() for pair in models]
    else:
        laws = ((LAWS[kind.law](p[0], length), q[0]) for p, q in pairs)
        each = [optimal_acceptance(*pair).acceptance for pair in laws]
    return float(np.mean([float(most) for most in each]))


def acceptance_note(tried: Tried) -> tuple[str, ...]:
    """Return what is to be said of a case in a note; nothing if its acceptance is not known."""
    seen = tried.accepted
    if seen is None:
        return ()
    error = max(seen.high - seen.value, seen.value - seen.low)
    known = (
        "" if tried.optimum is None else f"; the optimum for these drafts is {tried.optimum:.4f}"
    )
    return (f"on {tried.case!r} it accepts {seen:.4f} ± {error:.4f} per row{known}",)
