"""A card: what a result is, and its rows, which every way to show it has in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from otspec.cards.values import Verbatim, inline, said

Row: TypeAlias = tuple[str, Any]
"""A name, as attributes have it, and what it is."""
Masses: TypeAlias = Mapping[str, Any]
"""Laws of one token, by name: vectors of one length."""

MOST_BARS = 16
"""The largest vocabulary whose masses have bars."""


class Card(NamedTuple):
    """What is shown of a result.

    Parameters
    ----------
    title : str
        What it is, in a few words.
    rows : sequence of (str, str)
    masses : mapping of str to ndarray, shape (n,)
        Drawn as bars; empty for what is no law, or is too large.
    """

    title: str
    rows: Sequence[tuple[str, str]]
    masses: Masses

    def text(self) -> str:
        """Return lines for a shell: the title, and the rows below one another."""
        width = max((len(name) for name, _ in self.rows), default=0)
        return "\n".join([self.title, *(f"  {name:<{width}}  {text}" for name, text in self.rows)])

    def html(self) -> str:
        """Return tables for a notebook, where what has bars needs no row."""
        from otspec.cards import markup

        rows = [(name, text) for name, text in self.rows if name not in self.masses]
        found = markup.pairs(self.title, rows)
        return found + (markup.bars(self.masses) if self.masses else "")


class Carded:
    """What is shown as a card when its name is typed.

    ``repr`` and rich show :meth:`_card_rows` on one line; IPython's shell and notebooks show the
    card, which has :meth:`_card_more` beside them. Nothing there may take long: what does is not
    shown.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Otherwise a dataclass would write one of its own, which prints all that it holds.
        if "__repr__" not in vars(cls):
            for name in ("__repr__", "_repr_pretty_"):  # IPython takes the first that it finds
                setattr(cls, name, getattr(cls, name))

    def _card_title(self) -> str:
        """Return what it is, in a few words."""
        return type(self).__name__

    def _card_rows(self) -> Iterator[Row]:
        """Return what it says: of a dataclass its fields."""
        return ((name, getattr(self, name)) for name in _field_names(self))

    def _card_more(self) -> Iterator[Row]:
        """Return what else a card says, where it is small enough to be computed at once."""
        return iter(())

    def _card_masses(self) -> Masses:
        """Return the laws whose masses a card draws, of whatever length."""
        return {}

    def __repr__(self) -> str:
        parts = (f"{name}={inline(value)}" for name, value in _known(self._card_rows()))
        return f"{type(self).__name__}({', '.join(parts)})"

    def __rich_repr__(self) -> Iterator[tuple[str, Verbatim]]:
        for name, value in _known(self._card_rows()):
            yield name, Verbatim(inline(value))

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        nested = cycle or len(printer.stack) > 1
        printer.text(repr(self) if nested else self._card().text())

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """Return the card. What cannot be said, as of a rule that raises, is left out."""
        rows = list(_known(self._card_rows()))
        masses: Masses = {}
        try:
            rows += _known(self._card_more())
            masses = {name: law for name, law in self._card_masses().items() if law is not None}
        except Exception:  # noqa: S110 # a rule may be somebody else's code, and wrong
            pass
        small = all(len(law) <= MOST_BARS for law in masses.values())
        named = [(name.replace("_", " "), said(value)) for name, value in rows]
        return Card(self._card_title(), named, masses if small else {})


class _Printer(Protocol):
    """The printer of IPython's shell."""

    stack: list[Any]

    def text(self, obj: str) -> None:
        """Print a text."""


def _field_names(thing: Any) -> list[str]:
    return [field.name for field in fields(thing) if field.repr] if is_dataclass(thing) else []


def _known(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield what is there: of an object that is not made yet, as debuggers show it, the first."""
    try:
        yield from ((name, value) for name, value in rows if value is not None)
    except AttributeError:
        return
