"""What is compared: rules on trees, chains of single drafts, and no draft at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from otspec._base.arithmetic import Number
from otspec.advice.evaluation.lossy_chain import LossyChain
from otspec.blocks import (
    BestTrees,
    BlockVerification,
    SingleDraftRule,
    StepCost,
    TokenVerification,
    fastest_tree,
)
from otspec.blocks.trees.shapes import LEAF, Shape, as_shape
from otspec.drafts import IID, WithoutReplacement
from otspec.rules import PairRule

CheckedRule: TypeAlias = type[PairRule] | LossyChain
"""A rule of trees, or what a lossy one accepts of chains at best."""
NO_DRAFT = "no draft"
CHAIN_RULES: tuple[type[SingleDraftRule], ...] = (TokenVerification, BlockVerification)
"""Rules for single drafts after which the next block is as good as the first: they correct one
token only."""


class Candidate(NamedTuple):
    """A rule and the tree that it verifies."""

    rule: str
    """Its name in :data:`otspec.blocks.TREE_RULES` or in :data:`CHAIN_RULES`, or ``"no draft"``."""
    title: str
    drafts: str
    """The law of the children of a node, by name; empty without any."""
    tree: Shape
    lossy: Number = 0
    """By how much the law of each token may be off, in total variation."""


def candidates(
    rules: Sequence[CheckedRule],
    found: Mapping[str, BestTrees],
    nodes: int,
    depth: int,
    cost: StepCost,
    trees: Sequence[Shape] = (),
) -> list[Candidate]:
    """Return what is compared, each once.

    Of each rule the tree that keeps most of 1, 2, 4, … nodes, and the fastest tree, branching and
    chain, all by the chances that are given, and the trees that are named; chains of all lengths
    by the rules for single drafts; and no draft. Single i.i.d. or distinct drafts are the same for
    all rules for one token that couple them maximally: token verification.
    """
    listed = [Candidate(NO_DRAFT, NO_DRAFT, "", LEAF)]
    listed += _chains(min(nodes, depth))
    for rule in rules:
        law = rule.law_class.name if rule.law_class is not None else ""
        served = [tree for tree in trees if tree.widths <= set(found[rule.name].chances.widths)]
        off = rule.total_variation if isinstance(rule, LossyChain) else 0
        listed += [
            Candidate(rule.name, rule.title, law, tree, off)
            for tree in (*_trees(found[rule.name], nodes, depth, cost), *served)
            if tree.size and (off or not (_like_others(rule) and tree.size == tree.depth))
        ]
    return list(dict.fromkeys(listed))


def _like_others(rule: CheckedRule) -> bool:
    """Whether a rule for one token verifies single drafts as the others do."""
    alike = rule.law_class in (IID, WithoutReplacement)
    return alike and (isinstance(rule, LossyChain) or rule.best_for_one)


def _chains(longest: int) -> Iterator[Candidate]:
    for rule in CHAIN_RULES:
        for length in range(1, longest + 1):
            yield Candidate(rule.name, rule.title, IID.name, as_shape((1,) * length))


def _trees(trees: BestTrees, nodes: int, depth: int, cost: StepCost) -> Iterator[Shape]:
    for size in sizes(nodes):
        yield trees.at(size, depth).tree
    fastest = fastest_tree(trees, cost)
    yield fastest.tree
    for simpler in fastest.simpler.values():
        yield simpler.tree


def sizes(nodes: int) -> Sequence[int]:
    """Return 1, 2, 4, … up to a number of nodes, and that number."""
    return sorted({2**power for power in range(nodes.bit_length()) if 2**power <= nodes} | {nodes})
