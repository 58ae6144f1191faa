"""What logged texts say: mean chances to search trees by, and the worth of trees text by text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.frozen import Frozen, cached_property
from otspec.advice.evaluation.candidates import Candidate, CheckedRule
from otspec.advice.evaluation.choices import Interval
from otspec.advice.evaluation.numbers import TextNumbers
from otspec.advice.evaluation.tally import FoldedTally
from otspec.blocks import BestTrees
from otspec.blocks.trees.best.acceptance_rates import Chances


@dataclass(frozen=True, eq=False)
class TextEvidence(Frozen):
    """Logged texts, part by part."""

    # gives the parts anew each time, of which one is held in memory at a time
    parts: Callable[[], Iterable[TextNumbers]]

    def best_trees(
        self,
        rule: CheckedRule,
        nodes: int,
        depth: int,
        widest: int,  # noqa: ARG002  rules were asked for so many
    ) -> BestTrees:
        """Return the best trees by the mean chances of all positions, as Sequoia has them."""
        return BestTrees(self._means[rule.name], nodes, depth, "likely")

    @cached_property
    def _means(self) -> dict[str, Chances]:
        """The mean chances of each rule, as if texts did not matter otherwise."""
        sums: dict[str, dict[int, Array]] = {}  # of both: what is kept, and what goes on
        found: dict[str, Chances] = {}
        positions = 0
        for part in self.parts():
            positions += int(part.lengths.sum())
            for asked, kept, going in part.kept():
                into = sums.setdefault(asked.rule.name, {})
                for k, each in kept.items():
                    both = np.array([each.sum(axis=1), going[k].sum(axis=1)])
                    into[k] = into.get(k, 0) + both
                means = {k: np.maximum(both / positions, 0) for k, both in into.items()}
                found[asked.rule.name] = Chances(
                    np.ones(1),
                    np.zeros((1, 1), dtype=int),
                    asked.widths,
                    {k: kept[:, None] for k, (kept, _) in means.items()},
                    {k: going[:, None, None] for k, (_, going) in means.items()},
                    asked.nested,
                )
        return found

    def worth(
        self,
        candidates: Sequence[Candidate],
        found: Mapping[str, BestTrees],  # noqa: ARG002  texts are measured anew
    ) -> TextWorth:
        """Measure candidates on all texts."""
        tally = FoldedTally.of_none(len(candidates))
        for part in self.parts():
            tally = tally.with_texts(*part.by_cluster(candidates))
        return TextWorth(tally)


@dataclass(frozen=True)
class TextWorth:
    """What candidates are worth on texts."""

    tally: FoldedTally

    @property
    def texts(self) -> int:
        """How many independent texts there are."""
        return self.tally.whole.texts

    def tokens(self, choice: int) -> float:
        """Return the tokens per call of all texts together."""
        return float(self.tally.tokens_per_call()[choice])

    def interval(self, choice: int) -> Interval:
        """Return the interval of the tokens per call."""
        return self.tally.interval(choice)

    def loss(self, choice: int, best: int, seconds: Array) -> tuple[float, Interval]:
        """Return which part of the speed of the best is lost, and its interval."""
        return self.tally.loss(choice, best, seconds)

    def held_out(self, seconds: Array) -> tuple[float, Interval]:
        """Return the speed of choices that were made on other texts, and its interval."""
        return self.tally.held_out(seconds)
