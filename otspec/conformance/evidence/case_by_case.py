"""Trying a verifier case by case, with a budget, or following it exactly."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from otspec._base import Frozen
from otspec.auditing.black_box import seeded
from otspec.chance import CannotFollowError
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.library import needs_lengths, small_cases
from otspec.conformance.cases.ruled import Maker, has_joint_law, joint_law
from otspec.conformance.cases.tasks import SPECIAL, Task
from otspec.conformance.evidence.batches import BesideRejected, KernelBatches, Probed, probed
from otspec.conformance.evidence.dependence import FRESH, Pairs
from otspec.conformance.evidence.evidence import LARGEST, affordable, requirement_of
from otspec.conformance.evidence.sizes import FewRows, OddRows, SingleRows
from otspec.conformance.evidence.statistics import Statistic, joint_statistics
from otspec.conformance.evidence.trial import (
    FaultError,
    Tested,
    acceptance_note,
    accepted,
    most_accepted,
    tried,
    untried,
)
from otspec.conformance.exact_check import OutOfTimeError, exactly_tried
from otspec.conformance.exact_pairs import FOLLOWED, exactly_paired
from otspec.conformance.faults.explanations import explained
from otspec.conformance.report.report import Finding, Report, Tried

MOST_ROWS = 1 << 14  # most rows of one call
MOST_NUMBERS = 1 << 22  # most probabilities of one call
COARSE = 0.1  # default total variation to detect where rows are expensive
LARGE = 0.2  # least share of the budget for the large cases

Progress: TypeAlias = Callable[[int, int], object]  # takes how many are done, of how many
Result: TypeAlias = tuple[Task, Tried, Finding | None]
UNJUDGED = (
    "where texts depend on each other, how often each comes says nothing about its probability: "
    "other cases are judged by failed calls and impossible tokens alone until that is mended"
)


@dataclass(frozen=True, eq=False)
class Check(Frozen):
    """A check of one verifier. Parameters: :func:`otspec.conformance.check`."""

    tasks: tuple[Task, ...]
    kind: str
    mode: str
    maker: Maker | None
    detect: float
    false_alarm: float
    rounding: float
    budget: int
    seed: int
    coarse: float
    unit: int = 1
    require: float = 1.0
    seconds: float = math.inf

    def run(self, progress: Progress) -> Report:
        """Try all cases."""
        with seeded(self.seed):
            probe = self._probe()
            unseen: tuple[str, ...] = ()
            if self.mode == "exact":
                results, unseen = self._followed(progress)
            else:
                alarm = self.false_alarm / len(self.tasks)
                self._refuse_hidden(alarm)
                results = self._sampled(alarm, probe, progress)
        exact = self.mode == "exact"
        results, dependent = (results, _mended(results)) if exact else _judged(results)
        tasks, trials, found = zip(*results, strict=True)
        findings, causes = explained(tasks, list(zip(trials, found, strict=True)))
        return Report(
            self.kind,
            self.mode,
            findings,
            trials,
            0.0 if self.mode == "exact" else self.false_alarm,
            (*dependent, *causes, *unseen, *self._notes(probe), *acceptance_note(trials[0])),
            verifier=self.tasks[0].verifier.name,
            unit=self.unit,
            require=self.require,
        )

    def _sampled(self, alarm: float, probe: Probed, progress: Progress) -> list[Result]:
        """Try all cases: the small ones first, then the large ones with what is left."""
        small = [task for task in self.tasks if not task.costly]
        costly = [task for task in self.tasks if task.costly]
        results: list[Result] = []
        rng = np.random.default_rng(self.seed)
        needed = sum(self._rows(task, alarm) * task.numbers for task in self.tasks)
        enough = needed <= self.budget
        left = self.budget * (1 - LARGE if costly and not enough else 1)
        for count, group in ((len(small), small), (len(costly), costly)):
            for place, task in enumerate(group):
                # Most stop at half of what they may take.
                share = left if enough else min(left, 2 * left / (count - place))
                trial, finding = self._tried(task, alarm, share, rng, probe.marked)
                results.append((task, trial, finding))
                progress(len(results), len(self.tasks))
                left -= trial.size * task.numbers
            left += 0 if enough else self.budget * LARGE
        return results

    def _followed(self, progress: Progress) -> tuple[list[Result], tuple[str, ...]]:
        """Follow the verifier on all small cases; and say in words what was not followed."""
        small = [task for task in self.tasks if not task.costly and task.batches is KernelBatches]
        results: dict[str, Result] = {}
        deadline = time.monotonic() + self.seconds
        for task in sorted(small, key=lambda it: it.case.ways) if deadline < math.inf else small:
            tests = self._tests(task, self.false_alarm, 1)
            try:
                trial, finding = exactly_tried(task, tests, self.rounding, deadline)
            except OutOfTimeError:
                trial, finding = replace(untried(task.case.name, tests), short=True), None
            except CannotFollowError as error:
                raise ValueError(
                    f"mode is 'exact', and the verifier cannot be followed on {task.case.name!r}: "
                    f"{error}; test it by samples with mode='kernel'"
                ) from error
            results[task.case.name] = task, trial, finding
            progress(len(results), len(small))
        found = [results[task.case.name] for task in small]
        pairs, unseen = self._pairs(deadline)
        beside = any(task.batches is BesideRejected and finding for task, _, finding in pairs)
        if beside and not any(finding for _, _, finding in found):
            # What a row says depends on what another keeps, and not on its random numbers.
            pairs = [(a, b, off and replace(off, looks_like=())) for a, b, off in pairs]
        return [*found, *pairs], unseen

    def _pairs(self, deadline: float) -> tuple[list[Result], tuple[str, ...]]:
        """Follow two rows of a call, and two calls, as far as they can be."""
        found: list[Result] = []
        unseen: list[str] = []
        for task in (task for task in self.tasks if task.batches in (*FOLLOWED, BesideRejected)):
            tests = self._tests(task, self.false_alarm, 1)
            follow = exactly_tried if task.batches is BesideRejected else exactly_paired
            try:
                found.append((task, *follow(task, tests, self.rounding, deadline)))
            except OutOfTimeError:
                found.append((task, replace(untried(task.case.name, tests), short=True), None))
            # A function of one row can be followed, too.
            except (CannotFollowError, FaultError, ValueError) as error:
                unseen.append(
                    f"whether {task.case.name} depend on each other was not seen: {error}"
                )
        return found, tuple(unseen)

    def _refuse_hidden(self, alarm: float) -> None:
        """Refuse to detect what rounding hides, whatever the number of samples."""
        cells = max(
            test.needs.cells
            for task in self.tasks
            if task.batches is KernelBatches
            for test in self._tests(task, alarm, 1)
        )
        smallest = affordable(cells, LARGEST, alarm, self.rounding).detect
        if self.detect < smallest:
            raise ValueError(
                f"detect is {self.detect:g}, which errors of {self.rounding:g} by rounding hide: "
                f"pass detect={math.ceil(smallest * 1000) / 1000:g} or more, or a smaller rounding"
            )

    def _probe(self) -> Probed:
        """Return what a verifier of drafts does with its arrays."""
        if self.mode != "kernel":
            return Probed(False, [])
        task = self.tasks[0]
        return probed(task.verifier, task.kind, task.case, self.seed)

    def _notes(self, probe: Probed) -> tuple[str, ...]:
        """Return what a verifier of drafts writes to, and what was not tried, in words."""
        if self.mode == "pipeline":
            return ()
        task = self.tasks[0]
        notes = (f"it writes to {name}" for name in probe.written)
        return (*notes, *without_lengths(task.verifier, task.kind))

    def _rows(self, task: Task, alarm: float) -> int:
        """Return how many rows find what is to be found on a case, in whole calls."""
        size = max(test.needs.size for test in self._tests(task, alarm, LARGEST))
        return -(-size // task.together) * task.together

    def _tests(self, task: Task, alarm: float, most: int) -> list[Tested]:
        """Return the laws that a case is tested for, with at most so many samples."""
        laws: list[list[Statistic]] = [task.statistics]
        told = task.batches in (KernelBatches, SingleRows, FewRows, OddRows)
        if self.maker is not None and told and has_joint_law(task.kind, task.case):
            law = joint_law(self.maker, task.kind, task.case)
            laws.append(joint_statistics(task.kind, task.case, law))
        detect = task.wanted(self.detect, self.coarse)
        # Whether answers are independent does not depend on their law, even if that is rounded.
        rounding = 0.0 if issubclass(task.batches, Pairs) else self.rounding
        share = alarm / sum(each[-1].samples for each in laws)
        needs = [requirement_of(each[-1].expected, detect, share, rounding, most) for each in laws]
        return [Tested(*pair) for pair in zip(laws, needs, strict=True)]

    def _tried(
        self, task: Task, alarm: float, numbers: float, rng: np.random.Generator, tells: bool
    ) -> tuple[Tried, Finding | None]:
        """Try one case with at most so many probabilities."""
        needed = self._rows(task, alarm)
        most = max(0, int(numbers / task.numbers) // task.together * task.together)
        tests = self._tests(task, alarm, max(1, most))
        randomness = task.verifier.randomness(int(rng.integers(2**31)))
        marked = len(tests) > 1
        batch = task.batches(
            task.verifier, task.kind, task.case, randomness, rng, marked, task.before
        )
        largest = max(1, min(MOST_ROWS, MOST_NUMBERS * task.batches.series // task.numbers))
        # So many calls and ways to compare them are not taken for a few comparisons.
        begin = tests[0].needs.size // 2 if issubclass(task.batches, Pairs) else 0
        began = time.perf_counter()
        if task.before and not most:  # such a call is made as a whole or not at all
            result, finding = untried(task.law.name, tests), None
        else:
            result, finding = tried(task.law.name, batch, tests, largest, begin)
        result = replace(
            result,
            asked=task.wanted(self.detect, self.coarse),
            rows_needed=needed,
            numbers=task.numbers,
            seconds=time.perf_counter() - began,
            short=most < needed,
        )
        if not tells or task.batches is not KernelBatches:
            return result, finding
        seen, best = accepted(task.kind, result.counts), most_accepted(task.kind, task.case)
        return replace(result, accepted=seen, optimum=best), finding


def without_lengths(verifier: Verifier, kind: Kind) -> tuple[str, ...]:
    """Say what is not tried of a verifier that takes no rows of fewer drafts."""
    if verifier.uneven:
        return ()
    count = sum(needs_lengths(kind, case) for case in small_cases(kind))
    takes = "a mask" if kind.name == "tree" else "lengths or a mask"
    return (f"rows of fewer drafts are not tried, {count} cases: it does not take {takes}",)


def _judged(results: list[Result]) -> tuple[list[Result], tuple[str, ...]]:
    """Return what the results say if texts depend on each other, which comes first, and notes."""
    # How often such texts were seen says nothing about their probabilities.
    pairs: list[Result] = []
    others: list[Result] = []
    for task, trial, finding in results:
        if not issubclass(task.batches, Pairs):
            others.append((task, trial, finding if finding and _certain(finding) else None))
        else:
            pairs.append((task, trial, finding))
    faults = [cause for _, _, finding in pairs if finding for cause in finding.looks_like]
    if not faults:
        return _special(results), ()
    return [*pairs, *others], (*_mended(pairs), UNJUDGED)


def _mended(results: list[Result]) -> tuple[str, ...]:
    """Return what to do about texts that depend on each other."""
    found = [finding for task, _, finding in results if finding and issubclass(task.batches, Pairs)]
    causes = [cause for finding in found for cause in finding.looks_like]
    return tuple(f"{cause}. What to do: {FRESH}." for cause in causes)


def _special(results: list[Result]) -> list[Result]:
    """Return the results with the cause of findings, if only special cases have any."""
    off = [task.special for task, _, finding in results if finding]
    if None in off:
        return results
    cause = tuple(SPECIAL[name] for name in SPECIAL if name in off)[:1]
    return [
        (task, trial, replace(finding, looks_like=cause) if finding else None)
        for task, trial, finding in results
    ]


def _certain(finding: Finding) -> bool:
    """Return whether a finding is no matter of frequencies: a failed call, an impossible token."""
    cells = zip(finding.observed, finding.expected, strict=True)
    return not finding.observed or any(seen > 0 and right == 0 for seen, right in cells)
