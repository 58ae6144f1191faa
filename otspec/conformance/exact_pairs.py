"""Whether two rows of a call, and two calls, depend on each other: followed exactly."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.evidence.batches import read_answer
from otspec.conformance.evidence.dependence import CallPairs, RowPairs, taken
from otspec.conformance.evidence.trial import Tested
from otspec.conformance.exact_check import Drafted, answers, drafted_ways, sample_of
from otspec.conformance.report.report import Finding, Tried

FOLLOWED = (RowPairs, CallPairs)  # rows of a large call that share numbers are for samples
Said = tuple[int, ...]


def exactly_paired(
    task: Task, tests: list[Tested], rounding: float, deadline: float
) -> tuple[Tried, Finding | None]:
    """Follow two rows of the likeliest drafts together, and compare them with each alone."""
    # Law: answers to given drafts are independent, so that both have the product of their laws.
    batches: Any = task.batches
    joint: dict[tuple[Said, Said], float] = {}
    for one, two, chance in _both(task, rounding / 10, deadline):
        joint[one, two] = joint.get((one, two), 0.0) + chance
    finding = _finding(task.case.name, joint, batches, rounding)
    needs = replace(tests[0].needs, detect=min(1.0, len(joint) * rounding / 2), size=0)
    evidence = 0.0 if finding is None else math.inf
    counts = np.zeros((1, 2), dtype=np.int64)
    return Tried(task.case.name, needs, 0, evidence, counts, np.array([0.5, 0.5])), finding


def _finding(
    name: str, joint: dict[tuple[Said, Said], float], batches: Any, rounding: float
) -> Finding | None:
    alone: list[dict[Said, float]] = [{}, {}]
    for pair, mass in joint.items():
        for law, said in zip(alone, pair, strict=True):
            law[said] = law.get(said, 0.0) + mass
    one, two = alone
    pairs = [(a, b) for a in one for b in two]
    seen = tuple(joint.get(pair, 0.0) for pair in pairs)
    right = tuple(one[a] * two[b] for a, b in pairs)
    errors = [abs(a - b) for a, b in zip(seen, right, strict=True)]
    if max(errors) <= rounding:
        return None
    worst = int(np.argmax(errors))
    between, fault = batches.successive
    return Finding(
        name,
        f"dependence between {between}",
        f"{pairs[worst][0]} and {pairs[worst][1]} come together with probability "
        f"{seen[worst]:.9f}, and should with {right[worst]:.9f}",
        seen,
        right,
        looks_like=(fault,),
        labels=tuple(f"{a} and {b}" for a, b in pairs),
    )


def _both(task: Task, least: float, deadline: float) -> Iterator[tuple[Said, Said, float]]:
    """Yield what is said of two rows, or in two calls, and how likely."""
    kind, case = task.kind, task.case
    ways = [way for way in drafted_ways(kind, case) if way.variant == 0]
    drafted: Drafted = max(ways, key=lambda way: (sum(way.there), way.mass))
    sample = sample_of(drafted, case)
    if task.batches is RowPairs:
        rows = taken(sample, np.array([0, 0]))
        for (found,), chance in answers(task.verifier, kind, case, rows, least, deadline):
            yield _said(found, kind, case, rows, 0), _said(found, kind, case, rows, 1), chance
        return
    for found, chance in answers(task.verifier, kind, case, sample, least, deadline, calls=2):
        one, two = (_said(each, kind, case, sample, 0) for each in found)
        yield one, two, chance


def _said(answer: Any, kind: Kind, case: Case, sample: Sample, row: int) -> Said:
    read = read_answer(answer, kind, case, sample, marked=False)
    mark = () if read.marks is None else (int(read.marks[row]),)
    return (*mark, *read.texts[row].tolist())
