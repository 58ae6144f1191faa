"""Findings as a table, as JSON, as one HTML page and as the page of errata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from typing import Any

from otspec.version import __version__
from validation.claim import Counterexample, Outcome
from validation.registry import PAPERS
from validation.running import Finding

ERRATA = """# Errata of the papers

What fails as printed, with the smallest counterexample that the search found, and what holds
instead. `python -m validation --errata docs/errata.md` writes this page.
"""
COLUMNS = ("claim", "where", "verdict", "instances", "worst slack", "seconds")


def row(finding: Finding) -> list[str]:
    """Return the table's row of one finding."""
    outcome = finding.outcome
    verdict = outcome.verdict.value
    if finding.corrected is not None:
        verdict += f"; corrected: {finding.corrected.verdict.value}"
    return [
        finding.id,
        finding.claim.where,
        verdict,
        f"{outcome.instances:,}",
        _slack(outcome),
        f"{finding.seconds:.1f}",
    ]


def as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return everything about the findings, with fractions as strings."""
    return [
        {
            "id": finding.id,
            "paper": PAPERS[finding.claim.paper],
            "where": finding.claim.where,
            "statement": finding.claim.statement,
            "printed": finding.claim.printed,
            "method": finding.claim.method.value,
            **_outcome(finding.outcome),
            "corrected": finding.corrected
            and finding.claim.corrected
            and {
                "statement": finding.claim.corrected.statement,
                "method": finding.claim.corrected.method.value,
                **_outcome(finding.corrected),
            },
            "seconds": round(finding.seconds, 3),
        }
        for finding in findings
    ]


def as_html(findings: list[Finding]) -> str:
    """Return one page that needs nothing else: the table, then each refuted claim."""
    lines = "".join(
        f'<tr class="{finding.outcome.verdict.value}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row(finding))
        + "</tr>\n"
        for finding in findings
    )
    refuted = "".join(
        f"<section><h2>{escape(finding.id)}</h2>\n"
        + "".join(f"<p><b>{escape(k)}.</b> {escape(v)}</p>\n" for k, v in _story(finding))
        + "</section>\n"
        for finding in findings
        if isinstance(finding.outcome, Counterexample)
    )
    heads = "".join(f"<th>{name}</th>" for name in COLUMNS)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>Validation</title>\n'
        "<style>body{font:16px/1.5 sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
        "div{overflow-x:auto}table{border-collapse:collapse}"
        "td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #ddd}"
        ".refuted{background:#fdeae0}.proved{background:#e6f4ea}</style>\n"
        f"<h1>Validation</h1>\n<p>{_sentence(findings)} otspec {__version__}.</p>\n"
        f"<div><table>\n<tr>{heads}</tr>\n{lines}</table></div>\n{refuted}</html>\n"
    )


def as_errata(findings: Iterable[Finding]) -> str:
    """Return the page of errata, as Markdown."""
    pages = [ERRATA]
    refuted = [each for each in findings if isinstance(each.outcome, Counterexample)]
    for paper, title in PAPERS.items():
        of_paper = [finding for finding in refuted if finding.claim.paper == paper]
        if of_paper:
            pages.append(f"## {title}\n")
        for finding in of_paper:
            pages.append(f"### {finding.id}: {finding.claim.where}\n")
            pages.extend(f"**{name}.** {text}\n" for name, text in _story(finding))
    return "\n".join(pages)


def shown(value: Any) -> str:
    """Return a value of an instance for people: fractions, and tuples of them in parentheses."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {shown(each)}" for name, each in value.items())
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(shown, value))})"
    return str(value)


def _story(finding: Finding) -> list[tuple[str, str]]:
    """Return the parts of what is said about a refuted claim."""
    outcome, claim = finding.outcome, finding.claim
    parts = [("Claimed", claim.statement)]
    if claim.printed:
        parts.append(("Printed", claim.printed))
    if isinstance(outcome, Counterexample):
        parts.append(("Counterexample", f"{shown(outcome.instance)}: {outcome.found}."))
    if claim.corrected and finding.corrected:
        parts.append(("Corrected", f"{claim.corrected.statement} {_told(finding.corrected)}"))
    return parts


def _told(outcome: Outcome) -> str:
    """Return what was found of a corrected statement, as a sentence."""
    if isinstance(outcome, Counterexample):
        return f"It is refuted: {shown(outcome.instance)}: {outcome.found}."
    scope = f" ({outcome.scope})" if outcome.scope else ""
    count = f" on {outcome.instances:,} instances" if outcome.instances else ""
    return f"It {'is proved' if outcome.proved else 'holds'}{count}{scope}."


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Counterexample):
        return {
            "verdict": outcome.verdict.value,
            "instances": outcome.instances,
            "counterexample": {name: shown(value) for name, value in outcome.instance.items()},
            "found": outcome.found,
        }
    worst = str(outcome.worst) if isinstance(outcome.worst, Fraction) else outcome.worst
    return {
        "verdict": outcome.verdict.value,
        "instances": outcome.instances,
        "worst_slack": worst,
        "scope": outcome.scope,
    }


def _slack(outcome: Outcome) -> str:
    if isinstance(outcome, Counterexample) or outcome.worst is None:
        return ""
    return f"{float(outcome.worst):.3g}"


def _sentence(findings: list[Finding]) -> str:
    counts: dict[str, int] = {}
    for finding in findings:
        verdict = finding.outcome.verdict.value
        counts[verdict] = counts.get(verdict, 0) + 1
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return f"{len(findings)} claims: {told}."
