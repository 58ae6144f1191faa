"""The rules that a fault is looked for in, as programs over the parts of a verifier."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from otspec import rules
from otspec.blocks import BlockVerification, TokenVerification, TraversalVerify
from otspec.blocks.trees.verifiers.draft_selection import selected_by_depth
from otspec.chance import Chance
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.machine import Machine
from otspec.conformance.faults.setting import TEXT, MarkedText, Row
from otspec.rules.rejection.k_sequential_rho import accepted_each

Selection = tuple[int | None, int]  # the accepted child, if there is one, and the token
Select = Callable[[Machine, int], Selection]  # selects among the children of a node


def by_program(rule: type[rules.Rule]) -> Select:
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
    """The drafts after a node as a rule for one token takes them: each is drawn when looked at."""

    def __init__(self, machine: Machine, node: int) -> None:
        self.machine, self.nodes = machine, machine.children(node)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, place: Any) -> Any:
        """Return the token of a draft, or of several."""
        found, token = self.nodes[place], self.machine.token
        return list(map(token, found)) if isinstance(place, slice) else token(found)

    def __iter__(self) -> Iterator[int]:
        """Yield the drafts, each of which is tested before the next is drawn."""
        for node in self.nodes:
            self.machine.tested = node
            yield self.machine.token(node)


class _RuleAt:
    """What the program of a rule for one token reads of itself at a node: parts of a verifier."""

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
        return float(rules.KSequential(draft, target, k, normalize=True).rho)
    except ValueError:
        return 1.0


@dataclass(frozen=True)
class RightRule:
    """A rule that verifies drafts of a kind without loss."""

    name: str
    kind: str  # what it takes, by the name of the kind
    run: Callable[[Machine], MarkedText]  # takes a Machine, and returns what it says
    law: str | None  # what siblings have to be drawn from; None where there are none

    def takes(self, kind: Kind) -> bool:
        """Return whether the rule verifies drafts of a kind."""
        if self.kind != kind.name:
            return False
        most = kind.widest
        return (
            most == 1
            if self.law is None
            else self.law == kind.law and (most > 1 or kind.name == "tree")
        )


def by_kernel(rule: type[rules.PairRule]) -> Select:
    """Return the selection of a rule that is known by its kernel, child after child."""

    def select(machine: Machine, node: int) -> Selection:
        target, draft = machine.target(node), machine.draft(node)
        children = machine.children(node)
        drafts = tuple(machine.token(child) for child in children)
        masses, rest = _kernel(rule, tuple(draft), tuple(target), drafts)
        left = 1.0
        for child, token, mass in zip(children, drafts, masses, strict=True):
            if machine.passes(min(1.0, machine.selected(mass, left)), child):
                return child, token
            left = max(left - mass, 0.0)
        return None, machine.correction(node, rest)

    return select


@lru_cache(maxsize=65536)
def _kernel(
    rule: type[rules.PairRule],
    draft: tuple[float, ...],
    target: tuple[float, ...],
    drafts: tuple[int, ...],
) -> tuple[list[float], list[float]]:
    """Return how likely each draft is accepted, and the weights of the draw if none is."""
    # Drafts that the draft cannot have drawn are rejected, and the target is drawn from.
    try:
        kernel = _made(rule, draft, target, len(drafts)).joint_kernel(drafts)
    except ValueError:
        return [0.0] * len(drafts), list(target)
    return kernel[:-1].sum(axis=1).tolist(), kernel[-1].tolist()


@lru_cache(maxsize=4096)
def _made(
    rule: type[rules.PairRule], draft: tuple[float, ...], target: tuple[float, ...], k: int
) -> rules.PairRule:
    return rule(np.array(draft), np.array(target), k, normalize=True)


def selection(select: Select) -> Callable[[Machine], MarkedText]:
    """Return the rule that verifies drafts of one token."""

    def run(machine: Machine) -> MarkedText:
        child, token = select(machine, TEXT)
        return machine.answer(TEXT if child is None else child, token)

    return run


def by_depth(select: Select) -> Callable[[Machine], MarkedText]:
    """Return the rule that goes down a tree, and on from a child that happens to be drawn."""

    def run(machine: Machine) -> MarkedText:
        def selected(node: int, tokens: Sequence[int]) -> Any:
            _, token = select(machine, node)
            return tokens.index(token) if token in tokens else (token,)

        found: Any = selected_by_depth(selected, machine)
        if isinstance(found, tuple):
            node, (token,) = found
            return machine.answer(node, token)
        return machine.marked(found)

    return run


def whole(rule: type[Any]) -> Callable[[Machine], MarkedText]:
    """Return the rule that a program for blocks or trees is."""
    return lambda machine: machine.marked(rule.verify(machine, machine, machine))


_IN_TURN, _WITHOUT = by_program(rules.RecursiveRejection), "without-replacement"
_SELECTIONS: dict[str, tuple[Select, str | None]] = {
    "maximal coupling": (_IN_TURN, None),
    "recursive rejection": (_IN_TURN, "iid"),
    "recursive rejection without replacement": (_IN_TURN, _WITHOUT),
    "k-sequential": (by_program(rules.KSequential), "iid"),
    "pooled selection": (by_kernel(rules.PooledSelection), "iid"),
    "pooled selection without replacement": (
        by_kernel(rules.PooledSelectionWithoutReplacement),
        _WITHOUT,
    ),
    "SpecHub": (by_kernel(rules.SpecHub), "hub"),
}
"""Rules for one token by name: how they select, and what siblings have to be drawn from."""


RIGHT_RULES = (  # in the order of tables
    *(
        RightRule(name, "tokens", selection(select), law)
        for name, (select, law) in _SELECTIONS.items()
    ),
    RightRule("token verification", "block", whole(TokenVerification), None),
    RightRule("block verification", "block", whole(BlockVerification), None),
    *(
        RightRule(f"{name} by depth", "tree", by_depth(select), law)
        for name, (select, law) in _SELECTIONS.items()
        if law in ("iid", _WITHOUT)
    ),
    RightRule("traversal verification", "tree", whole(TraversalVerify), "iid"),
    RightRule(
        "traversal verification without replacement", "tree", whole(TraversalVerify), _WITHOUT
    ),
)


def rules_of(kind: Kind) -> list[RightRule]:
    """Return the rules that verify drafts of a kind."""
    return [rule for rule in RIGHT_RULES if rule.takes(kind)]
