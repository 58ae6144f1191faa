"""An advice for programs, and what it says in sentences."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from otspec.advice.advice import ENOUGH, LOSSY, Advice
from otspec.advice.evaluation.candidates import NO_DRAFT
from otspec.advice.evaluation.choices import Choice, Interval
from otspec.blocks.trees.shapes import Shape, as_shape
from otspec.estimate import CONFIDENCE
from otspec.reports.summary_file import interval_document


def document_of(advice: Advice) -> dict[str, Any]:
    """Return an advice, which JSON can hold but for fractions."""
    return {
        "source": advice.source,
        "texts": advice.texts,
        "enough_texts": advice.enough,
        "confidence": CONFIDENCE,
        "held_out": _number(advice.held_out),
        "held_out_interval": interval_document(advice.held_out_interval),
        "choices": [_row(one) | {"speed": one.speed} for one in advice.choices],
        "simpler": [_row(one) for one in advice.simpler],
    }


def _row(row: Any) -> dict[str, Any]:
    return {
        name: interval_document(value) if isinstance(value, tuple) else value
        for name, value in vars(row).items()
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


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
            "Cross-validated, as the choice was made on other texts: "
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
    return f"{choice.rule} of the tree {choice.tree}"


def _sure(ends: Interval) -> str:
    low, high = ends
    return "" if math.isnan(low) else f" (95% interval {low:.3f} to {high:.3f})"


def interval_words(ends: Interval, digits: int = 3) -> str:
    """Return an interval for a table; nothing where there is none."""
    low, high = ends
    return "" if math.isnan(low) else f"{low:z.{digits}f} to {high:z.{digits}f}"


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


_LONGEST = 36
"""Most signs of a tree in a table."""


def short(tree: str) -> str:
    """Return a tree for a table: as it is written, or of a large one the nodes by level."""
    if len(tree) <= _LONGEST:
        return tree
    return "+".join(map(str, as_shape(tree).level_sizes))
