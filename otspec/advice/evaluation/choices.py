"""What is said of each choice, its gain and its cost, and the evidence that answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number
from otspec.advice.evaluation.candidates import CHAIN_RULES, NO_DRAFT, Candidate, CheckedRule
from otspec.blocks import BestTrees, best_trees
from otspec.frames import Probability, Tokens
from otspec.models import Model

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
