"""One HTML file that needs nothing else: its beginning and end, tables, pictures, figures.

It follows the reader's choice of bright or dark, and can be printed. A table never is wider than
the page: on a narrow one each row of many cells is a block, with the names of the columns.
"""

import html
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from otspec._base.tables import printable

Cell: TypeAlias = "str | tuple[str, str]"
"""What a table says at a place; of a pair the second part is below the first, and smaller."""

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --quiet: #5c5c5c; --line: #ddd; --ground: #fff;
        --panel: #f4f5f7; --good: #00755a; --bad: #b34700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e2; --quiet: #a3a3a0; --line: #3a3c40; --ground: #131416; --panel: #1f2124;
          --good: #3ec79f; --bad: #ff8a3d; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
       max-width: 88rem; margin: 2rem auto; padding: 0 1.25rem; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; }
h1::first-letter, h2::first-letter, h3::first-letter,
th::first-letter, .key dt::first-letter { text-transform: uppercase; }
p, li { max-width: 52rem; }
.lead { font-size: 1.2rem; max-width: 72rem; }
.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: .75rem;
       margin: 1.5rem 0; padding: 0; }
.key div { background: var(--panel); border-radius: .4rem; padding: .75rem 1rem; }
.key dt { color: var(--quiet); font-size: .85rem; }
.key dd { margin: 0; font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.key dd + dd { font-size: .85rem; font-weight: 400; color: var(--quiet); }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr));
          gap: 1rem 2.5rem; align-items: start; }
.beside svg { width: 100%; }
.beside h2 { margin-top: 1rem; }
figure { margin: 1rem 0; overflow-x: auto; }
figcaption { color: var(--quiet); font-size: .85rem; max-width: 52rem; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
        margin: .5rem 0; width: 100%; }
th, td { padding: .3rem .8rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); }
td small { display: block; color: var(--quiet); font-size: .8rem; }
.words { text-align: left; overflow-wrap: anywhere; }
th.words { overflow-wrap: normal; }
pre { background: var(--panel); padding: .6rem 1rem; border-radius: .4rem; font-size: .85rem;
      white-space: pre-wrap; overflow-wrap: anywhere; }
.failed, .undecided { border-left: 4px solid var(--bad); padding-left: 1rem; }
.passed { border-left: 4px solid var(--good); padding-left: 1rem; }
@media screen and (max-width: 44rem) {
  body { margin: 1rem auto; padding: 0 1rem; }
  .key { grid-template-columns: 1fr 1fr; }
  figure svg { min-width: 34rem; }
  .many, .many tbody { display: block; }
  .many thead { display: none; }
  .many tr { display: grid; grid-template-columns: repeat(3, 1fr); gap: .3rem .75rem;
             padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .many td { border: 0; padding: 0; text-align: left; overflow-wrap: anywhere; }
  .many td::before { content: attr(data-name); display: block; color: var(--quiet);
                     font-size: .75rem; }
  .many td:empty { display: none; }
  .many td:first-child { grid-column: 1 / -1; font-weight: 600; }
  th, td { padding: .3rem .4rem; } }
@media print {
  :root { color-scheme: light; --ink: #000; --quiet: #444; --line: #bbb; --ground: #fff;
          --panel: #f4f5f7; }
  body { max-width: none; margin: 0; font-size: 10pt; }
  figure, .key div, tr, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  thead { display: table-header-group; } }
"""


_FEW = 4
"""Columns that fit any page."""


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


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, words: int) -> Iterable[str]:
    """Yield a table; the first ``words`` columns are words, the others numbers."""
    many = ' class="many"' if len(columns) > _FEW else ""
    yield f"<table{many}><thead><tr>"
    for place, name in enumerate(columns):
        yield f'<th scope="col"{_class(place, words)}>{escaped(name)}</th>'
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>"
        for place, (name, cell) in enumerate(zip(columns, row, strict=True)):
            yield f'<td data-name="{escaped(name)}"{_class(place, words)}>{_cell(cell)}</td>'
        yield "</tr>"
    yield "</tbody></table>"


def _class(place: int, words: int) -> str:
    return ' class="words"' if place < words else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escaped(cell)
    above, below = cell
    return f"{escaped(above)}<small>{escaped(below)}</small>" if below else escaped(above)


def key_figures(figures: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    """Yield figures in large letters: what each is, itself, and what is to be said of it."""
    yield '<dl class="key">'
    for name, value, more in figures:
        yield f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>"
        yield f"<dd>{escaped(more)}</dd></div>"
    yield "</dl>"


def picture(svg: str, caption: str = "") -> str:
    """Return a picture, which is an element of SVG, with what is said below it."""
    below = f"<figcaption>{escaped(caption)}</figcaption>" if caption else ""
    return f"<figure>{svg}{below}</figure>"


def beside(*parts: str) -> Iterable[str]:
    """Yield parts of a page side by side, below each other where it is narrow."""
    yield '<div class="beside">'
    yield from parts
    yield "</div>"


def titled_list(title: str, items: Iterable[str]) -> str:
    """Return sentences below a heading of their own, as one part of a page."""
    return f"<section><h2>{escaped(title)}</h2>{listed_items(items)}</section>"


def listed_items(items: Iterable[str]) -> str:
    """Return a list of sentences."""
    return f"<ul>{''.join(f'<li>{escaped(item)}</li>' for item in items)}</ul>"


def verbatim(lines: Iterable[str]) -> str:
    """Return lines as they are, such as a command; long ones go on below."""
    return "<pre>" + "\n".join(map(escaped, lines)) + "</pre>"


def escaped(text: str) -> str:
    """Return a text as part of a page, on one line."""
    return html.escape(printable(text))
