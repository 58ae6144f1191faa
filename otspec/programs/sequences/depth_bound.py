"""Upper bounds of what drafted trees keep, depth by depth (Theory, 17)."""

from __future__ import annotations

import numpy as np

from otspec._base.arguments import as_callable, as_instance
from otspec._base.arithmetic import zeros
from otspec.distributions import check_alike
from otspec.models.base import LanguageModel
from otspec.programs.levels import Marks, added_up, text_masses
from otspec.programs.prices import PriceBound
from otspec.programs.sequences.corrections import as_corrects
from otspec.programs.sequences.drafted_nodes import DraftedNodes


def depth_cuts(drafted: DraftedNodes, target: LanguageModel) -> list[Marks]:
    """Return for each depth the texts of so many tokens that bound most what is kept of it.

    They are the cut of the texts of that depth as tokens of their own: what one may keep of these
    is at most P(a text of W is drafted) + M_b(the others).
    """
    found: list[Marks] = []
    wanted = text_masses(target, drafted.depth, "target")
    for length in range(1, drafted.depth + 1):
        alone = tuple(
            level if depth == length else zeros(len(level), like=level)
            for depth, level in enumerate(wanted)
        )
        found += [_of_length(marks, length, drafted.n) for marks in drafted.crossed(alone)[:1]]
    return found


def _of_length(marks: Marks, length: int, n: int) -> Marks:
    """Return the texts of a length that begin with marked texts: they are met as often."""
    beyond = np.zeros(1, dtype=bool)
    for level in marks[1 : length + 1]:
        beyond = np.repeat(beyond, n) | level
    return tuple(
        beyond if depth == length else np.zeros(len(level), dtype=bool)
        for depth, level in enumerate(marks)
    )


def depth_bound(
    drafted: DraftedNodes, target: LanguageModel, corrects: str = "block"
) -> PriceBound:
    """Return the bound of :func:`depth_cuts`: the price of a text counts its marked beginnings.

    Parameters
    ----------
    drafted : DraftedNodes
    target : callable
        Language model: prefix → distribution.
    corrects : {"block", "one"}

    Raises
    ------
    ValueError
        Another alphabet or arithmetic than the target's, or anything else than these.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> coin, biased = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> depth_bound(DraftedNodes(coin, (2, 1, 1)), biased).value
    Fraction(43, 16)
    """
    as_instance(drafted, "drafted", DraftedNodes, "a DraftedNodes")
    as_callable(target, "target", "a language model, a callable from a prefix")
    as_corrects(corrects)
    wanted = text_masses(target, drafted.depth, "target")
    check_alike("drafted", drafted.masses()[1], "target()", wanted[1])
    weights = [zeros(len(level), like=level) for level in wanted]
    for marks in depth_cuts(drafted, target):
        for level, marked in zip(weights, marks, strict=True):
            level[marked] += 1
    return PriceBound.of(drafted, target, corrects, added_up(tuple(weights), drafted.n))
