"""Findings as a table, as JSON, as one HTML page and as the page of errata."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from html import escape
from typing import Any

from otspec.version import __version__
from validation.claim import Claim, Counterexample, Evidence, Outcome, Severity
from validation.registry import PAPERS
from validation.running import Finding

ERRATA = """# Errata of the papers

This page is for users of the five papers. It lists what fails as printed, and what holds instead.
First comes what is **wrong**: a result or an algorithm that misleads its users. A model given by
one distribution has it after every prefix.

For each claim `python -m validation CLAIM --html FILE` has the papers' words, the smallest
counterexample that was found, and how often the correction was checked.
`python -m validation --errata FILE` writes this page.
"""
HEADINGS = {
    Severity.WRONG: "What is wrong",
    Severity.CONDITION: "What needs a condition",
    Severity.MISPRINT: "Misprints: what is meant is clear and true",
    Severity.DEGENERATE: "Degenerate cases: 0/0, nothing drafted, strictness at equality",
}
TOLD = {"Claimed": "claimed", "Counterexample": "fails", "Instead": "holds"}
TOLD_OF = {Severity.MISPRINT: ("Claimed", "Instead"), Severity.DEGENERATE: ("Instead",)}
BAR = r"\|"
COLUMNS = ("claim", "where", "verdict", "instances", "worst slack", "seconds")
HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Validation</title>
<style>body{font:16px/1.5 sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}\
div{overflow-x:auto}table{border-collapse:collapse}\
td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #ddd}\
.refuted{background:#fdeae0}.proved{background:#e6f4ea}</style>
<h1>Validation</h1>
"""


def row(finding: Finding) -> list[str]:
    """Return the table's row of one finding."""
    outcome, verdict, slack = finding.outcome, finding.outcome.verdict.value, ""
    if finding.severity and finding.corrected:
        verdict += f" ({finding.severity.value}); corrected: {finding.corrected.verdict.value}"
    if isinstance(outcome, Evidence) and outcome.worst is not None:
        slack = f"{float(outcome.worst):.3g}"
    numbers = [f"{outcome.instances:,}", slack, f"{finding.seconds:.1f}"]
    return [finding.id, finding.claim.where, verdict, *numbers]


