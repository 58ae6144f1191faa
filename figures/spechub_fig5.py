"""SpecHub, figures 5 and 6: what three rules accept of each pair of drafts, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec.rules import (
    PairRule,
    PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.traces.comparison import OPTIMUM

DRAFT: Any = ("1/2", "3/10", "1/5")
TARGET: Any = ("1/10", "3/5", "3/10")
TOKENS = ("a", "b", "c")
_ON_CELLS = "#000000"
"""Ink on light blue, whatever the page."""
RULES: dict[str, type[PairRule]] = {
    OPTIMUM: PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement.title: RecursiveRejectionWithoutReplacement,
    SpecHub.title: SpecHub,
}
"""Panel → rule. Pooled selection attains the optimum for two distinct drafts."""


@dataclass(frozen=True)
class Cell:
    """A pair of drafts.

    Parameters
    ----------
    drafts : (int, int)
    mass : Fraction
        P(x₁, x₂).
    accepted : (Fraction, Fraction)
        The probability of these drafts and that the first, or the second, is accepted.
    """

    drafts: tuple[int, int]
    mass: Fraction
    accepted: tuple[Fraction, Fraction]


@item("spechub_fig5", "SpecHub, figures 5 and 6", size=(7.0, 2.6), panels=(1, 3))
class MassTables(Picture):
    """The three tables.

    Parameters
    ----------
    cells : dict
        Panel → the pairs of positive probability.
    lacking : dict
        Panel → what is drawn from the residual instead, token by token.
    """

    title = "What is accepted of each pair of drafts, draft (.5, .3, .2), target (.1, .6, .3)"

    cells: dict[str, tuple[Cell, ...]]
    lacking: dict[str, tuple[Fraction, ...]]

    def cost(self, panel: str) -> Fraction:
        """Return the probability that no draft is accepted."""
        return sum(self.lacking[panel], Fraction(0))

    @classmethod
    def compute(cls, settings: Settings) -> MassTables:  # noqa: ARG003
        """Return the tables."""
        cells, lacking = {}, {}
        for panel, rule_class in RULES.items():
            rule = rule_class(DRAFT, TARGET, 2)
            found = []
            for drafts, mass in zip(*(part.tolist() for part in rule.law.tuples()), strict=True):
                if mass > 0:
                    first, second = (mass * rule.joint_kernel(drafts))[:2].sum(axis=1)
                    found.append(Cell(tuple(drafts), mass, (first, second)))
            cells[panel] = tuple(sorted(found, key=lambda cell: cell.drafts))
            lacking[panel] = tuple(rule.target - rule.accepted().by_token)
        return cls(cells, lacking)

    def numbers(self) -> Numbers:
        """Return one row for each pair, and one for each token that is drawn instead."""
        rows: list[tuple[str, ...]] = []
        for panel, cells in self.cells.items():
            for cell in cells:
                names = (TOKENS[cell.drafts[0]], TOKENS[cell.drafts[1]])
                rows.append((panel, *names, *map(str, (cell.mass, *cell.accepted))))
            for token, missing in zip(TOKENS, self.lacking[panel], strict=True):
                rows.append((panel, "residual", token, str(missing), "0", "0"))
        columns = ("rule", "first draft", "second draft", "mass", "accepted as first",
                   "accepted as second")  # fmt: skip
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one table for each rule."""
        most = max(cell.mass for cells in self.cells.values() for cell in cells)
        places = range(len(TOKENS))
        for panel, (name, cells) in zip(axes, self.cells.items(), strict=True):
            shades = [[0.0] * len(TOKENS) for _ in TOKENS]
            for cell in cells:
                row, column = cell.drafts
                shades[row][column] = float(cell.mass)
                panel.text(column, row - 0.27, f"{float(cell.mass):.3f}", ha="center", va="center",
                           fontsize=8, fontweight="bold", color=_ON_CELLS)  # fmt: skip
                lines = [
                    f"{TOKENS[token]}  {float(mass):.3f}"
                    for token, mass in zip(cell.drafts, cell.accepted, strict=True)
                ]
                panel.text(
                    column,
                    row + 0.15,
                    "\n".join(lines),
                    ha="center",
                    va="center",
                    fontsize=7,
                    color=_ON_CELLS,
                )
            panel.imshow(shades, cmap="Blues", vmin=0, vmax=2.5 * float(most))
            panel.set_xticks(places, TOKENS)
            panel.set_yticks(places, TOKENS)
            panel.set_xticks([0.5, 1.5], minor=True)
            panel.set_yticks([0.5, 1.5], minor=True)
            panel.tick_params(which="both", length=0)
            panel.grid(False)
            panel.grid(True, which="minor", color="#FFFFFF", linewidth=2, alpha=1)
            panel.spines[:].set_visible(False)
            panel.set_title(f"{name}: cost {float(self.cost(name)):.2f}")
            panel.set_xlabel("second draft")
        axes[0].set_ylabel("first draft")
