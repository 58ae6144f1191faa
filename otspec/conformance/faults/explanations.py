"""Which known faults explain what was seen: best first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from otspec.conformance.cases.cases import PADDING
from otspec.conformance.cases.generated import DrawnToken, Texts
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.cases.tasks import Task
from otspec.conformance.cases.warping import Warped, neutral
from otspec.conformance.evidence.batches import (
    BesideOthers,
    BesideRejected,
    KernelBatches,
)
from otspec.conformance.evidence.sizes import SingleRows
from otspec.conformance.faults.base import FAULTS, Fault, Seen, faults_of
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.rules import RightRule, rules_of
from otspec.conformance.faults.two_faults import AND, at_likeliest_strength, fit_of, two_faults
from otspec.conformance.report.report import Finding, Tried

FORGIVEN = 1  # cases that an explanation may not fit, if nothing fits more: code has its own ways
WORSE = 12.0  # explanations whose log-likelihood is so far below the best are left out
SHOWN = 5  # most explanations
FAILING, PASSING = 8, 6  # most cases with findings, and most others, that are compared
MOST_PAIRS = 3  # most pairs of models of a case without a finding that is compared, but for warping
MOST_SYMBOLS = 4  # most symbols of a case of distinct drafts: all their orders are followed
OR = " or "  # between faults that have one law on the cases that were looked at
TIE = 1e-6  # faults whose log-likelihoods differ by less have one law on these cases


class Candidate(NamedTuple):
    """A fault in a rule, and the logarithm of the likelihood of what was seen."""

    fault: Fault
    rule: RightRule
    machine: type[Machine]  # of the fault, which may be stronger or weaker
    other: bool  # whether cases are read as what they may be, too
    likelihood: float = 0.0
    misfits: int = 0


class Explanations(NamedTuple):
    """Which known faults explain what was seen."""

    names: list[str]
    sure: bool = True  # whether there is exactly one, and it explains all cases


def explanations(
    kind: Kind, seen: Iterable[Seen], *, pipeline: bool = False, beside: bool = False
) -> Explanations:
    """Return the known faults that explain what was seen on all cases, the likeliest first."""
    # Faults with one law on these cases share an entry, joined by "or". If none explains all cases,
    # one of another strength or across steps may, or two at once, joined by "together with".
    # pipeline: the verifier drafts, too. beside: it is right alone, and wrong beside another row.
    seen = list(seen)
    order = looked_at(seen)
    if not (order and order[0].off):
        return Explanations([])
    if all(each.case.behind != "same" for each in seen if each.off):
        return Explanations([PADDING], sure=False)  # what stands behind drafts is looked at
    order.sort(key=lambda each: each.case.ways)  # what a simple case rules out is soon seen
    step = kind.step if isinstance(kind, Texts) else kind
    faults = [
        fault
        for fault in faults_of(step.name)
        if (pipeline or not fault.pipeline) and (fault.machine.other_rows or not beside)
    ]
    others = [False, True] if any(each.other for each in order) else [False]
    everywhere = [
        Candidate(fault, rule, fault.machine, other)
        for rule in rules_of(step)
        for fault in faults
        for other in others
    ]
    all_of_them = [one for one in everywhere if not one.fault.machine.across]
    marked = any(each.counts[1:].any() for each in order)
    # Each explains a case with a finding at least.
    left = _left(
        all_of_them, kind, order, marked, min(FORGIVEN, sum(each.off for each in order) - 1)
    )
    fewest = min((one.misfits for one in left), default=1)
    if fewest:
        strong = _of_some_strength(all_of_them, kind, order, marked)
        if isinstance(kind, Texts):
            strong += [one for one in everywhere if one.fault.machine.across]
        strong = _left(strong, kind, order, marked, 0)
        if strong:
            return _named(strong)
        alone = [one for one in faults if not one.machine.across]
        pair = two_faults(kind, order, [(one, rule) for rule in rules_of(step) for one in alone])
        if pair:
            return Explanations(pair)
    found = _named([one for one in left if one.misfits == fewest])
    return found._replace(sure=found.sure and not fewest)


def looked_at(seen: Iterable[Seen]) -> list[Seen]:
    """Return the cases that are compared: with findings before others, simple before hard."""
    small = [each for each in seen if each.case.sizes.max() == 1 and each.counts.any()]
    small.sort(key=lambda each: each.case.ways)
    failing = [each for each in small if each.off][:FAILING]
    others = [each for each in small if not each.off][-PASSING:]
    return failing + others


def _left(
    candidates: list[Candidate], kind: Kind, order: Sequence[Seen], marked: bool, forgiven: int
) -> list[Candidate]:
    """Return the candidates that fit all cases, but for so many, and how well."""
    found = []
    for one in candidates:
        read = (each.read_as(other=one.other) for each in order)
        fit = fit_of(one.machine, one.rule, kind, read, marked=marked, forgiven=forgiven)
        if fit is not None:
            found.append(one._replace(likelihood=fit[0], misfits=fit[1]))
    return found


def _of_some_strength(
    candidates: Sequence[Candidate], kind: Kind, order: Sequence[Seen], marked: bool
) -> list[Candidate]:
    """Return the candidates that have a strength, with the likeliest one."""
    found = []
    for one in candidates:
        read = [each.read_as(other=one.other) for each in order]
        machine = at_likeliest_strength(one.machine, one.rule, kind, read, marked=marked)
        if machine is not None:
            found.append(one._replace(machine=machine))
    return found


def _named(left: Sequence[Candidate]) -> Explanations:
    """Return the names of what is left, those with one likelihood together."""
    best: dict[str, float] = {}
    for one in left:
        best[one.fault.name] = max(one.likelihood, best.get(one.fault.name, -np.inf))
    found: list[tuple[float, list[str]]] = []
    for name in sorted(best, key=lambda each: -best[each]):
        if found and found[-1][0] - best[name] < TIE:
            found[-1][1].append(name)
        else:
            found.append((best[name], [name]))
    near = [names for value, names in found if found[0][0] - value < WORSE]
    return Explanations([OR.join(names) for names in near[:SHOWN]], len(near) == 1)


def explained(
    tasks: Sequence[Task], results: Sequence[tuple[Tried, Finding | None]]
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the findings with the faults that they look like, and how to mend the likeliest."""

    def seen_in(batches: type[KernelBatches]) -> list[Seen]:
        return [
            Seen(
                law,
                tried.counts,
                tried.needs,
                found is not None and bool(found.observed),
                law.undrafted if law is not task.case and isinstance(law, Warped) else None,
            )
            for task, (tried, found) in zip(tasks, results, strict=True)
            for law in [task.law]
            if task.batches is batches
            and (law is task.case or isinstance(law, Warped))
            and not task.costly
            and (found or law.variants <= MOST_PAIRS or isinstance(law, Warped))
            and (law.n <= MOST_SYMBOLS or task.kind.law == "iid")
        ]

    others = seen_in(BesideOthers)
    seen, pairs = seen_in(KernelBatches) + others, seen_in(BesideRejected)
    beside = bool(pairs) and not any(each.off for each in seen)
    if any(isinstance(each.case, Warped) for each in seen):
        # A verifier that warps does so on all cases, on the others by nothing.
        seen = [replace(each, case=neutral(each.case)) for each in seen]
    kind = tasks[0].kind
    drafts = isinstance(kind, (DrawnToken, Texts))
    names, sure = explanations(kind, pairs if beside else seen, pipeline=drafts, beside=beside)
    if others and not names:
        names, sure = _of_other_rows(kind, others, tasks, results)
    findings = [
        replace(found, looks_like=tuple(names), perhaps=bool(names) and not sure)
        if found.observed and not found.looks_like
        else found
        for _, found in results
        if found is not None
    ]
    padded = [PADDING] if any(PADDING in found.looks_like for found in findings) else []
    return tuple(findings), tuple(
        in_words(each)
        for shown in names[:1] or padded
        for name in shown.split(OR)
        for each in name.split(AND)
    )


def _of_other_rows(
    kind: Kind,
    others: Sequence[Seen],
    tasks: Sequence[Task],
    results: Sequence[tuple[Tried, Finding | None]],
) -> Explanations:
    """Return the faults of other rows that explain texts beside others, if each alone is right."""
    alone = [
        result for task, result in zip(tasks, results, strict=True) if task.batches is SingleRows
    ]
    if any(found for _, found in alone):
        return Explanations([])
    names, sure = explanations(kind, others, pipeline=True, beside=True)
    return Explanations(names, sure and any(tried.size for tried, _ in alone))


def in_words(name: str) -> str:
    """Return what a known fault is and how to mend it, in a sentence."""
    fault = FAULTS[name]
    return f"{name}: {fault.sentence} What to do: {fault.fix}."
