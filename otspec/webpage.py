"""One HTML file that needs nothing else: its beginning and end, and tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from otspec.tables import printable

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 78rem; margin: 2rem auto;
       padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #222; }
td { border-bottom: 1px solid #ddd; }
.words { text-align: left; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
pre { background: #f4f4f4; padding: .5rem 1rem; overflow-x: auto; font-size: .85rem; }
.failed { border-left: 4px solid #d55e00; padding-left: 1rem; }
.passed { border-left: 4px solid #009e73; padding-left: 1rem; }
"""


def page(title: str, body: Iterable[str]) -> Iterable[str]:
    """Yield the lines of a file: a heading, and what is below it, which is HTML."""
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # The icon is there so that browsers do not ask for one.
    yield f'<link rel="icon" href="data:,"><title>{escaped(title)}</title>'
    yield f"<style>{_STYLE}</style></head><body>"
    yield f"<h1>{escaped(title)}</h1>"
    yield from body
    yield "</body></html>"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> Iterable[str]:
    """Yield a table; the first ``words`` columns are words, the others numbers."""
    yield '<div class="scroll"><table><thead>'
    yield _row("th", columns, words)
    yield "</thead><tbody>"
    for row in rows:
        yield _row("td", row, words)
    yield "</tbody></table></div>"


def _row(tag: str, cells: Sequence[str], words: int) -> str:
    return "".join(
        [
            "<tr>",
            *(
                f"<{tag}{' class=words' if index < words else ''}>{escaped(cell)}</{tag}>"
                for index, cell in enumerate(cells)
            ),
            "</tr>",
        ]
    )


def escaped(text: str) -> str:
    """Return a text as part of a page, on one line."""
    return html.escape(printable(text))
