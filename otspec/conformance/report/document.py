"""The report of a conformance check as a document that JSON can hold, and its verdict in words."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from otspec._base.tables import listed
from otspec.conformance.evidence.evidence import MISS
from otspec.version import __version__

if TYPE_CHECKING:
    from otspec.conformance.report.report import Finding, Report, Tried

FORMAT = "otspec-conformance-report"
MOST_SHOWN = 5  # most total variations that a verdict names
VERSION = 2  # of the format: raised when a name changes its meaning or goes
WHAT_TO_DO = (
    "Take the first finding: its case is small enough to follow by hand.",
    "Call the check again with the same seed: it draws the same drafts.",
    "The page docs/engines.md says what each finding means and what to do about it.",
)


def document_of(report: Report) -> dict[str, Any]:
    """Return a report as a document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "otspec": __version__,
        "verifier": report.verifier,
        "kind": report.kind,
        "mode": report.mode,
        "same_seed": report.same_seed,
        "settings": dict(report.settings),
        "outcome": report.outcome,
        "passed": report.passed,
        "verdict": verdict_of(report),
        "detectable": report.detectable,
        "required": report.require,
        "missed": MISS,
        "needed": {"budget": report.budget_needed, "seconds": _finite(report.seconds_needed)}
        if _short(report) and report.mode != "exact"
        else None,
        "false_alarm": report.false_alarm,
        "findings": [_finding(finding) for finding in report.findings],
        "cases": [_case(tried) for tried in report.cases],
        "notes": list(report.notes),
        "what_to_do": steps_of(report),
    }


def verdict_of(report: Report) -> str:
    """Return in one sentence whether a verifier is right, and how sure that is."""
    alarm = "a correct verifier never fails"
    if report.false_alarm:
        alarm = f"a correct verifier fails with probability {report.false_alarm:.3g} at most"
    count = len(report.cases)
    if report.raises:
        raised = len({finding.case for finding in report.findings})
        where = f"{raised} of {_cases(count)}"
        if raised == count > 1:
            where = (
                f"all of {_cases(count)}: is kind {report.kind!r} right, and its form of answers?"
            )
        return f"undecided: the verifier raises on {where}; {_NOT_JUDGED}"
    if report.outcome == "failed":
        judged = [finding for finding in report.findings if finding.judged]
        wrong = len({finding.case for finding in judged})
        raised = len({finding.case for finding in report.findings}) - wrong
        found = f"the verifier is wrong on {wrong} of {_cases(count)}"
        if raised:
            found += f", and raises on {raised}; {_NOT_JUDGED}"
        return f"failed: {found}{_likeness(report)} ({alarm})"
    if report.same_seed:
        texts = sum(tried.size for tried in report.cases)
        found = f"on {_cases(count)} all {texts:,} texts are those of plain decoding"
        return f"passed: {found} ({alarm})"
    found = f"the output was found to differ from the target on none of {_cases(count)}"
    if report.outcome == "passed":
        return f"passed: {found}; {_power(report)} ({alarm})"
    if short := _short(report):
        lacking = f"but on {len(short)} of them the budget is too small to find what was asked for"
        if report.mode == "exact":
            lacking = f"but {len(short)} of them were not followed to their end in time"
    else:
        far = [tried for tried in report.cases if tried.detectable > report.require]
        lacking = f"but on {len(far)} of them {_distance(report.require)} is not found for sure"
    return (
        f"undecided: not looked at closely enough; {found}, {lacking}: {_power(report)} ({alarm})"
    )


def _short(report: Report) -> list[Tried]:
    """Return the cases that were not looked at as was asked for."""
    return [tried for tried in report.cases if tried.short]


