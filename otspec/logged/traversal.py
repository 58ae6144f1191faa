"""What Traversal Verification keeps of a tree, from one logged text (Theory, 24)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from otspec._base import Array, Number
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.traversal_verify import Rejections, equal_later, rejections
from otspec.coupling import acceptance_chance

Visits = dict[tuple[Number, Shape], Any]
"""(weight, what is drafted after it) → how likely a node is visited, over that it is drafted."""


def traversal_kept(
    steps: Iterable[tuple[int, Array, Array, Array]], tree: Shape, one: Number, merge: bool
) -> Number:
    """Return an estimate of E[τ] that is unbiased over logged texts as long as the tree is deep."""
    # The logged token stands for each of the i.i.d. children of a node in turn: with which weight
    # it is visited, and how likely, follows from the rows of the two models alone.
    kept: Any = one * 0
    visits: Visits = {(one, tree): one}
    for token, draft, target, sampled in steps:
        after: Visits = {}
        for (weight, shape), mass in visits.items():
            *rounds, last = rejections(draft, target, weight, len(shape.children))
            kept += mass * (1 - last.reached)
            drawn = mass * draft[token] / sampled[token]  # 0 if it is no child
            for visit, likely in _visits(rounds, shape, token, draft[token], merge):
                after[visit] = after.get(visit, 0) + drawn * likely
        visits = after
    return kept


def _visits(
    rounds: Sequence[Rejections], shape: Shape, token: int, drafted: Any, merge: bool
) -> Iterator[tuple[tuple[Number, Shape], Any]]:
    """Yield how the logged token is visited after a node, where something is drafted after it."""
    for place, left in enumerate(rounds):
        weight = acceptance_chance(left.residual[token], left.reached * drafted)
        if weight == 0:  # it was rejected: so it is from now on
            return
        for places, likely in equal_later(place, shape, drafted, merge):
            below = shape.after(places)
            if below.children:
                yield (weight, below), left.reached * likely