def as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return everything about the findings, with fractions as strings."""
    return [_described(finding, finding.claim) for finding in findings]


def _described(finding: Finding, claim: Claim) -> dict[str, Any]:
    instead, found = claim.corrected, finding.corrected
    return {
        "id": finding.id, "paper": PAPERS[claim.paper], "where": claim.where,
        "statement": claim.statement, "printed": claim.printed, "method": claim.method.value,
        **_outcome(finding.outcome),
        "severity": finding.severity and finding.severity.value,
        "corrected": found and instead and {
            "statement": instead.statement, "explained": instead.explained,
            "method": instead.method.value, **_outcome(found)},
        "seconds": round(finding.seconds, 3)}  # fmt: skip


def _outcome(outcome: Outcome) -> dict[str, Any]:
    found = {"verdict": outcome.verdict.value, "instances": outcome.instances}
    if isinstance(outcome, Counterexample):
        instance = {name: shown(value) for name, value in outcome.instance.items()}
        return {**found, "counterexample": instance, "found": outcome.found}
    worst = str(outcome.worst) if isinstance(outcome.worst, Fraction) else outcome.worst
    drawn = {"random": outcome.random, "seed": outcome.seed}
    return {**found, **drawn, "worst_slack": worst, "scope": outcome.scope}


def as_html(findings: list[Finding]) -> str:
    """Return one page that needs nothing else: the table, then each refuted claim, wrong first."""
    kinds = Counter((each.severity or each.outcome.verdict).value for each in findings)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    page = f"{HEAD}<p>{len(findings)} claims: {counted}. otspec {__version__}.</p>\n"
    page += f"<div><table>\n<tr>{''.join(f'<th>{name}</th>' for name in COLUMNS)}</tr>\n"
    for finding in findings:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row(finding))
        page += f'<tr class="{finding.outcome.verdict.value}">{cells}</tr>\n'
    page += "</table></div>\n"
    for severity, some in _by_severity(findings).items():
        for finding in some:
            page += f"<section><h2>{escape(finding.id)}: {escape(severity.value)}</h2>\n"
            for name, text in _story(finding).items():
                page += f"<p><b>{name}.</b> {escape(text)}</p>\n"
            page += "</section>\n"
    return f"{page}</html>\n"


def as_errata(findings: Iterable[Finding]) -> str:
    """Return the page of errata, as Markdown: what is wrong at length, the rest as tables."""
    pages = [ERRATA]
    for severity, some in _by_severity(findings).items():
        if some:
            pages.append(f"## {HEADINGS[severity]}\n")
            told = TOLD_OF.get(severity, TOLD)
            pages += _sections(some) if severity is Severity.WRONG else [_table(some, told)]
    return "\n".join(pages)


def _sections(findings: list[Finding]) -> Iterator[str]:
    """Yield what is said about each claim that is wrong; the first of a paper names the paper."""
    named = set()
    for finding in findings:
        lines, paper = [f"### {finding.id}: {finding.claim.where}"], PAPERS[finding.claim.paper]
        lines += {f"*{paper}*"} - named
        named.add(f"*{paper}*")
        lines += [f"**{name}.** {text}" for name, text in _story(finding, brief=True).items()]
        yield "\n".join(f"{line}\n" for line in lines)


def _table(findings: list[Finding], told: Iterable[str]) -> str:
    """Return the table of refuted claims: where, and some parts of what is said."""
    names = ("claim", "where", *(TOLD[name] for name in told))
    lines = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    for finding in findings:
        parts = _story(finding, brief=True)
        cells = (f"`{finding.id}`", finding.claim.where, *(parts[name] for name in told))
        lines.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
    return "\n".join([*lines, ""])


def shown(value: Any) -> str:
    """Return a value of an instance for people: fractions, and tuples of them in parentheses."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {shown(each)}" for name, each in value.items())
    return f"({', '.join(map(shown, value))})" if isinstance(value, (tuple, list)) else str(value)


def _by_severity(findings: Iterable[Finding]) -> dict[Severity, list[Finding]]:
    """Return what is refuted, by severity, in the order of the papers."""
    refuted = [each for each in findings if each.severity is not None]
    return {level: [each for each in refuted if each.severity is level] for level in Severity}


def _story(finding: Finding, *, brief: bool = False) -> dict[str, str]:
    """Return the parts of what is said about a refuted claim; those without a text are left out."""
    claim, parts = finding.claim, {"Claimed": finding.claim.statement}
    found = _told(finding.outcome)
    found = found.replace(" after every prefix", "") if brief else found
    parts |= {"Printed": "" if brief else claim.printed, "Counterexample": found}
    if claim.corrected and finding.corrected:
        parts["Explained"] = claim.corrected.explained
        told = _told(finding.corrected, before="It is refuted: ", brief=brief)
        parts["Instead"] = f"{claim.corrected.statement} {told}".strip()
    return {name: text for name, text in parts.items() if text}


def _told(outcome: Outcome, before: str = "", *, brief: bool = False) -> str:
    """Return what was found, as a sentence; words before a counterexample."""
    if isinstance(outcome, Counterexample):
        return f"{before}{shown(outcome.instance)}: {outcome.found}."
    if outcome.proved:
        return f"Proved: {outcome.scope}."
    if brief:
        return ""
    scope = [size for size in outcome.scope.split(", ") if not size.startswith("denominators")]
    told = f"Holds on {outcome.instances:,} instance{'s'[: outcome.instances > 1]}"
    return f"{told}: {', '.join(scope)}." if any(scope) else f"{told}."
