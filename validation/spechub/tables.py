"""The abstract, sections 1 and 5, appendix F: what is said of the numbers of tables 1 to 9.

The numbers are in ``tables.txt``; what is said of them is in ``tables.toml``: which rows, and in
which range each :func:`quantity` of them is.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from validation.claim import Severity, above, at_least, claim, corrected
from validation.domains import given
from validation.printed_tables import read_tables


@dataclass(frozen=True)
class Row:
    """One printed row: the acceptance of the second draft, or the batch efficiency."""

    table: int
    temperature: str
    data: str
    tree: str
    rrs: Fraction
    rrsw: Fraction
    spechub: Fraction | None
    """None on ternary trees."""

    def __str__(self):
        """Return where it stands."""
        return f"table {self.table}, T = {self.temperature}, {self.data}, {self.tree}"

    def of(self, kind, more):
        """Return the row of a tree of this kind with more levels."""
        other = replace(self, tree=f"{kind}^{int(self.tree[-1]) + more}")
        return next(row for row in ROWS if str(row) == str(other))


ROWS = tuple(
    Row(int(name), *where, Fraction(rrs), Fraction(rrsw), None if hub == "-" else Fraction(hub))
    for name, rows in read_tables("spechub").items() if name != "4"
    for *where, rrs, rrsw, hub in map(str.split, rows)
)  # fmt: skip
BATCHES = [row for row in ROWS if row.table >= 5 and row.spechub is not None]


def gains(row):
    """Return by how much SpecHub is above RRS and above RRSw."""
    found = row.spechub or Fraction(0)
    return found - row.rrs, found - row.rrsw


def best_without(row):
    """Return the better of RRS and RRSw."""
    return max(row.rrs, row.rrsw)


def quantity(row, name):
    """Return what is told of a row; deeper and binary trees are those of the same data."""
    told = {
        "tokens": lambda: row.spechub,
        "over_rrs": lambda: gains(row)[0],
        "over_rrsw": lambda: gains(row)[1],
        "most_over_rrs": lambda: max(gains(row.of("2", -less))[0] for less in range(4)),
        "over_deeper": lambda: row.spechub - best_without(row.of(row.tree[0], 1)),
        "binary_over": lambda: row.of("2", 0).spechub - best_without(row),
        "deeper_binary_over": lambda: row.of("2", 1).spechub - best_without(row),
    }
    return told[name]()


def in_range(row, ranges, unit):
    """Everything is in its range, such as "0.05 to 0.27", "0.08" or "above 0", up to a unit."""
    slacks = []
    for name, told in ranges.items():
        found, what = float(quantity(row, name)), name.replace("_", " ")
        # A range may differ by temperature or data.
        text = told if isinstance(told, str) else told.get(row.temperature) or told[row.data]
        if text.startswith("above"):
            slacks.append(above(found, float(text[6:]), what))
            continue
        low, _, high = text.partition(" to ")
        slacks.append(at_least(found, float(Fraction(low) - Fraction(unit)), what))
        most = float(Fraction(high or low) + Fraction(unit))
        slacks.append(at_least(most, found, f"bound on {what}"))
    return float(min(slacks))


def check_of(told):
    """Return the domain, the statement and the check of what is told of the rows that it names."""
    rows = [{"row": row} for row in ROWS if str(row) != told.get("but")
            and all(getattr(row, name) in some for name, some in told["rows"].items())]  # fmt: skip
    check = partial(in_range, ranges=told["ranges"], unit=told["unit"])
    return given(*rows, note=f"{len(rows)} printed rows"), told["statement"], check


TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
for identifier, told in TOLD.items():
    domain, statement, check = check_of(told)
    claim(identifier, told["where"], domain, statement, printed=told.get("printed", ""))(check)
    if "corrected" in told:
        domain, statement, check = check_of({**told, **told["corrected"]})
        corrected(identifier, Severity[told["corrected"]["severity"]], domain, statement)(check)
