"""What the note says in numbers: names with what is printed for them, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_WORDS = [
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
]  # fmt: skip


@dataclass
class Results:
    """Numbers and tables by name, as they are printed."""

    numbers: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    """Rows of cells; the first row is the head."""

    def add(self, name: str, value: Any) -> None:
        """Add a number, as it is printed.

        Parameters
        ----------
        name : str
            Which no other number has.
        value : object
            A text, or what ``str`` makes one of: an integer, a fraction.

        Raises
        ------
        ValueError
            The name is taken.
        """
        if name in self.numbers:
            raise ValueError(f"the number {name} is there already: name one of the two otherwise")
        self.numbers[name] = str(value)

    def add_table(self, name: str, head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table.

        Raises
        ------
        ValueError
            A row has not one cell for each column.
        """
        for row in rows:
            if len(row) != len(head):
                raise ValueError(f"table {name}: the row {row} has not {len(head)} cells")
        self.tables[name] = [[str(cell) for cell in row] for row in (head, *rows)]


def probability(value: Any) -> str:
    """Return a probability with four decimals."""
    return f"{float(value):z.4f}"


def points(value: Any) -> str:
    """Return a difference of probabilities in percentage points, with one decimal."""
    return f"{100 * float(value):z.1f}"


def short(value: Any) -> str:
    """Return a probability with three decimals, without the zero before them."""
    return f"{float(value):.3f}".removeprefix("0")


def thousands(value: int) -> str:
    """Return a whole number with a comma before each three digits."""
    return f"{value:,}"


def in_words(value: int) -> str:
    """Return a whole number up to twenty in words."""
    return _WORDS[value]


def scientific(value: float) -> str:
    """Return a small number with one digit, rounded upwards, as Typst's formulas write it."""
    from decimal import ROUND_CEILING, Context, Decimal

    if not value:
        return "0"
    digit, exponent = f"{Context(prec=1, rounding=ROUND_CEILING).plus(Decimal(value)):e}".split("e")
    return f"{digit}e{int(exponent)}"
