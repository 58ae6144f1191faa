"""Negative controls of a check: how surely wrong laws are found, and how rarely right ones.

What a verifier says on a case is independent from row to row, so that its counts are multinomial:
they are drawn from its exact law at the looks of the test, which is the test itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import Frozen
from otspec.chance import CannotFollowError
from otspec.conformance.cases.arrays import DTYPES
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Kind, Tokens, Tree
from otspec.conformance.cases.library import small_cases
from otspec.conformance.cases.text_cases import beside_texts, text_cases
from otspec.conformance.evidence.evidence import LARGEST, requirement_of
from otspec.conformance.evidence.statistics import text_statistics
from otspec.conformance.evidence.trial import Tested, tried
from otspec.conformance.faults.base import Fault, Seen, joint_law
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule
from otspec.conformance.report.report import Finding, Tried

ROUNDING = DTYPES["float32"]
DETECT = 0.005
FALSE_ALARM = 1e-6
"""Those of a check by default."""
OF_TREES = (
    "all positive",
    "ties",
    "a drafted token that the target never says",
    "a token that is never drafted",
    "a residual with next to nothing for one token",
    "rows that depend on the text",
    "good drafts after bad ones",
)
"""The cases that trees are tried on, whose laws take longest."""
LARGE = 101
"""Tokens of cases that are not small."""
WHOLE = 1 << 40
"""Rows of one batch: drawn counts have any size."""


def total_variation(law: Array, right: Array) -> float:
    """Return the total variation between two laws of texts, whatever the marks."""
    return float(np.abs(law.sum(axis=0) - right).sum() / 2)


def right_law(kind: Kind, case: Case) -> Array:
    """Return the law of fine cells that the target has."""
    return np.append(case.texts(kind.length).ravel() / case.variants, 0.0)


def kind_of(rule: RightRule) -> Kind:
    """Return the drafts that a rule is tried on: three, two of other laws; two, or a tree 2x1."""
    law = rule.law or "iid"
    if rule.kind == "tokens":
        return Tokens(1 if rule.law is None else 3 if law == "iid" else 2, law)
    return Block.of_length(2) if rule.kind == "block" else Tree((-1, -1, 0, 1), law)


@lru_cache(maxsize=64)
def cases_of(kind: Kind) -> tuple[Case, ...]:
    """Return the small cases of a kind that every verifier of it takes; of trees a few.

    No fault of the table needs the two cases in which both models are nearly certain of one token.
    """
    if isinstance(kind, Texts):
        cases = (case for case in text_cases(kind.length, LARGE) if case.vocabulary < LARGE)
        return (*cases, beside_texts())
    certain = (
        case for case in small_cases(kind) if not case.name.endswith("certain, of one token")
    )
    cases = (case for case in certain if not case.uneven)
    return tuple(case for case in cases if kind.name != "tree" or case.name in OF_TREES)


@dataclass(frozen=True, eq=False)
class Control(Frozen):
    """A law on one case, and the test that it is tried by.

    Parameters
    ----------
    kind : Kind
    case : Case
    law : ndarray, shape (marks, fine cells)
        As :func:`~otspec.conformance.faults.base.joint_law` gives it.
    detect : float
    false_alarm : float
        Of the one case.
    """

    kind: Kind
    case: Case
    law: Array
    detect: float = DETECT
    false_alarm: float = FALSE_ALARM

    @property
    def total_variation(self) -> float:
        """Between the law of its texts and the target's."""
        return total_variation(self.law, right_law(self.kind, self.case))

    def batches(self, rng: np.random.Generator) -> Callable[[int], IntArray]:
        """Return what draws the counts of so many rows."""
        masses = self.law.ravel() / self.law.sum()
        return lambda size: rng.multinomial(size, masses).reshape(self.law.shape)

    def run(self, rng: np.random.Generator) -> tuple[Tried, Finding | None]:
        """Try the law as a check tries a verifier."""
        return tried(self.case.name, self.batches(rng), [self.tested], WHOLE)

    @property
    def tested(self) -> Tested:
        """What is compared."""
        statistics = text_statistics(self.kind, self.case)
        law = statistics[-1].expected
        return Tested(
            statistics, requirement_of(law, self.detect, self.false_alarm, ROUNDING, LARGEST)
        )

    def runs(self, repetitions: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Try the law so many times, all at once.

        Returns
        -------
        found : ndarray of bool, shape (repetitions,)
            Whether it is found wrong.
        sizes : ndarray of int, shape (repetitions,)
            After how many samples that was clear.
        """
        evidence, needs = self.tested.evidence, self.tested.needs
        law = self.law.sum(axis=0) / self.law.sum()
        found, sizes = np.zeros(repetitions, dtype=bool), np.zeros(repetitions, dtype=np.int64)
        going, counts = np.arange(repetitions), np.zeros((repetitions, len(law)), dtype=np.int64)
        done = 0
        for look in evidence.looks():
            counts += rng.multinomial(look - done, law, size=len(going))
            done = look
            sizes[going] = look
            wrong = evidence.logarithms(counts) >= needs.threshold
            found[going] = wrong
            stay = ~(wrong | evidence.near(counts)) if evidence.may_pass(look) else ~wrong
            going, counts = going[stay], counts[stay]
            if not going.size:
                break
        return found, sizes

    def at(self, distance: float) -> Control:
        """Return the mixture of this law and the target's that has a total variation.

        Raises
        ------
        ValueError
            This law is nearer.
        """
        share = distance / self.total_variation
        if share > 1:
            raise ValueError(f"distance is {distance:g}, but the law's is {self.total_variation:g}")
        right = np.zeros_like(self.law)
        right[0] = right_law(self.kind, self.case)
        mixed = share * self.law + (1 - share) * right
        return Control(self.kind, self.case, mixed, self.detect, self.false_alarm)


def control(fault: Fault | None, rule: RightRule, kind: Kind, case: Case) -> Control:
    """Return the control of a fault in a rule, or of the rule itself."""
    machine = Machine if fault is None else fault.machine
    alarm = FALSE_ALARM / (2 * len(cases_of(kind)))  # half of a check's cases are large
    return Control(kind, case, joint_law(machine, rule, kind, case), false_alarm=alarm)


def controls_of(fault: Fault, rule: RightRule, kind: Kind) -> list[Control]:
    """Return the controls of a fault in a rule, on the cases where its law can be had.

    A fault that draws much more often than a correct verifier has too many ways on some of them.
    """
    found = []
    for case in cases_of(kind):
        with suppress(CannotFollowError):
            found.append(control(fault, rule, kind, case))
    return found


def worst(controls: Iterable[Control]) -> Control:
    """Return the control of the case on which a fault in a rule is farthest off."""
    return max(controls, key=lambda each: each.total_variation)


def seen_of(controls: Iterable[Control], rng: np.random.Generator) -> list[Seen]:
    """Return what a check sees on several cases."""
    runs = [(each, each.run(rng)) for each in controls]
    return [
        Seen(each.case, seen.counts, seen.needs, finding is not None)
        for each, (seen, finding) in runs
    ]


def alarms(kind: Kind, runs: int, rng: np.random.Generator) -> int:
    """Return how many of so many checks of a correct verifier have a finding.

    All right verifiers have one law of texts, the target's.
    """
    cases = [case for case in small_cases(kind) if not case.uneven]
    found = np.zeros(runs, dtype=bool)
    for case in cases:
        law = right_law(kind, case)[None]
        each = Control(kind, case, law, false_alarm=FALSE_ALARM / (2 * len(cases)))
        found |= each.runs(runs, rng)[0]
    return int(found.sum())
