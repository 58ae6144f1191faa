"""What logged texts say, drafted ones and those of the target (Theory, 28): text by text."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, cached_property
from otspec.advice.evaluation.choices import (
    CHAIN_RULES,
    NO_DRAFT,
    UNKNOWN,
    Candidate,
    CheckedRule,
    Interval,
    LossyChain,
)
from otspec.advice.evaluation.numbers import TextNumbers, joined
from otspec.blocks import BestTrees
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.distributions import Distribution
from otspec.estimate import radius_of
from otspec.logged import LoggedBlock, Tally
from otspec.logged.chances import Asked, at_one_place, levels_of_block
from otspec.logged.replay import replayed

FOLDS = 5  # into how many parts texts are divided: a choice made on all others is measured on each


@dataclass(frozen=True, eq=False)
class FoldedTally(Frozen):
    """Sums over texts, the independent units, of tokens and calls of each choice, in folds."""

    choices: int
    folds: tuple[Tally, ...]  # of the tokens of all choices, and then of their calls

    @classmethod
    def of_none(cls, choices: int) -> "FoldedTally":
        """Return the sums over no text."""
        return cls(choices, (Tally.of(np.empty((0, 2 * choices))),) * FOLDS)

    def with_texts(self, texts: IntArray, tokens: Array, calls: Array) -> "FoldedTally":
        """Return the sums with those of more texts, (m, choices); their numbers say the folds."""
        rows = np.concatenate([tokens, calls], axis=1)
        folds = tuple(
            before + Tally.of(rows[texts % FOLDS == fold]) for fold, before in enumerate(self.folds)
        )
        return FoldedTally(self.choices, folds)

    @cached_property
    def whole(self) -> Tally:
        """The sums over all texts."""
        return reduce(add, self.folds)

    @property
    def texts(self) -> int:
        """How many independent texts there are."""
        return self.whole.texts

    def tokens_per_call(self) -> Array:
        """Return Σ tokens / Σ calls of each choice, shape (choices,)."""
        return _ratios(self.whole.sums)

    def tokens(self, choice: int) -> float:
        """Return the tokens per call of all texts together."""
        return float(self.tokens_per_call()[choice])

    def interval(self, choice: int) -> Interval:
        """Return the interval of the tokens per call of a choice."""
        _, low, high = self.whole.ratio(self._unit(choice), self._unit(self.choices + choice))
        return low, high

    def loss(self, choice: int, best: int, seconds: Array) -> tuple[float, Interval]:
        """Return which part of the speed of the best is lost, and the interval of that."""
        whole = self.whole
        speeds = _ratios(whole.sums) / seconds
        part = float(speeds[choice] / speeds[best])
        # What each text adds to the logarithm of the ratio.
        direction = sum(
            sign * self._unit(place) / whole.sums[place]
            for place, sign in (
                (choice, 1), (self.choices + choice, -1), (best, -1), (self.choices + best, 1),
            )
        )  # fmt: skip
        radius = part * radius_of(whole.square(np.asarray(direction)), whole.texts)
        return 1 - part, (1 - part - radius, min(1 - part + radius, 1.0))

    def held_out(self, seconds: Array) -> tuple[float, Interval]:
        """Return the speed of the fastest choice of all other folds in each, and its interval."""
        # Unlike the best of many it is not flattered.
        whole, filled = self.whole, [fold for fold in self.folds if fold.texts]
        if len(filled) < 2:
            return math.nan, UNKNOWN
        chosen = [int(np.argmax(_ratios(whole.sums - fold.sums) / seconds)) for fold in filled]
        pairs = list(zip(filled, chosen, strict=True))
        tokens = sum(fold.sums[one] for fold, one in pairs)
        time = sum(seconds[one] * fold.sums[self.choices + one] for fold, one in pairs)
        square = sum(
            fold.square(
                self._unit(one) / tokens - seconds[one] * self._unit(self.choices + one) / time
            )
            for fold, one in pairs
        )
        speed = float(tokens / time)
        radius = speed * radius_of(square, whole.texts)
        return speed, (max(speed - radius, 0.0), speed + radius)

    def _unit(self, place: int) -> Array:
        direction = np.zeros(2 * self.choices)
        direction[place] = 1
        return direction


def _ratios(sums: Array) -> Array:
    tokens, calls = np.split(sums, 2)
    return tokens / calls


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
                found[asked.rule.name] = at_one_place(
                    asked.widths,
                    {k: kept for k, (kept, _) in means.items()},
                    {k: going for k, (_, going) in means.items()},
                    asked.nested,
                )
        return found

    def worth(
        self,
        candidates: Sequence[Candidate],
        found: Mapping[str, BestTrees],  # noqa: ARG002  texts are measured anew
    ) -> FoldedTally:
        """Measure candidates on all texts."""
        tally = FoldedTally.of_none(len(candidates))
        for part in self.parts():
            tally = tally.with_texts(*part.by_cluster(candidates))
        return tally


class TargetText(NamedTuple):
    """A text of the target, with both models along it."""

    cluster: int
    tokens: Sequence[int]
    draft: Iterable[Distribution]
    target: Iterable[Distribution]
    ended: bool = False
    """Whether it is over with an end token; else it goes on behind what was logged."""


class TargetTexts(TextNumbers):
    """Texts of the target, each decoded by as many calls as it takes.

    ``beside`` has the probability of each token by the draft and by the target. Calls of a text
    that goes on behind the log count as long as all that a tree may keep is logged after them.
    """

    def outcomes(self, candidates: Sequence[Candidate]) -> tuple[Array, Array]:
        """Return the expected tokens and calls of each candidate along each text."""
        chances = self.along(given=True)
        tokens, calls = np.empty((2, len(self.lengths), len(candidates)))
        for place, candidate in enumerate(candidates):
            levels = self._levels(candidate, chances)
            texts = zip(self.starts, self.lengths, self.over, strict=True)
            for text, (start, length, over) in enumerate(texts):
                replay = replayed(levels[:, start : start + length], cut=not over)
                tokens[text, place], calls[text, place] = replay.tokens, replay.calls
        return tokens, calls

    def _levels(self, candidate: Candidate, chances: dict[str, Chances]) -> Array:
        """Return how likely at least 1, 2, … tokens are kept at each position, given the text."""
        if candidate.rule == NO_DRAFT:
            return np.empty((0, self.beside.shape[1]))
        if candidate.rule in chances:
            return chances[candidate.rule].by_level(candidate.tree)[:, :-1]
        rule = next(rule for rule in CHAIN_RULES if rule.name == candidate.rule)
        texts = np.split(self.beside, self.starts[1:], axis=1)
        depth = candidate.tree.depth
        return np.concatenate([levels_of_block(rule, depth, *text) for text in texts], axis=1)


def target_texts(texts: Iterable[TargetText], asked: Sequence[Asked]) -> TargetTexts:
    """Ask rules at all positions of texts, of which one row of each model is looked at a time."""
    clusters, lengths, beside, ended = [], [], [], []
    answers: list[list[Array]] = [[] for _ in asked]
    for text in texts:
        clusters.append(text.cluster)
        ended.append(text.ended)
        lengths.append(len(text.tokens))
        for token, draft, target in zip(text.tokens, text.draft, text.target, strict=False):
            beside.append([float(draft[token]), float(target[token])])
            for each, into in zip(asked, answers, strict=True):
                into.append(each.at(token, draft, target, target[token]))
    return TargetTexts(
        np.array(clusters),
        np.array(lengths),
        tuple(asked),
        tuple(joined(each) for each in answers),
        np.array(beside).T,
        ended,
    )


def refuse_lossy(asked: Sequence[Asked]) -> None:
    """Refuse to say what a lossy rule keeps of texts that it would not have written."""
    for each in asked:
        if isinstance(each.rule, LossyChain):
            raise ValueError(
                f"total_variation is {each.rule.total_variation}, but the logged tokens are the "
                "target's, which a lossy rule would not have written: log drafted blocks"
            )


def is_of_target(block: LoggedBlock) -> bool:
    """Whether the tokens of a block were drawn from the target."""
    if block.sampling is None:
        return False
    return all(map(np.array_equal, block.sampling[: len(block.tokens)], block.target))
