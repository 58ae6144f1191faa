"""One HTML file that needs nothing else: its beginning and end, tables, pictures, figures."""

import html
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TypeAlias

from otspec._base.tables import printable

Cell: TypeAlias = "str | tuple[str, str]"
"""What a table says at a place; of a pair the second part is below the first, and smaller."""

_FEW = 4  # columns that fit any page


def page(title: str, body: Iterable[str]) -> Iterable[str]:
    """Yield the lines of a file: a heading, and what is below it, which is HTML."""
    style = (files("otspec._base") / "webpage.css").read_text(encoding="utf-8")
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # The icon is there so that browsers do not ask for one.
    yield f'<link rel="icon" href="data:,"><title>{escaped(title)}</title>'
    yield f"<style>\n{style}</style></head><body>"
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
