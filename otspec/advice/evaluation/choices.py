"""What is compared (Theory, 29): of each choice its gain and cost, and the evidence for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from otspec import blocks
from otspec._base import Array, Frozen, Number, as_number, as_real, is_exact
from otspec.blocks import BestTrees, best_trees
from otspec.blocks.trees.shapes import LEAF, Shape, as_shape
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts import IID, SingleDraftLaw, WithoutReplacement
from otspec.frames import Probability, Tokens
from otspec.models import Model
from otspec.rules import MaximalCoupling, PairRule


@dataclass(frozen=True)
class LossyChain(Frozen):
    """The most that a lossy rule accepts of single drafts, at every token within a budget ε."""

    # The draft is coupled with (1 − t) q + t p, t = min(1, ε/TV(p, q)), off by ε or less.

    name: ClassVar[str] = "lossy"
    law_class: ClassVar[type[SingleDraftLaw]] = IID
    only_k: ClassVar[int] = 1
    nested: ClassVar[bool] = False

    total_variation: Number  # ε, from 0 to 1, for each token after the text before it

    def __post_init__(self) -> None:
        self._hold(total_variation=as_real(self.total_variation, "total_variation", 0, 1))

    @property
    def title(self) -> str:
        """What tables and charts call it."""
        return f"lossy, {float(self.total_variation):g} a token"

    def __call__(self, draft: Distribution, target: Distribution, k: int) -> MaximalCoupling:  # noqa: ARG002
        """Return the rule for one draft: lossless for an output that is off by the budget."""
        exact = is_exact(target)
        if exact and isinstance(self.total_variation, float):
            raise ValueError(
                f"total_variation is {self.total_variation}, a float, but the models are exact: "
                "write a fraction such as '1/20'"
            )
        budget: Any = self.total_variation if exact else float(self.total_variation)
        missing = 1 - Coupling(draft, target).acceptance
        share = 1 if budget >= missing else budget / missing
        return MaximalCoupling(draft, (1 - share) * target + share * draft)


CheckedRule: TypeAlias = type[PairRule] | LossyChain
"""A rule of trees, or what a lossy one accepts of chains at best."""
NO_DRAFT = "no draft"
CHAIN_RULES: tuple[type[blocks.SingleDraftRule], ...] = (
    blocks.TokenVerification,
    blocks.BlockVerification,
)
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
    found: Mapping[str, blocks.BestTrees],
    nodes: int,
    depth: int,
    cost: blocks.StepCost,
    trees: Sequence[Shape] = (),
) -> list[Candidate]:
    """Return what is compared, each once."""
    # Of each rule the tree that keeps most of 1, 2, 4, … nodes, and the fastest tree, branching and
    # chain, all by the chances that are given, and the trees that are named; chains of all lengths
    # by the rules for single drafts; and no draft. Single i.i.d. or distinct drafts are the same
    # for all rules for one token that couple them maximally: token verification.
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


def _trees(
    trees: blocks.BestTrees, nodes: int, depth: int, cost: blocks.StepCost
) -> Iterator[Shape]:
    for size in sizes(nodes):
        yield trees.at(size, depth).tree
    fastest = blocks.fastest_tree(trees, cost)
    yield fastest.tree
    for simpler in fastest.simpler.values():
        yield simpler.tree


def sizes(nodes: int) -> Sequence[int]:
    """Return 1, 2, 4, … up to a number of nodes, and that number."""
    return sorted({2**power for power in range(nodes.bit_length())} | {nodes})


Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)


@dataclass(frozen=True)
class Choice:
    """A rule on a tree of drafts, with what it is worth.

    Parameters
    ----------
    rule, drafts, tree : str
        The rule's title, the law of a node's children, and the tree as
        :func:`otspec.blocks.as_shape` reads it; ``"no draft"`` has the other two empty.
    nodes, depth, widest : int
        Drafted tokens, levels, and the most children of a node.
    tokens, tokens_interval : number, (float, float)
        The mean tokens per call of the target, E[τ] + 1, and where it lies over more such text,
        with 95% confidence; NaN if it is exact, or of one text only.
    seconds : float
        Of drafting and verifying, in the unit of the costs.
    speed_up, speed_up_interval : float, (float, float)
        Tokens per second over those without drafts, likewise.
    lossy : float or Fraction
        By how much the law of each token may be off, in total variation; 0 if it is lossless.
    """

    rule: str
    drafts: str
    tree: str
    nodes: int
    depth: int
    widest: int
    tokens: Tokens
    tokens_interval: Interval
    seconds: float
    speed_up: float
    speed_up_interval: Interval
    lossy: Probability = 0

    @property
    def expected(self) -> Tokens:
        """E[τ], the drafted tokens that are kept."""
        return self.tokens - 1

    @property
    def speed(self) -> float:
        """Tokens per second."""
        return float(self.tokens) / self.seconds

    @property
    def is_chain(self) -> bool:
        """Whether every node has at most one child."""
        return self.nodes == self.depth


@dataclass(frozen=True)
class Loss:
    """What the fastest choice of a simpler kind loses against the best of all.

    Parameters
    ----------
    kind : str
        In what it is simpler.
    rule, drafts, tree, speed_up
        As of the :class:`Choice`.
    loss, loss_interval : float, (float, float)
        The part of the best choice's speed that is lost, and where that lies over more such text,
        with 95% confidence; NaN if it is exact, or of one text only.
    """

    kind: str
    rule: str
    drafts: str
    tree: str
    speed_up: float
    loss: float
    loss_interval: Interval


class Worth(Protocol):
    """What candidates are worth, by their place among those that were asked for."""

    @property
    def texts(self) -> int:
        """How many independent texts it rests on; 0 if it is exact."""

    def tokens(self, choice: int) -> Number:
        """Return the tokens per call."""

    def interval(self, choice: int) -> Interval:
        """Return the interval of the tokens per call."""

    def loss(self, choice: int, best: int, seconds: Array) -> tuple[float, Interval]:
        """Return which part of the speed of the best is lost, and its interval."""

    def held_out(self, seconds: Array) -> tuple[float, Interval]:
        """Return the speed of choices that were made on other texts, and its interval."""


class Evidence(Protocol):
    """Answers what trees a rule would do best with, and what candidates are worth."""

    def best_trees(self, rule: CheckedRule, nodes: int, depth: int, widest: int) -> BestTrees:
        """Return the best trees of a rule, by nodes and levels."""

    def worth(self, candidates: Sequence[Candidate], found: Mapping[str, BestTrees]) -> Worth:
        """Return what candidates are worth; ``found`` has the best trees of the rules by name."""


@dataclass(frozen=True)
class ModelEvidence:
    """Two language models, of which all is exact."""

    draft: Model
    target: Model

    def best_trees(self, rule: CheckedRule, nodes: int, depth: int, widest: int) -> BestTrees:
        """Return the best trees of a rule."""
        return best_trees(self.draft, self.target, rule, nodes, depth, widest=widest, keep="likely")

    def worth(self, candidates: Sequence[Candidate], found: Mapping[str, BestTrees]) -> ExactWorth:
        """Return E[τ] + 1 of each candidate."""
        return ExactWorth([1 + self._expected(candidate, found) for candidate in candidates])

    def _expected(self, candidate: Candidate, found: Mapping[str, BestTrees]) -> Number:
        if candidate.rule == NO_DRAFT:
            return as_number(0, like=self.draft(()))
        if candidate.rule in found:
            return found[candidate.rule].expected(candidate.tree)
        rule = next(rule for rule in CHAIN_RULES if rule.name == candidate.rule)
        return rule(self.draft, self.target, candidate.tree.depth).expected()


@dataclass(frozen=True)
class ExactWorth:
    """Exact tokens per call; no text, and no interval."""

    exact: Sequence[Number]
    texts: int = 0

    def tokens(self, choice: int) -> Number:
        """Return the tokens per call."""
        return self.exact[choice]

    def interval(self, choice: int) -> Interval:  # noqa: ARG002  all are exact
        """Return that there is none."""
        return UNKNOWN

    def loss(self, choice: int, best: int, seconds: Array) -> tuple[float, Interval]:
        """Return which part of the speed of the best is lost."""
        part = float(self.exact[choice] / self.exact[best]) * float(seconds[best] / seconds[choice])
        return 1 - part, UNKNOWN

    def held_out(self, seconds: Array) -> tuple[float, Interval]:
        """Return the best speed: nothing flatters it."""
        speeds = np.array([float(each) for each in self.exact]) / seconds
        return float(speeds.max()), UNKNOWN
