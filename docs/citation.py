"""BibTeX of the package, from CITATION.cff into docs/install.md: ``python docs/citation.py``."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from otspec._base.writing import write_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "install.md"
BLOCK = re.compile(r"(?<=```bibtex\n).*?(?=```)", re.DOTALL)


def bibtex() -> str:
    """Return the entry of CITATION.cff, as BibTeX has it."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in cited["authors"])
    date = cited["date-released"]
    fields = {
        "title": f"{{{cited['title']}}}",
        "author": authors,
        "version": cited["version"],
        "year": date.year,
        "month": date.month,
        "note": f"{cited['license']} license",
    }
    lines = "".join(f"  {name:7} = {{{value}}},\n" for name, value in fields.items())
    return f"@software{{otspec,\n{lines}}}\n"


def written_anew(page: str) -> str:
    """Return the page with the entry in its block."""
    return BLOCK.sub(lambda _: bibtex(), page)


if __name__ == "__main__":
    write_text(PAGE, written_anew(PAGE.read_text(encoding="utf-8")))
