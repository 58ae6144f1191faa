"""What an item of the figures book is: numbers, and a picture or a table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import otspec
from otspec.distributions import Distribution
from otspec.traces import Trace, load_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN = (3.5, 2.6)
"""Inches of a picture as wide as a column of a two-column page."""
PAGE = (7.0, 2.9)
"""Inches of a picture as wide as both columns."""

Cell: TypeAlias = str | int | float
BUNDLED = "bundled SmolLM2 trace"


@dataclass(frozen=True)
class Settings:
    """How the book is to be computed.

    Parameters
    ----------
    quick : bool
        Fewer points and samples, to see that everything runs.
    trace : str, optional
        A trace file for the language-model items; by default the bundled trace.
    """

    quick: bool = False
    trace: str | None = None

    def logged(self) -> Trace:
        """Return the trace."""
        return otspec.datasets.load_smollm2() if self.trace is None else load_trace(self.trace)

    def pairs(self, temperature: float = 1.0) -> Iterator[tuple[Distribution, Distribution]]:
        """Yield draft and target of the positions of the trace; of a few if quick."""
        pairs = self.logged().pairs(temperature=temperature)
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
    """A table, as it is written to CSV and Markdown.

    Parameters
    ----------
    columns : tuple of str
    rows : tuple of tuple
        Text, integers and floats.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row {row} has not one cell for each of {self.columns}")


@dataclass(frozen=True)
class Item:
    """One figure or table.

    Parameters
    ----------
    name : str
        The name of its module.
    title : str
        What it shows.
    source : str
        Which figure or table of which paper it redraws; "ours" for those that papers lack.
    compute : callable
        Settings → data, without side effects.
    numbers : callable
        Data → the numbers behind the picture, or the table.
    draw : callable, optional
        (axes, data) → None; a list of axes if there are several panels. None for a table.
    notes : callable, optional
        Data → sentences that compare our numbers with the paper's.
    size : (float, float)
        Inches.
    panels : (int, int)
        Rows and columns of axes.
    seed : int, optional
        Of what is drawn at random.
    traced : bool
        Whether it is computed from the trace.
    """

    name: str
    title: str
    source: str
    compute: Callable[[Settings], Any]
    numbers: Callable[[Any], Numbers]
    draw: Callable[[Any, Any], None] | None = None
    notes: Callable[[Any], list[str]] | None = None
    size: tuple[float, float] = COLUMN
    panels: tuple[int, int] = (1, 1)
    seed: int | None = None
    traced: bool = False


def legend_outside(axes: Axes, *handles_and_labels: Any) -> None:
    """Put a legend to the right of the axes, where it covers no data."""
    axes.legend(*handles_and_labels, loc="center left", bbox_to_anchor=(1.0, 0.5))
