"""The rules that a fault is looked for in, as programs over the parts of a verifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from otspec._base.parents import children_of
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.faults.machine import TEXT, Machine, Row, Told
from otspec.conformance.faults.programs import Select, Selection, by_program
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    SpecHub,
)


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
    law : str or None
        What siblings have to be drawn from; None where there are none.
    batch : str
        Its function in :mod:`otspec.batch`.
    """

    name: str
    kind: str
    run: Callable[[Machine], Told]
    law: str | None
    batch: str

    def takes(self, kind: Kind) -> bool:
        """Return whether the rule verifies drafts of a kind."""
        if self.kind != kind.name:
            return False
        most = max(map(len, children_of(kind.parents)))
        return (
            most == 1
            if self.law is None
            else self.law == kind.law and (most > 1 or kind.name == "tree")
        )


def by_kernel(rule: type[PairRule]) -> Select:
    """Return the selection of a rule that is known by its kernel, child after child."""

    def select(machine: Machine, node: int) -> Selection:
        target, draft = machine.target(node), machine.draft(node)
        children = machine.children(node)
        drafts = tuple(machine.token(child) for child in children)
        masses, rest = _kernel(rule, tuple(draft), tuple(target), drafts)
        left = 1.0
        for child, token, mass in zip(children, drafts, masses, strict=True):
            if machine.passes(min(1.0, mass / left) if left > 0 else 0.0, child):
                return child, token
            left = max(left - mass, 0.0)
        return None, machine.correction(node, rest)

    return select


@lru_cache(maxsize=65536)
def _kernel(
    rule: type[PairRule],
    draft: tuple[float, ...],
    target: tuple[float, ...],
    drafts: tuple[int, ...],
) -> tuple[list[float], list[float]]:
    """Return how likely each draft is accepted, and the weights of the draw if none is.

    Where the draft cannot have drawn them, nothing is accepted and the target is drawn.
    """
    try:
        kernel = _made(rule, draft, target, len(drafts)).joint_kernel(drafts)
    except ValueError:
        return [0.0] * len(drafts), list(target)
    return kernel[:-1].sum(axis=1).tolist(), kernel[-1].tolist()


@lru_cache(maxsize=4096)
def _made(
    rule: type[PairRule], draft: tuple[float, ...], target: tuple[float, ...], k: int
) -> PairRule:
    return rule(np.array(draft), np.array(target), k, normalize=True)


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
        child, token = _IN_TURN(machine, node)
        if child is None:
            return machine.answer(node, token)
        node = child
    return machine.answer(node, machine.bonus(node))


def whole_block(machine: Machine) -> Told:
    """Block verification as published, from the last draft back."""
    weights, product, size = [1.0], 1.0, sum(machine.there)
    for node in range(size):
        token = machine.token(node)
        wanted, offered = machine.target(node - 1)[token], machine.draft(node - 1)[token]
        weights.append(machine.weight(weights[-1], wanted, offered))
        product = product * machine.odds(wanted, offered) if product > 0 else 0.0
    last = size - 1
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


_IN_TURN, _K_SEQ = by_program(RecursiveRejection), by_program(KSequential)
_POOLED = by_kernel(PooledSelection)
_POOLED_DISTINCT = by_kernel(PooledSelectionWithoutReplacement)
_DISTINCT = "without-replacement"
_TREE = "tree_verification"

RIGHT_RULES = tuple(
    RightRule(*facts)
    for facts in (
        ("maximal coupling", "tokens", selection(_IN_TURN), None, "maximal_coupling"),
        ("recursive rejection", "tokens", selection(_IN_TURN), "iid", "recursive_rejection"),
        (
            "recursive rejection without replacement",
            "tokens",
            selection(_IN_TURN),
            _DISTINCT,
            "recursive_rejection_without_replacement",
        ),
        ("k-sequential", "tokens", selection(_K_SEQ), "iid", "k_sequential"),
        ("pooled selection", "tokens", selection(_POOLED), "iid", "pooled_selection"),
        (
            "pooled selection without replacement",
            "tokens",
            selection(_POOLED_DISTINCT),
            _DISTINCT,
            "pooled_selection_without_replacement",
        ),
        ("SpecHub", "tokens", selection(by_kernel(SpecHub)), "hub", "spechub"),
        ("token verification", "block", down_a_chain, None, "token_verification"),
        ("block verification", "block", whole_block, None, "block_verification"),
        ("recursive rejection by depth", "tree", by_depth(_IN_TURN), "iid", _TREE),
        (
            "recursive rejection without replacement by depth",
            "tree",
            by_depth(_IN_TURN),
            _DISTINCT,
            _TREE,
        ),
        ("k-sequential by depth", "tree", by_depth(_K_SEQ), "iid", _TREE),
        ("pooled selection by depth", "tree", by_depth(_POOLED), "iid", _TREE),
        (
            "pooled selection without replacement by depth",
            "tree",
            by_depth(_POOLED_DISTINCT),
            _DISTINCT,
            _TREE,
        ),
        ("traversal verification", "tree", leaf_to_root, "iid", "traversal_verification"),
        (
            "traversal verification without replacement",
            "tree",
            leaf_to_root,
            _DISTINCT,
            "traversal_verification",
        ),
    )
)
"""In the order of tables."""


def rules_of(kind: Kind) -> list[RightRule]:
    """Return the rules that verify drafts of a kind."""
    return [rule for rule in RIGHT_RULES if rule.takes(kind)]
