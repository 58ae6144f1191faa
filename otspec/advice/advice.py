"""An advice: all choices, the best of them, and what each simpler one loses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otspec._base.frozen import Shown
from otspec.advice.evaluation.candidates import NO_DRAFT
from otspec.advice.evaluation.choices import Choice, Interval, Loss
from otspec.blocks import TokenVerification
from otspec.drafts import IID
from otspec.frames import Rows, Tabular
from otspec.rules import RecursiveRejection, compared_rules

if TYPE_CHECKING:
    import pyarrow as pa


ENOUGH = 10
"""Fewer texts are too few to choose by: their intervals are wider than choices differ."""
LOSSY = "a lossy shortcut"
"""A kind of choices that gains, if any."""
_INDEPENDENT = {rule.title for rule in compared_rules() if rule.independent}
"""Rules whose output is a function of the target and of noise, and of no draft."""


@dataclass(frozen=True)
class Advice(Tabular, Shown):
    """What to draft and how to verify it, by the tokens per second.

    Parameters
    ----------
    choices : Rows of Choice
        The fastest first; a list that is a table, too.
    simpler : Rows of Loss
        What the fastest of simpler kinds lose, and what a lossy one gains.
    held_out : float
        The speed-up of choices that were each made on other texts than they were measured on: what
        the best choice is worth, not flattered by having been chosen. NaN for one text.
    held_out_interval : tuple of float
        With 95% confidence; NaN if it is exact, or of one text only.
    texts : int
        How many independent texts it rests on; 0 if it is exact.
    source : str
        Where it is known from.
    """

    choices: Rows[Choice]
    simpler: Rows[Loss]
    held_out: float
    held_out_interval: Interval
    texts: int
    source: str

    @property
    def best(self) -> Choice:
        """The fastest of the lossless choices."""
        return next(one for one in self.choices if not one.lossy)

    @property
    def enough(self) -> bool:
        """Whether it is exact, or rests on at least ten texts."""
        return not 0 < self.texts < ENOUGH

    def to_arrow(self) -> pa.Table:
        """Return the table of all choices."""
        return self.choices.to_arrow()

    def pareto(self) -> Rows[Choice]:
        """Return the lossless choices than which none keeps more in no more time, by time."""
        found: list[Choice] = []
        lossless = [choice for choice in self.choices if not choice.lossy]
        for choice in sorted(lossless, key=lambda each: (each.seconds, -each.tokens)):
            if not found or choice.tokens > found[-1].tokens:
                found.append(choice)
        return Rows(found, Choice, self.source)


def simpler_kinds() -> Iterator[tuple[str, Callable[[Choice], bool]]]:
    """Yield in what choices may be simpler, or lossy, and which are."""
    yield "a branching", lambda one: "[" not in one.tree and bool(one.tree)
    yield "i.i.d. drafts", lambda one: one.drafts == IID.name
    yield "a tree by recursive rejection", lambda one: one.rule == RecursiveRejection.title
    yield "the same text whatever is drafted", lambda one: one.rule in _INDEPENDENT
    yield "one drafted text", lambda one: one.is_chain and bool(one.tree)
    yield "token verification", lambda one: one.rule == TokenVerification.title
    yield "no draft", lambda one: one.rule == NO_DRAFT
    yield LOSSY, lambda one: bool(one.lossy)
