"""What an item of the figures book is: numbers, and a picture or a table of them."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import otspec
from otspec._base.writing import write_text
from otspec.distributions import Distribution
from otspec.plots import save
from otspec.plots.canvas import STYLE, in_style
from otspec.traces import Trace, load_trace

COLUMN = (3.5, 2.6)
"""Inches of a picture as wide as a column of a two-column page."""
PAGE = (7.0, 2.9)
"""Inches of a picture as wide as both columns."""

Cell: TypeAlias = str | int | float
BUNDLED = "bundled SmolLM2 trace"


@dataclass(frozen=True)
class Settings:
    """How the book is to be computed."""

    quick: bool = False
    """Fewer points and samples, to see that everything runs."""
    trace: str | None = None
    """A trace file for the language-model items; by default the bundled trace."""

    def logged(self) -> Trace:
        """Return the trace."""
        return otspec.datasets.load_smollm2() if self.trace is None else load_trace(self.trace)

    def pairs(
        self, temperature: float = 1.0, draft_temperature: float | None = None
    ) -> Iterator[tuple[Distribution, Distribution]]:
        """Yield draft and target of the positions of the trace; of a few if quick.

        The draft has the target's temperature unless it is given one of its own.
        """
        logged = self.logged()
        pairs = logged.pairs(temperature=temperature, draft_temperature=draft_temperature)
        for index, (_, draft, target) in enumerate(pairs):
            if self.quick and index == 4:
                return
            yield draft, target

    @property
    def input(self) -> str:
        """What the language-model items are computed from."""
        return BUNDLED if self.trace is None else self.trace


@dataclass(frozen=True)
class Numbers:
    """A table, as it is written to CSV and Markdown."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """Text, integers and floats."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row} has not one cell for each of {self.columns}")

    def as_markdown(self) -> str:
        """Return the table in Markdown; floats with four decimals."""
        rows = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "".join(f"| {' | '.join(map(_shown, row))} |\n" for row in rows)

    def as_csv(self) -> str:
        """Return the table as comma-separated values."""
        text = io.StringIO(newline="")
        csv.writer(text).writerows([self.columns, *self.rows])
        return text.getvalue()


def _shown(cell: Cell) -> str:
    return f"{cell:z.4f}" if isinstance(cell, float) else str(cell)


class Item(ABC):
    """One figure or table: a value with its numbers, which can be computed, shown and redrawn.

    A subclass says in class variables what it is. :data:`figures.registry.ITEMS` has it by name.
    """

    name: ClassVar[str]
    """The name of its module and of its files."""
    title: ClassVar[str]
    """What it shows."""
    source: ClassVar[str]
    """Which figure or table of which paper it redraws; "ours" for those that papers lack."""
    seed: ClassVar[int | None] = None
    """Of what is drawn at random."""
    traced: ClassVar[bool] = False
    """Whether it is computed from the trace."""

    @classmethod
    @abstractmethod
    def compute(cls, settings: Settings) -> Item:
        """Return the item, without side effects."""

    @abstractmethod
    def numbers(self) -> Numbers:
        """Return the numbers behind the picture, or the table."""

    @abstractmethod
    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:
        """Write what is looked at, and return the files."""


class Picture(Item):
    """A figure."""

    size: ClassVar[tuple[float, float]] = COLUMN
    """Inches."""
    panels: ClassVar[tuple[int, int]] = (1, 1)
    """Rows and columns of axes."""

    @abstractmethod
    def draw(self, axes: list[Any]) -> None:
        """Draw it on its panels, row by row."""

    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:
        """Write the picture in each format: "pdf", "png", "svg"."""
        return [self.save(folder / f"{self.name}.{ending}") for ending in formats]

    def save(self, path: Path) -> Path:
        """Write the picture in the format of the file's ending."""
        from matplotlib.figure import Figure

        with in_style(STYLE):
            figure = Figure(figsize=self.size)
            self.draw(list(figure.subplots(*self.panels, squeeze=False).flat))
            save(figure, path)
        return path


class Table(Item):
    """A table."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return sentences that compare our numbers with the paper's."""

    def write(self, folder: Path, formats: Sequence[str]) -> list[Path]:  # noqa: ARG002
        """Write the table and its notes in Markdown, whatever the formats of pictures."""
        path = folder / f"{self.name}.md"
        notes = "".join(f"- {note}\n" for note in self.notes())
        parts = (f"# {self.title}\n", f"{self.source}\n", self.numbers().as_markdown(), notes)
        write_text(path, "\n".join(parts))
        return [path]
