"""The rules that a fault is looked for in, as programs over the parts of a verifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from otspec.arithmetic import Array
from otspec.conformance.faults.machine import TEXT, Machine, Row, Told
from otspec.conformance.kinds import Kind
from otspec.rules import KSequential, PairRule, PooledSelection, PooledSelectionWithoutReplacement

Selection = tuple[int | None, int]
"""The accepted child, if there is one, and the token."""


@dataclass(frozen=True)
class RightRule:
    """A rule that verifies drafts of a kind without loss.

    Parameters
    ----------
    name : str
    kind : str
        What it takes, by the name of the kind.
    run : callable
        Takes a :class:`~otspec.conformance.faults.machine.Machine`, and returns what it says.
    distinct : bool or None
        Whether siblings have to be distinct; None if that is the same to it.
    batch : str
        Its function in :mod:`otspec.batch`.
    only_one : bool
        Whether it takes one draft of a token only.
    """

    name: str
    kind: str
    run: Callable[[Machine], Told]
    distinct: bool | None
    batch: str
    only_one: bool = False

    def takes(self, kind: Kind) -> bool:
        """Return whether the rule verifies drafts of a kind."""
        return (
            self.kind == kind.name
            and self.distinct in (None, kind.distinct)
            and (not self.only_one or len(kind.parents) == 1)
        )


Select = Callable[[Machine, int], Selection]


def in_turn(machine: Machine, node: int) -> Selection:
    """Recursive rejection among the children of a node."""
    wanted, offered = machine.target(node), machine.draft(node)
    for child in machine.children(node):
        token = machine.token(child)
        if machine.passes(min(1.0, machine.odds(wanted[token], offered[token])), child):
            return child, token
        wanted = machine.residual(node, wanted, offered)
        offered = machine.left(offered, token)
    return None, machine.correction(node, wanted)


def inflated(machine: Machine, node: int) -> Selection:
    """K-Seq among the children of a node."""
    target, draft = machine.target(node), machine.draft(node)
    children = machine.children(node)
    rho = _rho(tuple(draft), tuple(target), len(children))
    for child in children:
        token = machine.token(child)
        if machine.passes(min(1.0, machine.odds(target[token], rho * draft[token])), child):
            return child, token
    served = [min(p, q / rho) for p, q in zip(draft, target, strict=True)]
    reject = 1 - sum(served)
    rounds = sum(reject**i for i in range(len(children)))
    return None, machine.correction(
        node, machine.residual(node, target, [rounds * mass for mass in served])
    )


def pooled(machine: Machine, node: int) -> Selection:
    """Pooled selection among the children of a node, child after child."""
    target, draft = machine.target(node), machine.draft(node)
    children = machine.children(node)
    drafts = tuple(machine.token(child) for child in children)
    rule = PooledSelectionWithoutReplacement if machine.kind.distinct else PooledSelection
    kernel = _kernel(rule, tuple(draft), tuple(target), drafts)
    left = 1.0
    for place, child in enumerate(children):
        mass = float(kernel[place].sum())
        if machine.passes(min(1.0, mass / left) if left > 0 else 0.0, child):
            return child, drafts[place]
        left = max(left - mass, 0.0)
    return None, machine.correction(node, kernel[-1].tolist())


@lru_cache(maxsize=4096)
def _rho(draft: tuple[float, ...], target: tuple[float, ...], k: int) -> float:
    try:
        return float(KSequential(draft, target, k, normalize=True).rho)
    except ValueError:
        return 1.0


@lru_cache(maxsize=65536)
def _kernel(
    rule: type[PairRule],
    draft: tuple[float, ...],
    target: tuple[float, ...],
    drafts: tuple[int, ...],
) -> Array:
    """Return the kernel's row for drafts; where the draft cannot have drawn them, the target."""
    try:
        kernel: Array = _made(rule, draft, target, len(drafts)).joint_kernel(drafts)
    except ValueError:
        kernel = np.concatenate([np.zeros((len(drafts), len(target))), [target]])
    return kernel


@lru_cache(maxsize=4096)
def _made(
    rule: type[PairRule], draft: tuple[float, ...], target: tuple[float, ...], k: int
) -> PairRule:
    return rule(draft, target, k, normalize=True)


def selection(select: Select) -> Callable[[Machine], Told]:
    """Return the rule that verifies drafts of one token."""

    def run(machine: Machine) -> Told:
        child, token = select(machine, TEXT)
        return machine.answer(TEXT if child is None else child, token)

    return run


def by_depth(select: Select) -> Callable[[Machine], Told]:
    """Return the rule that goes down a tree."""

    def run(machine: Machine) -> Told:
        node = TEXT
        while children := machine.children(node):
            _, token = select(machine, node)
            same = [child for child in children if machine.token(child) == token]
            if not same:
                return machine.answer(node, token)
            node = same[0]
        return machine.answer(node, machine.bonus(node))

    return run


