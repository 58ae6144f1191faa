"""Block efficiency: tokens per call of the target, by simulation, and over trees of one budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from otspec.arguments import MOST_ITEMS, as_flag, as_integer, as_real, as_seed
from otspec.arithmetic import Number
from otspec.blocks.contract import BlockRule
from otspec.blocks.decoding import as_rule
from otspec.blocks.draft_selection import DraftSelection
from otspec.blocks.models import MOST_DEPTH
from otspec.blocks.trees import TokenRule, as_text
from otspec.distributions import as_k
from otspec.estimate import Estimate

MOST_SIMULATED = 10**9
"""Most blocks of one simulation."""


@dataclass(frozen=True)
class Configuration:
    """A tree of drafts and what it is worth.

    Parameters
    ----------
    branching : tuple of int
        Children of each node by depth.
    efficiency : float, Fraction or Estimate
        Expected tokens per call of the target, E[τ] + 1.
    """

    branching: tuple[int, ...]
    efficiency: Number

    @property
    def name(self) -> str:
        """The configuration as MCSD writes it, such as ``"4x2x1"``."""
        return as_text(self.branching)

    @property
    def nodes(self) -> int:
        """Drafted tokens of the whole tree, all of which the target scores."""
        return sum(prod(self.branching[: depth + 1]) for depth in range(len(self.branching)))


def simulate(rule: BlockRule, size: int, seed: int = 0, *, confidence: float = 0.999) -> Estimate:
    """Estimate the block efficiency of one block from independent blocks.

    Parameters
    ----------
    rule : BlockRule
    size : int
        How many blocks are drafted and verified, at least 2.
    seed : int
    confidence : float
        With which the interval covers the exact :meth:`BlockRule.efficiency`, at least.

    Returns
    -------
    Estimate
        E[τ] + 1 with an empirical Bernstein interval within [0, L + 1].

    Raises
    ------
    ValueError
        Fewer than two blocks.
    """
    if as_k(size, "size") < 2:
        raise ValueError("size is 1: an interval needs at least 2 blocks, better thousands")
    as_integer(size, "size", 2, MOST_SIMULATED, otherwise="simulate several times, with seeds")
    level = float(as_real(confidence, "confidence"))
    if not 0 < level < 1:
        raise ValueError(f"confidence is {confidence}: it must be above 0 and below 1")
    as_rule(rule)
    rng = np.random.default_rng(as_seed(seed))
    kept = [len(rule.sample(rng).accepted) for _ in range(size)]
    return Estimate.of_mean(np.array(kept, float), level, plus=1.0, most=rule.depth + 1)


def configurations(budget: int, length: int) -> Iterator[tuple[int, ...]]:
    """Return all branchings of a length with so many candidate sequences, in lexicographic order.

    Parameters
    ----------
    budget : int
        K = Π k_i, the leaves of the tree. Source: MCSD, sec. 4.3.
    length : int
        The depth of the trees.

    Raises
    ------
    ValueError
        Numbers that are not positive integers.

    Examples
    --------
    >>> list(configurations(4, 2))
    [(1, 4), (2, 2), (4, 1)]
    """
    length = as_integer(as_k(length, "length"), "length", 1, MOST_DEPTH)
    return _factored(as_integer(as_k(budget, "budget"), "budget", 1, MOST_ITEMS), length)


def _factored(budget: int, length: int) -> Iterator[tuple[int, ...]]:
    if length == 1:
        yield (budget,)
        return
    for width in range(1, budget + 1):
        if budget % width == 0:
            yield from ((width, *rest) for rest in _factored(budget // width, length - 1))


def sweep(
    draft: Any,
    target: Any,
    budget: int,
    length: int,
    rule: TokenRule,
    *,
    merge: bool = True,
    size: int | None = None,
    seed: int = 0,
) -> list[Configuration]:
    """Compare all trees of one length and one number of candidate sequences.

    Parameters
    ----------
    draft, target : callable
        Language models.
    budget : int
        Candidate sequences: the product of the branching.
    length : int
        Depth of the trees.
    rule : callable
        The rule for one token, as :class:`DraftSelection` takes it.
    merge : bool
        As for :class:`DraftSelection`.
    size : int, optional
        Simulate so many blocks for each tree; by default the efficiencies are exact.
    seed : int
        Of the simulation.

    Returns
    -------
    list of Configuration
        The best first; of equals the wider at the top.

    Raises
    ------
    ValueError
        As :class:`DraftSelection` and its :meth:`DraftSelection.expected`, or
        :func:`simulate`.

    Examples
    --------
    >>> from otspec.blocks import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> [(c.name, str(c.efficiency)) for c in sweep(draft, target, 2, 2, RecursiveRejection)]
    [('2x1', '165/64'), ('1x2', '77/32')]
    """
    as_flag(merge, "merge")
    length = as_integer(as_k(length, "length"), "length", 1, MOST_DEPTH)
    found = []
    start = DraftSelection(draft, target, (1,) * length, rule, merge)
    for branching in reversed(list(configurations(budget, length))):
        selection = start.with_branching(branching)
        worth = selection.efficiency() if size is None else simulate(selection, size, seed)
        found.append(Configuration(branching, worth))
    return sorted(found, key=lambda configuration: -configuration.efficiency)
