"""Trying a verifier case by case, with a budget, or following it exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from otspec.auditing.seeding import seeded
from otspec.chance import CannotFollowError
from otspec.conformance.acceptance import acceptance_note, accepted, most_accepted
from otspec.conformance.evidence import LARGEST, Requirement, affordable, requirement_of
from otspec.conformance.exact_check import exactly_tried
from otspec.conformance.faults.explanations import explained
from otspec.conformance.kernel import KernelBatches, Probed, probed
from otspec.conformance.library import needs_lengths, small_cases
from otspec.conformance.report import Finding, Report, Tried
from otspec.conformance.ruled import Maker, has_joint_law, joint_law
from otspec.conformance.statistics import Statistic, joint_statistics
from otspec.conformance.tasks import Task
from otspec.conformance.trial import Tested, tried
from otspec.frozen import Frozen

MOST_ROWS = 1 << 14
"""Rows of one call."""
MOST_NUMBERS = 1 << 22
"""Probabilities of one call."""
LARGE = 0.2
"""The least share of the budget for the large cases."""

Progress: TypeAlias = Callable[[int, int], object]
"""Takes after each case how many are done, and how many there are."""


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
    vocabulary: int

    def run(self, progress: Progress) -> Report:
        """Try all cases."""
        with seeded(self.seed):
            probe = self._probe()
            if self.mode == "exact":
                results = self._followed(progress)
            else:
                alarm = self.false_alarm / len(self.tasks)
                self._refuse_hidden(alarm)
                results = self._sampled(alarm, probe, progress)
        tasks, trials, found = zip(*results, strict=True)
        findings, causes = explained(tasks, list(zip(trials, found, strict=True)))
        return Report(
            self.kind,
            self.mode,
            findings,
            trials,
            0.0 if self.mode == "exact" else self.false_alarm,
            (*causes, *self._notes(probe), *acceptance_note(trials[0])),
            verifier=self.tasks[0].verifier.name,
        )

    def _sampled(
        self, alarm: float, probe: Probed, progress: Progress
    ) -> list[tuple[Task, Tried, Finding | None]]:
        """Try all cases: the small ones first, then the large ones with what is left."""
        small = [task for task in self.tasks if task.case.vocabulary < self.vocabulary]
        large = [task for task in self.tasks if task.case.vocabulary >= self.vocabulary]
        results: list[tuple[Task, Tried, Finding | None]] = []
        rng = np.random.default_rng(self.seed)
        left = self.budget * (1 - LARGE if large else 1)
        for count, group in ((len(small), small), (len(large), large)):
            for place, task in enumerate(group):
                # Most stop at half of what they may take.
                share = min(left, 2 * left / (count - place))
                trial, finding = self._tried(task, alarm, share, rng, probe.marked)
                results.append((task, trial, finding))
                progress(len(results), len(self.tasks))
                left -= trial.size * task.numbers
            left += self.budget * LARGE
        return results

    def _followed(self, progress: Progress) -> list[tuple[Task, Tried, Finding | None]]:
        """Follow the verifier on all small cases.

        Raises
        ------
        ValueError
            It cannot be followed.
        """
        small = [
            task
            for task in self.tasks
            if task.case.vocabulary < self.vocabulary and task.batches is KernelBatches
        ]
        results = []
        for done, task in enumerate(small, start=1):
            tests = self._tests(task, self.false_alarm, 1)
            try:
                trial, finding = exactly_tried(
                    task.verifier, task.kind, task.case, tests, self.rounding
                )
            except CannotFollowError as error:
                raise ValueError(
                    f"mode is 'exact', and the verifier cannot be followed on {task.case.name!r}: "
                    f"{error}; test it by samples with mode='kernel'"
                ) from error
            results.append((task, trial, finding))
            progress(done, len(small))
        return results

    def _refuse_hidden(self, alarm: float) -> None:
        """Refuse to detect what rounding hides, whatever the number of samples."""
        first = next(task for task in self.tasks if task.batches is KernelBatches)
        cells = max(len(test.last.expected) for test in self._tests(first, alarm, 1))
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
        notes = tuple(f"it writes to {name}" for name in probe.written)
        if task.verifier.uneven:
            return notes
        count = sum(needs_lengths(task.kind, case) for case in small_cases(task.kind))
        takes = "a mask" if self.kind == "tree" else "lengths or a mask"
        left = f"rows of fewer drafts are not tried, {count} cases: it does not take {takes}"
        return (*notes, left)

    def _tests(self, task: Task, alarm: float, most: int) -> list[Tested]:
        """Return the laws that a case is tested for, with at most so many samples."""
        laws: list[list[Statistic]] = [task.statistics()]
        alone = task.batches is KernelBatches
        if self.maker is not None and alone and has_joint_law(task.kind, task.case):
            law = joint_law(self.maker, task.kind, task.case)
            laws.append(joint_statistics(task.kind, task.case, law))
        detect = min(self.detect * task.batches.coarser, 1.0)
        return [
            Tested(each, self._needs(each[-1], detect, alarm / len(laws), most)) for each in laws
        ]

    def _needs(self, statistic: Statistic, detect: float, alarm: float, most: int) -> Requirement:
        return requirement_of(statistic.expected, detect, alarm, self.rounding, most)

    def _tried(
        self, task: Task, alarm: float, numbers: float, rng: np.random.Generator, tells: bool
    ) -> tuple[Tried, Finding | None]:
        """Try one case with at most so many probabilities."""
        tests = self._tests(task, alarm, max(1, int(numbers / task.numbers)))
        randomness = task.verifier.randomness(int(rng.integers(2**31)))
        marked = len(tests) > 1
        batch = task.batches(task.verifier, task.kind, task.case, randomness, rng, marked)
        largest = max(1, min(MOST_ROWS, MOST_NUMBERS // task.numbers))
        result, finding = tried(task.law.name, batch, tests, largest)
        if not tells or task.batches is not KernelBatches:
            return result, finding
        seen, most = accepted(task.kind, result.counts), most_accepted(task.kind, task.case)
        return replace(result, accepted=seen, optimum=most), finding
