"""Whether two rows of a call, and two calls, depend on each other: followed exactly."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.evidence.batches import read_answer
from otspec.conformance.evidence.dependence import (
    CALLS_APART,
    CallPairs,
    RowPairs,
    calls_apart,
    rows_apart,
    taken,
)
from otspec.conformance.evidence.trial import Tested
from otspec.conformance.exact_check import Drafted, answers, drafted_ways, sample_of, seeds_set
from otspec.conformance.report.report import Finding, Tried

FOLLOWED = (RowPairs, CallPairs)  # rows of a large call that share numbers are for samples
Said = tuple[int, ...]
Both: TypeAlias = Iterator[tuple[Said, Said, float]]


def exactly_paired(
    task: Task, tests: list[Tested], rounding: float, deadline: float
) -> tuple[Tried, Finding | None]:
    """Follow two rows of the likeliest drafts together, and compare them with each alone."""
    # Law: answers to given drafts are independent, so that both have the product of their laws.
    finding, cells = None, 0
    for way, both in _both(task, rounding / 10, deadline):
        joint: dict[tuple[Said, Said], float] = {}
        for one, two, chance in both:
            joint[one, two] = joint.get((one, two), 0.0) + chance
        cells = max(cells, len(joint))
        finding = _finding(task.case.name, joint, way, rounding)
        if finding is not None:
            break
    needs = replace(tests[0].needs, detect=min(1.0, cells * rounding / 2), size=0)
    evidence = 0.0 if finding is None else math.inf
    counts = np.zeros((1, 2), dtype=np.int64)
    return Tried(task.case.name, needs, 0, evidence, counts, np.array([0.5, 0.5])), finding


def _finding(
    name: str, joint: dict[tuple[Said, Said], float], way: tuple[str, str], rounding: float
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
    between, fault = way
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


def _both(task: Task, least: float, deadline: float) -> Iterator[tuple[tuple[str, str], Both]]:
    """Yield what is compared, and what is said of two rows, or in two calls, and how likely."""
    kind, case = task.kind, task.case
    ways = [way for way in drafted_ways(kind, case) if way.variant == 0]
    drafted: Drafted = max(ways, key=lambda way: (sum(way.there), way.mass))
    sample = sample_of(drafted, case)
    if task.batches is RowPairs:
        rows = taken(sample, np.array([0, 0]))
        found = answers(task.verifier, kind, case, rows, least, deadline)
        yield (
            rows_apart(1),
            (
                (_said(each, kind, case, rows, 0), _said(each, kind, case, rows, 1), chance)
                for (each,), chance in found
            ),
        )
        return
    # Two calls, and the second and the third of four: a verifier may count its calls in twos.
    series = [(1, (True, True)), (1, (False, True, True, False))]
    seeds = seeds_set(task.verifier, kind, case, sample, CALLS_APART + 1)
    for apart in range(2, len(seeds)):
        if any(one & two for one, two in zip(seeds, seeds[apart:], strict=False)):
            series.append((apart, (True, *(False,) * (apart - 1), True)))
            break
    for apart, followed in series:
        found = answers(task.verifier, kind, case, sample, least, deadline, followed)
        yield (
            calls_apart(apart),
            (
                (_said(one, kind, case, sample, 0), _said(two, kind, case, sample, 0), chance)
                for (one, two), chance in found
            ),
        )


def _said(answer: Any, kind: Kind, case: Case, sample: Sample, row: int) -> Said:
    read = read_answer(answer, kind, case, sample, marked=False)
    mark = () if read.marks is None else (int(read.marks[row]),)
    return (*mark, *read.texts[row].tolist())
