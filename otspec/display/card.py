"""A card: what a result is, and its rows, which every way to show it has in common.

Tables for notebooks take the colors of the page that they are on. There is no script and no style
sheet, so that a saved notebook shows the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from otspec._base.webpage import escaped
from otspec.display.fields import MOST_BARS, Masses, Row, fields_of
from otspec.display.values import Verbatim, aligned, decimal, entry, inline, said
from otspec.frames.columns import columns_of


class Card(NamedTuple):
    """What is shown of a result."""

    title: str  # what it is, in a few words
    rows: Sequence[tuple[str, str]]
    masses: Masses  # (n,): drawn as bars; empty for what is no law, or is too large

    def text(self) -> str:
        """Return lines for a shell: the title, and the rows below one another."""
        width = max((len(name) for name, _ in self.rows), default=0)
        return "\n".join([self.title, *(f"  {name:<{width}}  {text}" for name, text in self.rows)])

    def html(self) -> str:
        """Return tables for a notebook, where what has bars needs no row."""
        rows = [(name, text) for name, text in self.rows if name not in self.masses]
        found = pairs(self.title, rows)
        return found + (bars(self.masses) if self.masses else "")


def line(thing: Any) -> str:
    """Return what is shown of an object on one line."""
    told = (f"{name}={inline(value)}" for name, value in _known(fields_of(thing).rows(thing)))
    return f"{type(thing).__name__}({', '.join(told)})"


def parts(thing: Any) -> Iterator[tuple[str, Verbatim]]:
    """Yield the names and values of that line, for rich."""
    for name, value in _known(fields_of(thing).rows(thing)):
        yield name, Verbatim(inline(value))


def pretty(thing: Any, printer: Any, cycle: bool) -> None:
    """Print an object in IPython's shell: as a card, unless it is inside another."""
    nested = cycle or len(printer.stack) > 1
    printer.text(repr(thing) if nested else card_of(thing).text())


def card_of(thing: Any) -> Card:
    """Return the card of an object. What cannot be said, as of a rule that raises, is left out."""
    fields = fields_of(thing)
    rows = list(_known(fields.rows(thing)))
    masses: Masses = {}
    try:
        rows += _known(fields.more(thing))
        masses = {name: law for name, law in fields.masses(thing).items() if law is not None}
    except Exception:  # noqa: S110 # a rule may be somebody else's code, and wrong
        pass
    small = all(len(law) <= MOST_BARS for law in masses.values())
    named = [(name.replace("_", " "), said(value)) for name, value in rows]
    return Card(fields.title(thing), named, masses if small else {})


def _known(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield what is there: of an object that is not made yet, as debuggers show it, the first."""
    try:
        yield from ((name, value) for name, value in rows if value is not None)
    except AttributeError:
        return


_MOST_SHOWN = 20


def rows_html(rows: Any) -> str:
    """Return the table of an :class:`otspec.frames.Rows` for a notebook."""
    names, words, cells = _shown(rows)
    return columns(_caption(rows), names, cells, words=words)


def rows_pretty(rows: Any, printer: Any, cycle: bool) -> None:
    """Print the table in IPython's shell, unless it is empty or inside another object."""
    if cycle or len(printer.stack) > 1 or not rows:
        printer.text(repr(rows))
    else:
        names, words, cells = _shown(rows)
        printer.text("\n".join([_caption(rows), *aligned(names, cells, words=words)]))


def _caption(rows: Any) -> str:
    shown_of = f"{_MOST_SHOWN} of {len(rows):,}" if len(rows) > _MOST_SHOWN else str(len(rows))
    kind = "" if rows.kind is None else f" of {rows.kind.__name__}"
    noun = "row" if len(rows) == 1 else "rows"
    return f"{shown_of} {noun}{kind}{f': {rows.source}' if rows.source else ''}"


def _shown(every: Any) -> tuple[list[str], int, list[list[str]]]:
    """Return the columns, how many of the first are words, and the cells of the first rows."""
    names = [] if every.kind is None else _attributes(every.kind)
    rows = list(every)[:_MOST_SHOWN]
    wordy = [bool(rows) and all(isinstance(_value(it, name), str) for it in rows) for name in names]
    words = next((at for at, only in enumerate(wordy) if not only), len(names))
    cells = [[_cell(_value(row, name)) for name in names] for row in rows]
    return [name.replace("_", " ") for name in names], words, cells


def _attributes(kind: type) -> list[str]:
    """Return what columns are of; the fields where no column can hold one of them."""
    try:
        return list(dict.fromkeys(column.attribute for column in columns_of(kind)))
    except ValueError:
        return list(getattr(kind, "__match_args__", ()))


def _value(row: Any, name: str) -> Any:
    """Return an attribute of a row, of a tree its text; None for a row that lacks it."""
    value = getattr(row, name, None)
    text = getattr(value, "text", None)
    return text if isinstance(text, str) else value


def _cell(value: Any) -> str:
    """Return what a table for people has for a value."""
    whole = said(value)
    long = isinstance(value, Fraction) and "…" in whole  # whose digits say nothing
    return "" if value is None else f"≈{decimal(float(value))}" if long else whole


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
