"""Findings as a table, as JSON, as one HTML page and as the page of errata."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from typing import Any

from otspec.version import __version__
from validation.claim import Counterexample, Evidence, Outcome, Severity
from validation.registry import PAPERS
from validation.running import Finding

ERRATA = """# Errata of the papers

What fails as printed, each with the smallest counterexample that the search found and what holds
instead. First what is **wrong**: a result or an algorithm that misleads whoever uses it as it is
printed. The tables after it have what needs a condition that is not printed, misprints, and what
fails in degenerate cases alone. `python -m validation --errata docs/errata.md` writes this page.
"""
HEADINGS = {
    Severity.WRONG: "What is wrong",
    Severity.CONDITION: "What needs a condition",
    Severity.MISPRINT: "Misprints: what is meant is clear and true",
    Severity.DEGENERATE: "Degenerate cases: 0/0, nothing drafted, strictness at equality",
}
COLUMNS = ("claim", "where", "verdict", "instances", "worst slack", "seconds")


def row(finding: Finding) -> list[str]:
    """Return the table's row of one finding."""
    outcome = finding.outcome
    verdict = outcome.verdict.value
    if finding.severity is not None and finding.corrected is not None:
        verdict += f" ({finding.severity.value}); corrected: {finding.corrected.verdict.value}"
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
            "severity": finding.severity and finding.severity.value,
            "corrected": finding.corrected
            and finding.claim.corrected
            and {
                "statement": finding.claim.corrected.statement,
                "explained": finding.claim.corrected.explained,
                "method": finding.claim.corrected.method.value,
                **_outcome(finding.corrected),
            },
            "seconds": round(finding.seconds, 3),
        }
        for finding in findings
    ]


def as_html(findings: list[Finding]) -> str:
    """Return one page that needs nothing else: the table, then each refuted claim, wrong first."""
    lines = "".join(
        f'<tr class="{finding.outcome.verdict.value}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row(finding))
        + "</tr>\n"
        for finding in findings
    )
    refuted = "".join(
        f"<section><h2>{escape(finding.id)}: {escape(severity.value)}</h2>\n"
        + "".join(f"<p><b>{escape(k)}.</b> {escape(v)}</p>\n" for k, v in _story(finding))
        + "</section>\n"
        for severity, some in _by_severity(findings).items()
        for finding in some
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
    """Return the page of errata, as Markdown: what is wrong at length, the rest as tables."""
    pages = [ERRATA]
    for severity, some in _by_severity(findings).items():
        if not some:
            continue
        pages.append(f"## {HEADINGS[severity]}\n")
        if severity is Severity.WRONG:
            for finding in some:
                pages.append(f"### {finding.id}: {finding.claim.where}\n")
                pages.append(f"*{PAPERS[finding.claim.paper]}*\n")
                pages.extend(f"**{name}.** {text}\n" for name, text in _story(finding))
        else:
            pages += [
                "| claim | where | claimed | fails | holds |",
                "| --- | --- | --- | --- | --- |",
            ]
            pages += [f"| {' | '.join(map(_cell, _short(finding)))} |" for finding in some]
            pages.append("")
    return "\n".join(pages)


def shown(value: Any) -> str:
    """Return a value of an instance for people: fractions, and tuples of them in parentheses."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {shown(each)}" for name, each in value.items())
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(shown, value))})"
    return str(value)


def _by_severity(findings: Iterable[Finding]) -> dict[Severity, list[Finding]]:
    """Return what is refuted, by severity, in the order of the papers."""
    refuted = [each for each in findings if each.severity is not None]
    return {level: [each for each in refuted if each.severity is level] for level in Severity}


def _short(finding: Finding) -> list[str]:
    """Return the cells of a refuted claim: where, what is claimed, what is found, what holds."""
    name, claim = f"`{finding.id}`", finding.claim
    parts = dict(_story(finding))
    claimed = claim.statement + (f" *Printed:* {claim.printed}" if claim.printed else "")
    return [name, claim.where, claimed, parts["Counterexample"], parts["Instead"]]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _story(finding: Finding) -> list[tuple[str, str]]:
    """Return the parts of what is said about a refuted claim."""
    outcome, claim = finding.outcome, finding.claim
    parts = [("Claimed", claim.statement)]
    if claim.printed:
        parts.append(("Printed", claim.printed))
    if isinstance(outcome, Counterexample):
        parts.append(("Counterexample", f"{shown(outcome.instance)}: {outcome.found}."))
    if claim.corrected and finding.corrected:
        if claim.corrected.explained:
            parts.append(("Explained", claim.corrected.explained))
        parts.append(("Instead", f"{claim.corrected.statement} {_told(finding.corrected)}"))
    return parts


def _told(outcome: Outcome) -> str:
    """Return what was found of a corrected statement, as a sentence."""
    if isinstance(outcome, Counterexample):
        return f"It is refuted: {shown(outcome.instance)}: {outcome.found}."
    if outcome.proved:
        return f"It is proved ({outcome.scope})."
    kinds = f"{outcome.instances:,} instances"
    if outcome.random:
        kinds += f", {outcome.random:,} of them random with seed {outcome.seed}"
    return f"It holds on {kinds}{f' ({outcome.scope})' if outcome.scope else ''}."


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
        "random": outcome.random,
        "seed": outcome.seed,
        "worst_slack": worst,
        "scope": outcome.scope,
    }


def _slack(outcome: Outcome) -> str:
    if not isinstance(outcome, Evidence) or outcome.worst is None:
        return ""
    return f"{float(outcome.worst):.3g}"


def _sentence(findings: list[Finding]) -> str:
    kinds = Counter(
        finding.severity.value if finding.severity else finding.outcome.verdict.value
        for finding in findings
    )
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{len(findings)} claims: {told}."
