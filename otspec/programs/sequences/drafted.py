"""Laws of drafted texts: how likely one of some texts is among them (Theory, 16)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from otspec._base.arguments import as_instance, as_tokens
from otspec._base.arithmetic import IntArray, Number, as_number, sums_by, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import Distribution, as_distribution, as_k
from otspec.models.base import LanguageModel, Model, Prefix
from otspec.programs.levels import Levels, Marks, place_of

Sequences: TypeAlias = frozenset[Prefix]
"""The different candidate sequences that were drafted."""


class Drafted(Frozen, ABC):
    """What is known of the law of drafted texts over n tokens, of up to so many tokens each.

    With each text its beginnings are drafted too, the empty text always.
    """

    n: int
    depth: int

    @abstractmethod
    def masses(self) -> Levels:
        """Return the probability of each text to be drafted."""

    @abstractmethod
    def met(self, marks: Marks) -> Number:
        """Return the probability that one of the marked texts is drafted."""

    @abstractmethod
    def highest(self, prices: Levels) -> Number:
        """Return the expectation of the highest price of the drafted texts."""


@dataclass(frozen=True, eq=False)
class DraftedSets(Drafted):
    """The law of drafted sets of sequences, each set with its probability.

    Parameters
    ----------
    candidates : mapping
        From sets of sequences to their probabilities, such as
        :meth:`otspec.blocks.DraftSelection.candidates` returns.
    n : int
        The size of the alphabet.

    Raises
    ------
    ValueError
        Probabilities that do not sum to 1, or sets of anything else than token ids.
    """

    candidates: Mapping[Sequences, Number]
    n: int

    def __post_init__(self) -> None:
        wanted = "a mapping from sets of sequences to their probabilities"
        as_instance(self.candidates, "candidates", Mapping, wanted)
        self._hold(n=as_k(self.n, "n"), candidates=dict(self.candidates))
        _ = self.chances
        for sequences in self.candidates:
            as_instance(sequences, "a key of candidates", frozenset, "a frozenset of sequences")
            for sequence in sequences:
                as_tokens(sequence, self.n, "a candidate")

    def up_to_end(self, target: LanguageModel) -> DraftedSets:
        """Return the law of the sets up to the end of a target's texts."""
        law: dict[Sequences, Any] = {}
        for sequences, mass in self.candidates.items():
            cut = up_to_end(sequences, target)
            law[cut] = law.get(cut, 0) + mass
        return DraftedSets(law, self.n)

    @cached_property
    def chances(self) -> Distribution:
        """The probability of each set, shape (d,)."""
        return as_distribution(list(self.candidates.values()), "candidates")

    @cached_property
    def sets(self) -> tuple[Sequences, ...]:
        """The sets with all beginnings of their sequences."""
        return tuple(
            frozenset(text[:end] for text in each for end in range(len(text) + 1)) | {()}
            for each in self.candidates
        )

    @cached_property
    def depth(self) -> int:
        """The length of the longest text."""
        return max(len(text) for texts in self.sets for text in texts)

    @cached_property
    def _members(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """For each length the sets and the texts of that length that they have, pair by pair."""
        pairs: list[list[tuple[int, int]]] = [[] for _ in range(self.depth + 1)]
        for number, texts in enumerate(self.sets):
            for text in texts:
                pairs[len(text)].append((number, place_of(text, self.n)))
        arrays = [np.array(each, dtype=np.intp).reshape(-1, 2) for each in pairs]
        return tuple((each[:, 0], each[:, 1]) for each in arrays)

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """For each sequence of each set the number of the set, its length, and its number."""
        found = [
            (number, len(sequence), place_of(sequence, self.n))
            for number, sequences in enumerate(self.candidates)
            for sequence in sorted(sequences)
        ]
        sets, lengths, places = np.array(found, dtype=np.intp).reshape(-1, 3).T
        return sets, lengths, places

    def masses(self) -> Levels:
        """Return the probability of each text to be drafted."""
        return tuple(
            sums_by(places, self.chances[rows], self.n**length)
            for length, (rows, places) in enumerate(self._members)
        )

    def met(self, marks: Marks) -> Number:
        """Return the probability that one of the marked texts is drafted."""
        hit = np.zeros(len(self.chances), dtype=bool)
        for (rows, places), level in zip(self._members, marks, strict=True):
            hit[rows[level[places]]] = True
        return as_number(self.chances[hit].sum(), like=self.chances)

    def highest(self, prices: Levels) -> Number:
        """Return the expectation of the highest price of the drafted texts."""
        best = zeros(len(self.chances), like=prices[0]) + prices[0][0]
        for (rows, places), level in zip(self._members, prices, strict=True):
            np.maximum.at(best, rows, level[places])
        return as_number((self.chances * best).sum(), like=self.chances)

    def costliest(self, prices: Levels) -> IntArray:
        """Return for each set with sequences which of :attr:`pairs` has its highest price."""
        sets, lengths, places = self.pairs
        found = [prices[length][place] for length, place in zip(lengths, places, strict=True)]
        best: dict[int, int] = {}
        for pair, (number, price) in enumerate(zip(sets.tolist(), found, strict=True)):
            if number not in best or price > found[best[number]]:
                best[number] = pair
        return np.array(list(best.values()), dtype=np.intp)

    @cached_property
    def numbers(self) -> dict[Sequences, int]:
        """The number of each set."""
        return {each: number for number, each in enumerate(self.candidates)}


def up_to_end(sequences: Sequences, target: LanguageModel) -> Sequences:
    """Return drafted sequences up to the end of a target's texts."""
    if not isinstance(target, Model):  # whose texts never end
        return sequences
    return frozenset(map(target.up_to_end, sequences))
