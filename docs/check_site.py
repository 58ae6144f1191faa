"""Links of the built site lead somewhere, nothing is loaded from elsewhere, everybody can read it.

``python docs/check_site.py docs/_build``
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from accessibility import barriers, faint_texts

TAG = re.compile(r"<(a|audio|embed|iframe|img|link|object|script|source|track|video)\b([^<>]*)>")
PLACE = re.compile(r'\s(?:data|href|poster|src)="([^"]*)"')
NAME = re.compile(r'\s(?:id|name)="([^"]+)"')
STYLE = re.compile(r"""(?:@import\s+|url\()\s*["']?([^"')\s]+)""")


NO_TEXT = re.compile(
    r"<(script|style|code|pre|svg|title)\b.*?</\1>|<(span|div)[^>]*class=\"math[^>]*>.*?</\2>|<[^>]*>",
    re.DOTALL,
)
RAW = re.compile(r"\$\$?[^\s$](?:[^$\n]*[^\s$])?\$|\\(?:[a-zA-Z]{2,}|[,;|{}])")
"""Formulas in dollars, and TeX's commands."""


THEME = ("styles/furo.css", "pygments.css", "site.css")
"""The style sheets that color text, in the order in which they count."""


BY_SCRIPT = {"search.html"}
"""Pages whose headings a script writes."""
OWN_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
"""The colors that conf.py sets are on every page."""


def all_problems(folder: Path) -> Iterator[str]:
    """Yield what is wrong, with what keeps some readers out."""
    yield from problems(folder)
    for page in sorted(folder.rglob("*.html")):
        for barrier in barriers(page) if page.name not in BY_SCRIPT else ():
            yield f"{page.relative_to(folder)}: {barrier}"
    sheets = {name: folder / "_static" / name for name in THEME}
    written = {name: path.read_text(encoding="utf-8") for name, path in sheets.items()}
    front = (folder / "index.html").read_text(encoding="utf-8")
    yield from faint_texts(written | {"of the page": "".join(OWN_STYLE.findall(front))})


def problems(folder: Path) -> Iterator[str]:
    """Yield what is wrong in the pages and the style sheets below a folder."""
    for page in sorted(folder.rglob("*.html")):
        written = page.read_text(encoding="utf-8")
        for formula in sorted(set(RAW.findall(html.unescape(NO_TEXT.sub(" ", written))))):
            yield f"{page.relative_to(folder)}: {formula}: TeX outside of a formula"
        for tag, attributes in TAG.findall(written):
            for place in PLACE.findall(attributes):
                if wrong := _wrong(page, html.unescape(place), followed=tag == "a"):
                    yield f"{page.relative_to(folder)}: {place}: {wrong}"
    for sheet in sorted(folder.rglob("*.css")):
        for place in STYLE.findall(sheet.read_text(encoding="utf-8")):
            if wrong := _wrong(sheet, place, followed=False):
                yield f"{sheet.relative_to(folder)}: {place}: {wrong}"


def _wrong(page: Path, place: str, *, followed: bool) -> str:
    """Return what is wrong with a place that a page leads to, or loads."""
    parts = urlsplit(place)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "" if followed else "loaded from elsewhere"
    path = unquote(parts.path)
    return _missing(page if not path else page.parent / path, unquote(parts.fragment))


@cache
def _missing(file: Path, name: str) -> str:
    """Return what is missing: the file, or the place in it with this name."""
    if not file.is_file():
        return "no such file"
    known = not name or file.suffix != ".html" or name in _names(file.resolve())
    return "" if known else "no such place"


@cache
def _names(page: Path) -> frozenset[str]:
    """Return the names of places in a page."""
    names = NAME.findall(page.read_text(encoding="utf-8"))
    return frozenset(html.unescape(name) for name in names)


def main(folder: str) -> int:
    """Print what is wrong, and return the exit status."""
    found = list(all_problems(Path(folder)))
    sys.stdout.writelines(f"{problem}\n" for problem in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
