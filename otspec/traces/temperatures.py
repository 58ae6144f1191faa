"""The temperatures of target and draft, which tell the rows of one run apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar


class Heat(NamedTuple):
    """A temperature of the target, and one of the draft."""

    target: float
    draft: float

    def __str__(self) -> str:
        return f"T = {self.target}" + ("" if self.alike else f", draft T = {self.draft}")

    @property
    def alike(self) -> bool:
        """Whether both are the same."""
        return self.target == self.draft

    @property
    def mark(self) -> str:
        """What names of files have: ``T0.6``, or ``T0.6-draft1`` if the draft's is another."""
        return f"T{self.target:g}" + ("" if self.alike else f"-draft{self.draft:g}")


class Heated(Protocol):
    """A row of results that says its temperatures."""

    @property
    def temperature(self) -> float:
        """Of the target."""

    @property
    def draft_temperature(self) -> float:
        """Of the draft."""


Row = TypeVar("Row", bound=Heated)


def heat_of(row: Heated) -> Heat:
    """Return the temperatures of a row."""
    return Heat(row.temperature, row.draft_temperature)


def by_heat(rows: Iterable[Row]) -> dict[Heat, list[Row]]:
    """Return the rows of each pair of temperatures, in order of first appearance."""
    found: dict[Heat, list[Row]] = {}
    for row in rows:
        found.setdefault(heat_of(row), []).append(row)
    return found