def down_a_chain(machine: Machine) -> Told:
    """Token verification of a block: maximal coupling, place by place."""
    node = TEXT
    while machine.children(node):
        child, token = in_turn(machine, node)
        if child is None:
            return machine.answer(node, token)
        node = child
    return machine.answer(node, machine.bonus(node))


def whole_block(machine: Machine) -> Told:
    """Block verification as published, from the last draft back."""
    weights, product = [1.0], 1.0
    for node in range(machine.size):
        token = machine.token(node)
        wanted, offered = machine.target(node - 1)[token], machine.draft(node - 1)[token]
        weights.append(machine.weight(weights[-1], wanted, offered))
        product = product * machine.odds(wanted, offered) if product > 0 else 0.0
    last = machine.size - 1
    if last == TEXT or machine.passes(min(1.0, machine.last_weight(weights[-1], product)), last):
        return machine.answer(last, machine.bonus(last))
    for node in range(last - 1, TEXT - 1, -1):
        wanted_row = machine.scaled(weights[node + 1], machine.target(node))
        draft = machine.draft(node)
        rest = sum(max(q - p, 0.0) for q, p in zip(wanted_row, draft, strict=True))
        if node == TEXT or machine.passes(machine.step(rest, weights[node + 1]), node):
            break
    return machine.answer(node, machine.correction(node, machine.residual(node, wanted_row, draft)))


def leaf_to_root(machine: Machine) -> Told:
    """Traversal verification: leaves are kept or deleted, depth first."""
    wanted: dict[int, Row] = {TEXT: machine.target(TEXT)}
    offered: dict[int, Row] = {TEXT: machine.draft(TEXT)}
    below: dict[int, list[int]] = {TEXT: machine.children(TEXT)}
    weights = {TEXT: 1.0}
    while True:
        node = TEXT
        while below[node]:
            parent, node = node, below[node][0]
            if node not in weights:
                token = machine.token(node)
                weights[node] = machine.weight(
                    weights[parent], wanted[parent][token], offered[parent][token]
                )
                wanted[node], offered[node] = machine.target(node), machine.draft(node)
                below[node] = machine.children(node)
        if node == TEXT or machine.passes(weights[node], node):
            whole = not machine.children(node)
            token = machine.bonus(node) if whole else machine.correction(node, wanted[node])
            return machine.answer(node, token)
        parent = machine.kind.parents[node]
        below[parent].pop(0)
        row = machine.scaled(weights[parent], wanted[parent])
        rest = sum(max(q - p, 0.0) for q, p in zip(row, offered[parent], strict=True))
        weights[parent] = machine.step(rest, weights[parent])
        wanted[parent] = machine.residual(parent, row, offered[parent])
        offered[parent] = machine.left(offered[parent], machine.token(node))


RULES = (
    RightRule("maximal coupling", "tokens", selection(in_turn), None, "maximal_coupling", True),
    RightRule("recursive rejection", "tokens", selection(in_turn), False, "recursive_rejection"),
    RightRule(
        "recursive rejection without replacement",
        "tokens",
        selection(in_turn),
        True,
        "recursive_rejection_without_replacement",
    ),
    RightRule("k-sequential", "tokens", selection(inflated), False, "k_sequential"),
    RightRule("pooled selection", "tokens", selection(pooled), False, "pooled_selection"),
    RightRule(
        "pooled selection without replacement",
        "tokens",
        selection(pooled),
        True,
        "pooled_selection_without_replacement",
    ),
    RightRule("token verification", "block", down_a_chain, None, "token_verification"),
    RightRule("block verification", "block", whole_block, None, "block_verification"),
    RightRule(
        "recursive rejection by depth", "tree", by_depth(in_turn), False, "tree_verification"
    ),
    RightRule(
        "recursive rejection without replacement by depth",
        "tree",
        by_depth(in_turn),
        True,
        "tree_verification",
    ),
    RightRule("k-sequential by depth", "tree", by_depth(inflated), False, "tree_verification"),
    RightRule("pooled selection by depth", "tree", by_depth(pooled), False, "tree_verification"),
    RightRule(
        "pooled selection without replacement by depth",
        "tree",
        by_depth(pooled),
        True,
        "tree_verification",
    ),
    RightRule("traversal verification", "tree", leaf_to_root, False, "traversal_verification"),
    RightRule(
        "traversal verification without replacement",
        "tree",
        leaf_to_root,
        True,
        "traversal_verification",
    ),
)
"""In the order of tables."""


def rules_of(kind: Kind) -> list[RightRule]:
    """Return the rules that verify drafts of a kind."""
    return [rule for rule in RULES if rule.takes(kind)]
