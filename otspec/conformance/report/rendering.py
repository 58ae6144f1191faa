"""The report of a conformance check as plain text, Markdown and HTML, from its document."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from otspec._base.tables import printable
from otspec._base.webpage import escaped, listed_items, page, table, verbatim
from otspec.display.values import aligned

MOST_CELLS = 12  # most cells of a law that a report shows, the largest errors first
_STATISTICS = {"call": "the call fails", "impossible": "an impossible answer"}
_COLUMNS = (
    "case", "rows", "detectable", "log evidence", "wrong from", "accepted", "optimum", "",
)  # fmt: skip


def as_text(document: dict[str, Any], cases: bool) -> str:
    """Return a report for a terminal or a log."""
    lines = [document["verdict"]]
    for group in _groups(document["findings"]):
        lines += ["", _heading(group)]
        lines += [f"   {line}" for line in _facts(group[0])]
        lines += [f"   | {printable(line)}" for line in _traceback(group[0])]
    if cases:
        rows = [list(map(printable, row)) for row in _rows(document)]
        lines += ["", *aligned(_COLUMNS, rows, words=1)]
    lines += [line for note in document["notes"] for line in ("", f"Note: {printable(note)}")]
    if steps := document["what_to_do"]:
        lines += ["", "What to do:", *(f"- {printable(step)}" for step in steps)]
    return "\n".join(lines) + "\n"


def as_markdown(document: dict[str, Any]) -> str:
    """Return a report as a page of Markdown."""
    return "\n".join([f"# {_title(document)}", "", *body_of_markdown(document)])


def body_of_markdown(document: dict[str, Any]) -> list[str]:
    """Return the lines below the title."""
    lines = [f"**{_escaped(document['verdict'])}**", ""]
    for group in _groups(document["findings"]):
        lines += [f"## {_escaped(_heading(group))}", ""]
        lines += [f"- {_escaped(line)}" for line in _facts(group[0])]
        lines += ["", *pipes(("cell", "seen", "right", "difference"), _cells(group[0]))]
        lines += _fenced(_traceback(group[0]))
    if document["notes"]:
        lines += ["## Notes", "", *(f"- {_escaped(note)}" for note in document["notes"]), ""]
    if steps := document["what_to_do"]:
        lines += ["## What to do", "", *(f"- {_escaped(step)}" for step in steps), ""]
    return [*lines, "## Cases", "", *pipes(_COLUMNS, _rows(document))]


def as_html(document: dict[str, Any]) -> str:
    """Return a report as an HTML file that needs nothing else."""
    return "\n".join(page(_title(document), body_of_html(document))) + "\n"


def body_of_html(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines below the title."""
    yield f'<p class="{document["outcome"]}"><strong>{escaped(document["verdict"])}</strong></p>'
    for group in _groups(document["findings"]):
        yield f"<h2>{escaped(_heading(group))}</h2>"
        yield listed_items(_facts(group[0]))
        if group[0]["cells"]:
            yield from table(("cell", "seen", "right", "difference"), _cells(group[0]), words=1)
        if group[0]["traceback"]:
            yield verbatim(_traceback(group[0]))
    if document["notes"]:
        yield "<h2>Notes</h2>"
        yield listed_items(document["notes"])
    if document["what_to_do"]:
        yield "<h2>What to do</h2>"
        yield listed_items(document["what_to_do"])
    yield "<h2>Cases</h2>"
    yield from table(_COLUMNS, _rows(document), words=1)


def _title(document: dict[str, Any]) -> str:
    return (
        f"Conformance of {document['verifier']}: kind {document['kind']}, mode {document['mode']}"
    )


def _groups(findings: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return findings together that say the same of several cases, such as one kind of error."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for finding in findings:
        raised = re.search(r"fails with (\w+)", finding["reason"])
        same = raised[1] if raised and finding["statistic"] == "call" else finding["reason"]
        groups.setdefault((finding["statistic"], same), []).append(finding)
    return list(groups.values())


def _heading(group: Sequence[dict[str, Any]]) -> str:
    first, others = group[0], len(group) - 1
    more = f" (and {others} more cases)" if others else ""
    statistic = first["statistic"]
    return f"{printable(first['case'])}{more}: {_STATISTICS.get(statistic, printable(statistic))}"


def _facts(finding: dict[str, Any]) -> Iterator[str]:
    """Yield what is known of a finding, a sentence each."""
    yield printable(finding["reason"])
    if finding["cells"]:
        yield (
            f"total variation between what was seen and what is right: "
            f"{finding['total_variation']:.4f}"
        )
    if finding["evidence"] is not None:
        chance = math.exp(-max(finding["evidence"], 0.0))
        yield f"a correct verifier shows as much with probability {chance:.1e} at most"
    for cause in finding["looks_like"]:
        yield f"{'perhaps' if finding['perhaps'] else 'looks like'}: {printable(cause)}"


def _traceback(finding: dict[str, Any]) -> list[str]:
    return (finding["traceback"] or "").splitlines()


def _cells(finding: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the cells of the law that are off the most."""
    there = [cell for cell in finding["cells"] if cell["seen"] or cell["right"]]
    cells = sorted(there, key=lambda cell: -abs(cell["seen"] - cell["right"]))
    return [
        (
            cell["cell"],
            f"{cell['seen']:.6f}",
            f"{cell['right']:.6f}",
            f"{cell['seen'] - cell['right']:+.6f}",
        )
        for cell in cells[:MOST_CELLS]
    ]


def _rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    words = {case["case"]: "short" for case in document["cases"] if case["short"]}
    words |= {finding["case"]: "wrong" for finding in document["findings"]}
    return [
        (
            case["case"],
            f"{case['rows']:,}" if case["rows"] else "-",
            _distance(case["detectable"]),
            f"{case['evidence']:.1f}" if case["evidence"] is not None and case["rows"] else "-",
            f"{case['threshold']:.1f}",
            *(_known(case[name]) for name in ("accepted", "optimum")),
            words.get(case["case"], ""),
        )
        for case in document["cases"]
    ]


def _distance(detectable: float) -> str:
    if detectable >= 1:
        return "nothing"
    return f"{detectable:.4f}" if detectable >= 1e-4 else f"{detectable:.0e}"


def _known(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def pipes(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1
) -> Iterator[str]:
    """Yield a table of Markdown; the first ``words`` columns are words, the others numbers."""
    if rows:
        yield f"| {' | '.join(columns)} |"
        yield f"|{' --- |' * words}{' ---: |' * (len(columns) - words)}"
        for row in rows:
            yield f"| {' | '.join(map(_escaped, row))} |"
        yield ""


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of code; a backtick of theirs does not end it."""
    if lines:
        yield from ("~~~~text", *map(printable, lines), "~~~~", "")


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", printable(text))