def steps_of(report: Report) -> list[str]:
    """Return what to do about a report, a sentence each; nothing about one that passed."""
    if report.findings:
        return list(WHAT_TO_DO)
    if report.outcome == "passed":
        return []
    short = _short(report)
    if report.mode == "exact":
        more = "Pass more seconds, or a smaller shape" if short else "Pass a smaller rounding"
        most = max(report.cases, key=lambda tried: tried.detectable)
        return [f"{more}: {most.case!r} is such a case."]
    if not short:
        return [f"Pass detect={report.require:g} and coarse={report.require:g}, or less."]
    seconds = report.seconds_needed
    pace = f", which takes {_duration(seconds)} at most at this pace" if seconds < math.inf else ""
    most = max(report.cases, key=lambda tried: tried.detectable / tried.asked)
    more = f"budget={report.budget_needed} is enough{pace}; a correct verifier mostly takes half."
    less = (
        f"Or ask for less: on {most.case!r} {_distance(most.detectable)} is found where "
        f"{most.asked:g} was asked for. detect is for the small cases, coarse for those of which "
        "rows cost much."
    )
    return [more, less]


def _duration(seconds: float) -> str:
    for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 2 else "2 seconds"


_NOT_JUDGED = "where it raises, its output could not be judged"


def _likeness(report: Report) -> str:
    """Say which known fault explains the most findings best, if any does."""
    named = (finding for finding in report.findings if finding.looks_like)
    first = Counter((finding.looks_like[0], finding.perhaps) for finding in named)
    return "".join(
        f"; perhaps it is: {fault}" if perhaps else f"; it looks like: {fault}"
        for (fault, perhaps), _ in first.most_common(1)
    )


def _cases(count: int) -> str:
    return f"{count} cases" if count != 1 else "1 case"


def _power(report: Report) -> str:
    """Say which total variation would have been found."""
    each = sorted(tried.detectable for tried in report.cases)
    half, most = (each[(len(each) - 1) // 2], each[-1]) if each else (1.0, 1.0)
    sampled = any(tried.size for tried in report.cases)
    found = f"with probability {1 - MISS:g} each" if sampled else "for certain"
    if half == most:
        return f"{_distance(half)} is found on each, {found}"
    at = sorted(Counter(tried.detectable for tried in report.cases).items())
    if len(at) <= MOST_SHOWN:
        (least, many), *others = at
        words = [f"one of {most:.3g}" if most < 1 else "nothing surely" for most, _ in others]
        parts = [f"{word} on {number}" for word, (_, number) in zip(words, others, strict=True)]
        parts.insert(0, f"{_distance(least)} is found on {many} of them")
        return f"{listed(parts, 'and')}, {found}"
    rest = f"one of {most:.3g} on each" if most < 1 else "nothing surely on some"
    return f"{_distance(half)} is found on half of them and {rest}, {found}"


def _distance(detectable: float) -> str:
    return f"a total variation of {detectable:.3g}" if detectable < 1 else "nothing"


def _finding(finding: Finding) -> dict[str, Any]:
    labels = finding.labels or [f"cell {number}" for number in range(len(finding.observed))]
    cells = zip(labels, finding.observed, finding.expected, strict=True)
    return {
        "case": finding.case,
        "statistic": finding.statistic,
        "reason": finding.reason,
        "total_variation": finding.total_variation if finding.observed else None,
        "evidence": _finite(finding.evidence),
        "cells": [{"cell": name, "seen": seen, "right": right} for name, seen, right in cells],
        "looks_like": list(finding.looks_like),
        "perhaps": finding.perhaps,
        "traceback": finding.traceback,
    }


def _case(tried: Tried) -> dict[str, Any]:
    return {
        "case": tried.case,
        "rows": tried.size,
        "rows_needed": tried.rows_needed,
        "asked": tried.asked,
        "detectable": tried.detectable,
        "short": tried.short,
        "evidence": _finite(tried.evidence),
        "threshold": tried.needs.threshold,
        "accepted": None if tried.accepted is None else float(tried.accepted),
        "optimum": tried.optimum,
    }


def _finite(evidence: float) -> float | None:
    """Return evidence for JSON, which has no infinity."""
    return evidence if math.isfinite(evidence) else None
