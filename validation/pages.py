"""What the validation book finds, on its pages, from its record: ``python -m validation.pages``."""

import re
from collections import Counter
from pathlib import Path

from validation.__main__ import recorded
from validation.claim import Severity
from validation.registry import CLAIMS, PAPERS

DOCS = Path(__file__).parents[1] / "docs"
COUNTS = DOCS / "tables" / "verdicts.md"
KINDS = ("holds", "proved", *(severity.value for severity in Severity))
ROW = re.compile(r"^\| (?P<id>[a-z_]+\.[A-Za-z0-9_.+-]+) \|(?P<cells>[^|\n]*\|[^|\n]*\|).*$", re.M)


def verdict(name: str) -> str:
    """Return what is found of a claim as printed: a verdict, or how it fails."""
    claim = CLAIMS[name]
    return claim.corrected.severity.value if claim.corrected else recorded()[name]["printed"]


def counts() -> str:
    """Return the table of how many claims of each paper have each verdict."""
    lines = [
        f"| claims of | all | {' | '.join(KINDS)} |",
        f"| --- | {'--- | ' * (len(KINDS) + 1)}".rstrip(),
    ]
    papers = [paper for paper in PAPERS if paper != "beyond"]
    rows = [(PAPERS[paper], (paper,)) for paper in papers]
    rows += [("**all papers**", tuple(papers)), ("this project", ("beyond",))]
    for title, some in rows:
        found = Counter(verdict(name) for name, each in CLAIMS.items() if each.paper in some)
        cells = " | ".join(str(found[kind]) if found[kind] else "" for kind in KINDS)
        lines.append(f"| {title} | {found.total()} | {cells} |")
    return "\n".join(lines) + "\n"


def with_verdicts(page: str) -> str:
    """Return a page of claims with the verdict in the last column of each row."""
    page = re.sub(
        r"^\| identifier \| where \| what it says \|.*\n\|.*$",
        "| identifier | where | what it says | verdict |\n| --- | --- | --- | --- |",
        page,
        flags=re.M,
    )
    return ROW.sub(lambda row: f"| {row['id']} |{row['cells']} {verdict(row['id'])} |", page)


def main() -> None:
    """Write the table of counts and the verdicts on the papers' pages."""
    COUNTS.write_text(counts(), encoding="utf-8")
    for paper in PAPERS:
        path = DOCS / "claims" / f"{paper}.md"
        path.write_text(with_verdicts(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
