"""The report of a conformance check as a document that JSON can hold, and its verdict in words."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from otspec.conformance.evidence import MISS
from otspec.version import __version__

if TYPE_CHECKING:
    from otspec.conformance.report import Finding, Report, Tried

FORMAT = "otspec-conformance-report"
VERSION = 1
"""Of the format: raised when a name changes its meaning or goes, not when one is added."""


def document_of(report: Report) -> dict[str, Any]:
    """Return a report as a document.

    Parameters
    ----------
    report : Report
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "otspec": __version__,
        "verifier": report.verifier,
        "kind": report.kind,
        "mode": report.mode,
        "passed": report.passed,
        "verdict": standing_of(report),
        "detectable": report.detectable,
        "missed": MISS,
        "false_alarm": report.false_alarm,
        "findings": [_finding(finding) for finding in report.findings],
        "cases": [_case(tried) for tried in report.cases],
        "notes": list(report.notes),
    }


def standing_of(report: Report) -> str:
    """Return in one sentence whether a verifier is right, and how sure that is."""
    alarm = "a right verifier never fails"
    if report.false_alarm:
        alarm = f"a right verifier fails with probability {report.false_alarm:.3g} at most"
    count = len(report.cases)
    if not report.conclusive:
        raised = len({finding.case for finding in report.findings})
        return f"undecided: the verifier raises on {raised} of {_cases(count)}; {_NOT_JUDGED}"
    if not report.passed:
        judged = [finding for finding in report.findings if finding.judged]
        wrong = len({finding.case for finding in judged})
        raised = len({finding.case for finding in report.findings}) - wrong
        found = f"the verifier is wrong on {wrong} of {_cases(count)}"
        if raised:
            found += f", and raises on {raised}; {_NOT_JUDGED}"
        return f"failed: {found}{_likeness(report)} ({alarm})"
    found = f"the output was found to differ from the target on none of {_cases(count)}"
    return f"passed: {found}; {_power(report)} ({alarm})"


_NOT_JUDGED = "where it raises, its output could not be judged"


def _likeness(report: Report) -> str:
    """Say which known fault explains the most findings best, if any does."""
    first = Counter(finding.looks_like[0] for finding in report.findings if finding.looks_like)
    return "".join(f"; it looks like: {fault}" for fault, _ in first.most_common(1))


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
        "traceback": finding.traceback,
    }


def _case(tried: Tried) -> dict[str, Any]:
    return {
        "case": tried.case,
        "rows": tried.size,
        "detectable": tried.detectable,
        "evidence": _finite(tried.evidence),
        "threshold": tried.needs.threshold,
        "accepted": None if tried.accepted is None else float(tried.accepted),
        "optimum": tried.optimum,
    }


def _finite(evidence: float) -> float | None:
    """Return evidence for JSON, which has no infinity."""
    return evidence if math.isfinite(evidence) else None
