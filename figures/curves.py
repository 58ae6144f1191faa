"""Pictures of rules against one number, in a panel or a group of lines for each setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import otspec
from figures.contract import Cell, Numbers, Picture
from otspec.rules import PairRule
from otspec.traces.comparison import OPTIMUM


@dataclass(frozen=True)
class Curves(Picture):
    """What rules give at each number, setting by setting.

    Parameters
    ----------
    xs : tuple of int or Fraction
        The numbers.
    curves : dict
        Setting → rule → its value at each number, or at the first of them.
    """

    columns: ClassVar[tuple[str, str]]
    """What the setting and the number are called in the table."""

    xs: tuple[Any, ...]
    curves: dict[Any, dict[str, tuple[Any, ...]]]

    def numbers(self) -> Numbers:
        """Return one row for each setting and number, with a column for each rule."""
        rules = tuple(next(iter(self.curves.values())))
        rows = [
            (_cell(setting), _cell(x), *map(float, values))
            for setting, lines in self.curves.items()
            for x, *values in zip(self.xs, *lines.values(), strict=False)
        ]
        return Numbers((*self.columns, *rules), tuple(rows))


@dataclass(frozen=True)
class Losses(Picture):
    """Means over the positions of the trace: what rules accept, and lose against the optimum.

    Parameters
    ----------
    ks : tuple of int
        Numbers of drafts.
    positions : int
        How many positions the means are over.
    acceptance, loss : dict
        "optimum", and then each rule → for each k the mean acceptance, and the mean of what it is
        below the optimum.
    """

    loss_called: ClassVar[str]
    """The column of the loss in the table."""

    ks: tuple[int, ...]
    positions: int
    acceptance: dict[str, tuple[float, ...]]
    loss: dict[str, tuple[float, ...]]

    def losses(self) -> dict[str, tuple[float, ...]]:
        """Return the losses of the rules, without the optimum."""
        return {rule: loss for rule, loss in self.loss.items() if rule != OPTIMUM}

    def numbers(self) -> Numbers:
        """Return one row for each rule and k; the optimum first."""
        rows = [
            (rule, *row)
            for rule, loss in self.loss.items()
            for row in zip(self.ks, self.acceptance[rule], loss, strict=True)
        ]
        return Numbers(("rule", "k", "mean acceptance", self.loss_called), tuple(rows))


def against_k(
    draft: Any, target: Any, ks: Sequence[int], *rules: type[PairRule]
) -> dict[str, tuple[Any, ...]]:
    """Return the acceptance for each number of i.i.d. drafts: the optimum and then the rules.

    Parameters
    ----------
    draft, target : array_like, shape (n,)
    ks : sequence of int
    rules : types of PairRule

    Returns
    -------
    dict of str to tuple
        The title of a rule → its acceptance for each k.
    """
    optimum = {OPTIMUM: tuple(otspec.optimal_acceptances(draft, target, ks).tolist())}
    return optimum | {
        rule.title: tuple(rule(draft, target, k).acceptance() for k in ks) for rule in rules
    }


def _cell(value: Any) -> Cell:
    return float(value) if isinstance(value, Fraction) else value
