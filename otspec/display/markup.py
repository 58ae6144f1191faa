"""Small tables for notebooks, which take the colors of the page that they are on.

There is no script and no style sheet, so that a saved notebook shows the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otspec._base.webpage import escaped
from otspec.display.values import entry

_TABLE = "border-collapse: collapse; margin: 0 0 .5em; font-variant-numeric: tabular-nums;"
_CAPTION = "caption-side: top; text-align: left; font-weight: 600; padding: .2em 0;"
_CELL = "text-align: left; padding: .15em .9em .15em 0; vertical-align: top;"
_NUMBER = "text-align: right; padding: .15em .9em .15em 0; white-space: nowrap;"
_BAR = "display: inline-block; height: .6em; background: currentColor; opacity: .45;"
_ROOM = "display: inline-block; margin-right: .4em;"
_ONE_LINE = "white-space: nowrap;"
_SHORT_TITLE = 56
_WIDEST = 6.0


def pairs(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and what each is."""
    body = (
        f'<tr><th scope="row" style="{_CELL} {_ONE_LINE} width: 1%;">{escaped(name)}</th>'
        f'<td style="{_CELL} overflow-wrap: anywhere;">{escaped(text)}</td></tr>'
        for name, text in rows
    )
    return _table(title, "", body)


def columns(title: str, names: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """Return a table with a name for each column; the first ``words`` columns are words."""
    styles = [f"{_CELL} {_ONE_LINE}" if index < words else _NUMBER for index in range(len(names))]
    body = (
        "<tr>"
        + "".join(
            f'<td style="{style}">{escaped(text)}</td>'
            for style, text in zip(styles, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return _table(title, _header(names, styles), body)


def bars(masses: Mapping[str, Any]) -> str:
    """Return a table of masses by token, each with a bar as long as it is large."""
    names = ["token", *masses]
    most = max((float(mass) for column in masses.values() for mass in column), default=0.0)
    rows = zip(*masses.values(), strict=True)
    body = (
        f'<tr><th scope="row" style="{_NUMBER}">{token}</th>'
        + "".join(
            f'<td style="{_CELL} {_ONE_LINE}">{_bar(float(mass), most)}{escaped(entry(mass))}</td>'
            for mass in row
        )
        + "</tr>"
        for token, row in enumerate(rows)
    )
    return _table("", _header(names, [_NUMBER, *[_CELL] * len(masses)]), body)


def _bar(mass: float, most: float) -> str:
    width = _WIDEST * max(mass, 0.0) / most if most > 0 else 0.0
    bar = f'<span style="{_BAR} width: {width:.2f}em;"></span>'
    return f'<span aria-hidden="true" style="{_ROOM} width: {_WIDEST:g}em;">{bar}</span>'


def _header(names: Sequence[str], styles: Sequence[str]) -> str:
    cells = (
        f'<th scope="col" style="{style}">{escaped(name)}</th>'
        for name, style in zip(names, styles, strict=True)
    )
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def _table(title: str, header: str, body: Iterator[str]) -> str:
    wrap = _ONE_LINE if len(title) <= _SHORT_TITLE else ""
    caption = f'<caption style="{_CAPTION} {wrap}">{escaped(title)}</caption>' if title else ""
    inside = f"{caption}{header}<tbody>{''.join(body)}</tbody>"
    return f'<div style="overflow-x: auto;"><table style="{_TABLE}">{inside}</table></div>'
