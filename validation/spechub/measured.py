"""Tables 1, 2 and 5 to 9 as they are printed: acceptance of the second draft, batch efficiency."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from validation.printed_tables import read_tables


class Row(NamedTuple):
    """One printed row; SpecHub has no number on ternary trees."""

    table: int
    temperature: str
    data: str
    tree: str
    rrs: Fraction
    rrsw: Fraction
    spechub: Fraction | None


def _read(table: str, line: str) -> Row:
    temperature, data, tree, rrs, rrsw, spechub = line.split()
    last = None if spechub == "-" else Fraction(spechub)
    return Row(int(table), temperature, data, tree, Fraction(rrs), Fraction(rrsw), last)


ROWS = tuple(
    _read(table, line) for table, lines in read_tables("spechub").items() for line in lines
)
