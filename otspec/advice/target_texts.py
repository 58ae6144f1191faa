"""Texts of the target: the calls by which each comes out, by any rule and tree (Theory, 28)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec.advice.evaluation.candidates import CHAIN_RULES, NO_DRAFT, Candidate
from otspec.advice.evaluation.numbers import Asked, TextNumbers, joined
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.distributions import Distribution
from otspec.logged.given_text import levels_of_block
from otspec.logged.replay import replayed


class Written(NamedTuple):
    """A text of the target, with both models along it."""

    cluster: int
    tokens: Sequence[int]
    draft: Iterable[Distribution]
    target: Iterable[Distribution]
    ended: bool = False
    """Whether it is over with an end token; else it goes on behind what was logged."""


class WrittenTexts(TextNumbers):
    """Texts of the target, each decoded by as many calls as it takes.

    ``beside`` has the probability of each token by the draft and by the target. Of texts that go on
    behind what was logged calls count as long as all that a tree may keep is logged after them; of
    those that are over all calls count.
    """

    def outcomes(self, candidates: Sequence[Candidate]) -> tuple[Array, Array]:
        """Return the expected tokens and calls of each candidate along each text."""
        chances = self.along(given=True)
        found = np.empty((2, len(self.lengths), len(candidates)))
        for place, candidate in enumerate(candidates):
            levels = self._levels(candidate, chances)
            texts = zip(self.starts, self.lengths, self.over, strict=True)
            for text, (start, length, over) in enumerate(texts):
                replay = replayed(levels[:, start : start + length], cut=not over)
                found[:, text, place] = replay.tokens, replay.calls
        return found[0], found[1]

    def _levels(self, candidate: Candidate, chances: dict[str, Chances]) -> Array:
        """Return how likely at least 1, 2, … tokens are kept at each position, given the text."""
        if candidate.rule == NO_DRAFT:
            return np.zeros((0, self.beside.shape[1]))
        if candidate.rule in chances:
            return chances[candidate.rule].by_level(candidate.tree)[:, :-1]
        rule = next(rule for rule in CHAIN_RULES if rule.name == candidate.rule)
        texts = np.split(self.beside, self.starts[1:], axis=1)
        depth = candidate.tree.depth
        return np.concatenate([levels_of_block(rule, depth, *text) for text in texts], axis=1)


def written_texts(texts: Iterable[Written], asked: Sequence[Asked]) -> WrittenTexts:
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
    return WrittenTexts(
        np.array(clusters),
        np.array(lengths),
        tuple(asked),
        tuple(joined(each) for each in answers),
        np.array(beside).T,
        ended,
    )
