"""A card: what a result is, and its rows, which every way to show it has in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from otspec.display import markup
from otspec.display.fields import MOST_BARS, Masses, Row, fields_of
from otspec.display.values import Verbatim, inline, said


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
