"""Trees with one number of candidate sequences, the best first (MCSD, sec. 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from otspec._base.arguments import MOST_ITEMS, as_flag, as_integer
from otspec.blocks.simulation import simulate
from otspec.blocks.trees.branching import as_text
from otspec.blocks.trees.shapes import as_shape
from otspec.blocks.trees.verifiers.draft_selection import DraftSelection
from otspec.blocks.trees.verifiers.token_rules import TokenRule
from otspec.distributions import as_k
from otspec.estimate import Exact, Known
from otspec.frames import EstimatedTokens, Rows
from otspec.models.base import MOST_DEPTH


@dataclass(frozen=True)
class Configuration:
    """A tree of drafts and what it is worth.

    Its branching says how many children each node has, by depth; its efficiency is E[τ] + 1, the
    expected tokens per call of the target: an ``Exact`` or an ``Estimate``.
    """

    branching: tuple[int, ...]
    efficiency: EstimatedTokens

    @property
    def name(self) -> str:
        """The configuration as MCSD writes it, such as ``"4x2x1"``."""
        return as_text(self.branching)

    @property
    def nodes(self) -> int:
        """Drafted tokens of the whole tree, all of which the target scores."""
        return sum(prod(self.branching[: depth + 1]) for depth in range(len(self.branching)))


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
) -> Rows[Configuration]:
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
    Rows of Configuration
        The best first; of equals the wider at the top.

    Raises
    ------
    ValueError
        As :class:`DraftSelection` and its :meth:`DraftSelection.expected`, or
        :func:`simulate`.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> from otspec.rules import RecursiveRejection
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> [(c.name, str(c.efficiency)) for c in sweep(draft, target, 2, 2, RecursiveRejection)]
    [('2x1', '165/64'), ('1x2', '77/32')]
    """
    as_flag(merge, "merge")
    length = as_integer(as_k(length, "length"), "length", 1, MOST_DEPTH)
    found = []
    start = DraftSelection(draft, target, as_shape((1,) * length), rule, merge)
    for branching in reversed(list(configurations(budget, length))):
        selection = start.with_tree(branching)
        worth: Known = (
            Exact(selection.efficiency()) if size is None else simulate(selection, size, seed)
        )
        found.append(Configuration(branching, worth))
    ordered = sorted(found, key=lambda configuration: -configuration.efficiency.value)
    return Rows(ordered, Configuration, "trees of one number of candidate sequences")
