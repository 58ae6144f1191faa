"""Tables of the papers as printed, and what is said of them.

The numbers are lines of ``tables.txt``, in sections; what is said of them is in ``tables.toml``:
of which rows, and in which range each of their ``quantities`` is."""

import tomllib
from fractions import Fraction
from functools import partial
from pathlib import Path

from validation.claim import Severity, above, at_least, claim, corrected
from validation.domains import given


def read_tables(paper):
    """Return the lines of each section of a paper's ``tables.txt``, without comments."""
    sections = {}
    path = Path(__file__).parent / paper / "tables.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


class Printed:
    """A printed row: its table, and under the names of its columns first words, then numbers."""

    shown = columns = ""

    def __init__(self, table, line):
        """Read a line, in which "-" is for a number that is not there."""
        words, numbers = (part.split() for part in self.columns.split(":"))
        values = line.split()
        found = [None if each == "-" else Fraction(each) for each in values[len(words) :]]
        vars(self).update(zip((*words, *numbers), values[: len(words)] + found, strict=True))
        self.table = int(table)

    def __str__(self):
        """Return where it stands."""
        return self.shown.format(**vars(self))


def in_range(row, ranges, unit):
    """Everything is in its range: "0.05 to 0.27", "0.08", "at least 0" or "above 0", up to a unit.

    Where the range is not the same for all rows, the first counts whose name is in the row's. Each
    of several numbers is to be in it."""
    slacks = []
    for name, told in ranges.items():
        parts, what = {"": told} if isinstance(told, str) else told, name.replace("_", " ")
        text = next(text for part, text in parts.items() if part in str(row))
        low, _, high = text.removeprefix("above ").removeprefix("at least ").partition(" to ")
        numbers = row.quantities()[name]()
        for found in map(float, numbers if isinstance(numbers, list) else [numbers]):
            if text.startswith("above"):
                slacks.append(above(found, float(low), what))
                continue
            slacks.append(at_least(found, float(Fraction(low) - Fraction(unit)), what))
            if not text.startswith("at least"):
                most = float(Fraction(high or low) + Fraction(unit))
                slacks.append(at_least(most, found, f"bound on {what}"))
    return min(slacks, default=None)


def declare(paper, rows):
    """Declare what a paper's ``tables.toml`` tells of its rows, and the corrections."""
    text = (Path(__file__).parent / paper / "tables.toml").read_text(encoding="utf-8")
    for name, printed in tomllib.loads(text).items():
        correction = [printed["corrected"]] if "corrected" in printed else []
        for told in (printed, *(printed | changed for changed in correction)):
            some = [
                {"row": row} for row in rows if str(row) != told.get("but")
                and all(getattr(row, column) in each for column, each in told["rows"].items())
            ]  # fmt: skip
            if told is printed:
                asserted = partial(claim, name, told["where"], printed=told.get("printed", ""))
            else:
                asserted = partial(corrected, name, Severity[told["severity"]])
            check = partial(in_range, ranges=told["ranges"], unit=told.get("unit", "0"))
            asserted(given(*some, note=f"{len(some)} printed rows"), told["statement"])(check)
