"""Where it is known from what choices are worth: what evidence answers, and exact evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number
from otspec.advice.evaluation.candidates import CHAIN_RULES, NO_DRAFT, Candidate, CheckedRule
from otspec.advice.evaluation.choices import UNKNOWN, Interval
from otspec.blocks import BestTrees, best_trees
from otspec.models import Model


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
