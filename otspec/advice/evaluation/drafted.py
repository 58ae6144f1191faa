"""Drafted blocks: what each rule keeps of any tree in the block, without bias (Theory, 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from otspec._base.arithmetic import Array
from otspec.advice.evaluation.candidates import CHAIN_RULES, NO_DRAFT, Candidate
from otspec.advice.evaluation.numbers import Asked, TextNumbers, joined
from otspec.logged import LoggedBlock


class DraftedTexts(TextNumbers):
    """Drafted blocks, each of which is one call of the target.

    ``beside`` has what the rules of :data:`CHAIN_RULES` add at each level of a chain.
    """

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
    """Ask rules at the first positions of blocks, which are read one at a time.

    ``blocks``: each with the number of its cluster.
    """
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
