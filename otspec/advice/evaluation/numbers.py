"""The numbers of logged texts and drafted blocks that trees are compared by (Theory, 11)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base import Array, Frozen, IntArray
from otspec.advice.evaluation.choices import CHAIN_RULES, NO_DRAFT, Candidate
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.logged import LoggedBlock
from otspec.logged.chances import Asked, along


@dataclass(frozen=True, eq=False)
class TextNumbers(Frozen, ABC):
    """Some logged texts, as all numbers that are needed of them to compare trees."""

    clusters: IntArray  # (texts,): which texts depend on each other: those of one number
    lengths: IntArray  # (texts,): the positions of each text, of which those of all are in a row
    asked: Sequence[Asked]
    answers: Sequence[Array]  # (2, Σ counts, positions): what each rule says, see :meth:`Asked.at`
    beside: Array  # (2, positions): two numbers of each position for the rules for single drafts
    # (texts,): which texts are over with an end token; by default none
    ended: Sequence[bool] | None = None

    @property
    def starts(self) -> IntArray:
        """Where each text begins."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def over(self) -> Sequence[bool]:
        """Which texts are over with an end token."""
        return [False] * len(self.lengths) if self.ended is None else self.ended

    def kept(self) -> Iterator[tuple[Asked, dict[int, Array], dict[int, Array]]]:
        """Yield each rule, and how likely its drafts are kept at the positions: k → (k, m)."""
        # The latter is the same of drafts that do not end the text, an estimate: what is kept of an
        # end token is known where one is logged, with the weight of a logged token.
        last = (self.starts + self.lengths - 1)[np.array(self.over, dtype=bool)]
        for asked, (kept, led) in zip(self.asked, self.answers, strict=True):
            going = kept.copy()
            going[:, last] -= led[:, last]
            yield asked, asked.split(kept), asked.split(going)

    def along(self, *, given: bool = False) -> dict[str, Chances]:
        """Return each rule's chances along the texts.

        ``given``: of drafts given the text, and not on average over the next token.
        """
        found = {}
        for asked, answers in zip(self.asked, self.answers, strict=True):
            kept, led = asked.split(answers[1 if given else 0]), asked.split(answers[1])
            found[asked.rule.name] = along(asked.widths, kept, led, self.lengths, asked.nested)
        return found

    @abstractmethod
    def outcomes(self, candidates: Sequence[Candidate]) -> tuple[Array, Array]:
        """Return tokens and calls of each candidate in each text, shapes (texts, candidates)."""

    def by_cluster(self, candidates: Sequence[Candidate]) -> tuple[IntArray, Array, Array]:
        """Return the clusters, and tokens and calls of each candidate in all texts of each."""
        clusters, which = np.unique(self.clusters, return_inverse=True)
        tokens, calls = np.zeros((2, len(clusters), len(candidates)))
        for sums, of_texts in zip((tokens, calls), self.outcomes(candidates), strict=True):
            np.add.at(sums, which, of_texts)
        return clusters, tokens, calls


def joined(columns: Iterable[Array]) -> Array:
    """Return what was asked at positions, one after the other: (2, Σ counts, positions)."""
    return np.stack(list(columns), axis=-1)


class DraftedTexts(TextNumbers):
    """Drafted blocks, each one call; ``beside``: what :data:`CHAIN_RULES` add by level."""

    def outcomes(self, candidates: Sequence[Candidate]) -> tuple[Array, Array]:
        """Return 1 + an unbiased estimate of E[τ], and one call."""
        chances = self.along()
        known = {
            name: each.all_expected(c.tree for c in candidates if c.rule == name)
            for name, each in chances.items()
        }
        sums = np.concatenate([np.zeros((2, 1)), np.cumsum(self.beside, axis=1)], axis=1)
        chains = dict(zip([rule.name for rule in CHAIN_RULES], sums, strict=True))
        starts = self.starts
        columns = []
        for candidate in candidates:
            if candidate.rule == NO_DRAFT:
                columns.append(np.ones(len(starts)))
            elif candidate.rule in known:
                columns.append(1 + known[candidate.rule][candidate.tree][starts])
            else:
                levels = np.minimum(self.lengths, candidate.tree.depth)
                of_rule = chains[candidate.rule]
                columns.append(1 + of_rule[starts + levels] - of_rule[starts])
        tokens = np.stack(columns, axis=1)
        return tokens, np.ones_like(tokens)


def drafted_texts(
    blocks: Iterable[tuple[int, LoggedBlock]], asked: Sequence[Asked], depth: int
) -> DraftedTexts:
    """Ask rules at the first positions of blocks, which are read one at a time, with clusters."""
    clusters, lengths, beside, ended = [], [], [], []
    answers: list[list[Array]] = [[] for _ in asked]
    for cluster, block in blocks:
        block.check(depth)
        clusters.append(cluster)
        lengths.append(min(depth, len(block.tokens)))
        ended.append(block.ended and len(block.tokens) <= depth)
        rows = zip(block.tokens[:depth], block.draft, block.target, block.sampled, strict=False)
        for token, draft, target, sampled in rows:
            for each, into in zip(asked, answers, strict=True):
                into.append(each.at(token, draft, target, sampled[token]))
        beside.append(
            np.array([block.by_level(rule, lengths[-1]) for rule in CHAIN_RULES], dtype=float)
        )
    return DraftedTexts(
        np.array(clusters),
        np.array(lengths),
        tuple(asked),
        tuple(joined(each) for each in answers),
        np.concatenate(beside, axis=1),
        ended,
    )
