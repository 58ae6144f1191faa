"""A card: what a result is, and its rows, which every way to show it has in common."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from otspec.display import markup
from otspec.display.fields import MOST_BARS, Masses, Row, fields_of
from otspec.display.values import Verbatim, aligned, decimal, inline, said
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
        found = markup.pairs(self.title, rows)
        return found + (markup.bars(self.masses) if self.masses else "")


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
    return markup.columns(_caption(rows), names, cells, words=words)


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
