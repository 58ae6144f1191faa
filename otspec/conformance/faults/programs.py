"""The programs of rules for one token, run with the parts of a verifier in place of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from otspec.chance import Chance
from otspec.conformance.faults.machine import Machine, Row
from otspec.rules import KSequential, Rule
from otspec.rules.rejection.k_sequential_rho import accepted_each

Selection = tuple[int | None, int]
"""The accepted child, if there is one, and the token."""
Select = Callable[[Machine, int], Selection]
"""Selects among the children of a node."""


def by_program(rule: type[Rule]) -> Select:
    """Return the selection among the children of a node by a rule's own program."""
    verify: Callable[[Any, Sequence[int], Chance], Any] = rule.verify

    def select(machine: Machine, node: int) -> Selection:
        children = _Children(machine, node)
        found = verify(_RuleAt(machine, node, len(children)), children, machine)
        if isinstance(found, int):
            child = children.nodes[found]
            return child, machine.token(child)
        return None, machine.correction(node, found)

    return select


class _Children(Sequence[int]):
    """The drafts after a node as a rule for one token takes them: each is drawn when looked at.

    Parameters
    ----------
    machine : Machine
    node : int
    """

    def __init__(self, machine: Machine, node: int) -> None:
        self.machine, self.nodes = machine, machine.children(node)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, place: Any) -> Any:
        """Return the token of a draft, or of several."""
        one = self.machine.token
        return (
            list(map(one, self.nodes[place]))
            if isinstance(place, slice)
            else one(self.nodes[place])
        )

    def __iter__(self) -> Iterator[int]:
        """Yield the drafts, each of which is tested before the next is drawn."""
        for node in self.nodes:
            self.machine.tested = node
            yield self.machine.token(node)


class _RuleAt:
    """What the program of a rule for one token reads of itself at a node: parts of a verifier.

    Parameters
    ----------
    machine : Machine
    node : int
    k : int
        How many drafts there are.
    """

    def __init__(self, machine: Machine, node: int, k: int) -> None:
        self.machine, self.node, self.k = machine, node, k
        self.target, self.draft = machine.target(node), machine.draft(node)

    def offered(self, earlier: Sequence[int]) -> Row:
        """Return what is left of the draft after earlier siblings."""
        return reduce(self.machine.left, earlier, self.draft)

    def residual(self, wanted: Row, offered: Row) -> Row:
        """Return what is still wanted after a rejection."""
        return self.machine.residual(self.node, wanted, offered)

    @cached_property
    def rho(self) -> float:
        """By how much K-Seq inflates the draft."""
        return _rho(tuple(self.draft), tuple(self.target), self.k)

    @property
    def correction(self) -> Row:
        """What K-Seq draws from after all rejections."""
        kept = accepted_each(np.array(self.draft), np.array(self.target), self.rho).tolist()
        rounds = sum((1 - sum(kept)) ** i for i in range(self.k))
        return self.residual(self.target, [rounds * mass for mass in kept])


@lru_cache(maxsize=4096)
def _rho(draft: tuple[float, ...], target: tuple[float, ...], k: int) -> float:
    try:
        return float(KSequential(draft, target, k, normalize=True).rho)
    except ValueError:
        return 1.0
