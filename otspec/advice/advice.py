"""An advice: all choices, the best, what simpler ones lose; as a document and in sentences."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from otspec._base import ArrowTable, Shown
from otspec.advice.evaluation.choices import NO_DRAFT, Choice, Interval, Loss
from otspec.blocks import Shape, TokenVerification, as_shape
from otspec.drafts import IID
from otspec.estimate import CONFIDENCE
from otspec.frames import Rows, Tabular
from otspec.reports.findings import interval_document
from otspec.rules import RecursiveRejection, compared_rules

ENOUGH = 10  # fewer texts are too few to choose by: their intervals are wider than choices differ
LOSSY = "a lossy shortcut"  # a kind of choices that gains, if any
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
    held_out, held_out_interval : float, (float, float)
        The speed-up of choices that were each made on other texts than they were measured on: what
        the best choice is worth, not flattered by having been chosen. With 95% confidence; NaN for
        one text, and the interval if it is exact.
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

    def to_arrow(self) -> ArrowTable:
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
    yield "a chain", lambda one: one.is_chain and bool(one.tree)
    yield "token verification", lambda one: one.rule == TokenVerification.title
    yield "no draft", lambda one: one.rule == NO_DRAFT
    yield LOSSY, lambda one: bool(one.lossy)


def document_of(advice: Advice) -> dict[str, Any]:
    """Return an advice, which JSON can hold but for fractions."""
    return {
        "source": advice.source,
        "texts": advice.texts,
        "enough_texts": advice.enough,
        "confidence": CONFIDENCE,
        "held_out": None if math.isnan(advice.held_out) else advice.held_out,
        "held_out_interval": interval_document(advice.held_out_interval),
        "choices": [_row(one) | {"speed": one.speed} for one in advice.choices],
        "simpler": [_row(one) for one in advice.simpler],
    }


def _row(row: Any) -> dict[str, Any]:
    return {
        name: interval_document(value) if isinstance(value, tuple) else value
        for name, value in vars(row).items()
    }


def sentences(advice: Advice) -> Iterator[str]:
    """Yield what an advice says in words."""
    best = advice.best
    if best.rule == NO_DRAFT:
        yield "At these costs no draft pays."
        return
    yield (
        f"The fastest is {words_for(best)}: {float(best.tokens):.4f} tokens per call, "
        f"{best.speed_up:.3f} times as fast as without drafts{_sure(best.speed_up_interval)}."
    )
    if not math.isnan(advice.held_out_interval[0]):
        yield (
            "Cross-validated, with the choice made on other texts: "
            f"{advice.held_out:.3f} times{_sure(advice.held_out_interval)}."
        )
        yield "Intervals are 95% confidence intervals for the mean over texts."
    elif advice.texts == 1:
        yield "One text gives no interval."
    for gain in advice.simpler:
        if gain.kind == LOSSY:
            yield (
                f"Output that is off ({gain.rule}) is {gain.speed_up / best.speed_up:.3f} times as "
                f"fast as that at best, on the chain {gain.tree}."
            )


def words_for(choice: Choice) -> str:
    """Return a choice in words."""
    if choice.rule == NO_DRAFT:
        return NO_DRAFT
    return f"{choice.rule} with the tree {choice.tree}"


def _sure(ends: Interval) -> str:
    low, high = ends
    return "" if math.isnan(low) else f" (95% interval {low:.3f} to {high:.3f})"


def percent_words(ends: Interval) -> str:
    """Return an interval of shares for a table, in per cent; nothing where there is none."""
    low, high = ends
    return "" if math.isnan(low) else f"{100 * low:z.1f}% to {100 * high:z.1f}%"


def too_few(advice: Advice) -> Iterator[str]:
    """Yield a warning if an advice rests on too few texts to choose by."""
    if 0 < advice.texts < ENOUGH:
        texts = "1 text is" if advice.texts == 1 else f"{advice.texts} texts are"
        yield f"{texts} too few to choose by: log at least {ENOUGH}, better a hundred."


def shown_choices(advice: Advice, most: int, own: Sequence[Shape] = ()) -> list[Choice]:
    """Return the choices that a table shows: the fastest, the best of every rule, and own trees."""
    best = {one.rule: one for one in reversed(advice.choices)}
    named = {tree.text for tree in own}
    return [
        one for place, one in enumerate(advice.choices)
        if place < most or one is best[one.rule] or one.tree in named
    ]  # fmt: skip


_LONGEST = 36  # most signs of a tree in a table


def short(tree: str) -> str:
    """Return a tree for a table: as it is written, or of a large one the nodes by level."""
    if len(tree) <= _LONGEST:
        return tree
    return "+".join(map(str, as_shape(tree).level_sizes))
