"""Laws of drafted texts: how likely one of some texts is among them (Theory, 16)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from otspec._base import Frozen, as_instance, as_tokens, cached_property
from otspec._base.arithmetic import Array, IntArray, Number, as_number, sums_by, zeros
from otspec.distributions import Distribution, as_distribution, as_k, check_alike
from otspec.models.base import LanguageModel, Model, Prefix

Levels: TypeAlias = tuple[Array, ...]
"""Entry ℓ, shape (n**ℓ,), has a number for each text of ℓ tokens, from the empty text on."""
Marks: TypeAlias = tuple[npt.NDArray[np.bool_], ...]  # the same of truth values: some of the texts


def text_masses(model: LanguageModel, length: int, name: str) -> Levels:
    """Return the probabilities of all texts of up to so many tokens.

    ``model``: prefix → distribution. ``name``: what error messages call the model.
    """
    start = as_distribution(model(()), f"{name}()")
    n = len(start)
    levels = [zeros(1, like=start) + 1, start]
    for depth in range(1, length):
        extended = zeros(n ** (depth + 1), like=start)
        for number, prefix in enumerate(np.ndindex(*(n,) * depth)):
            following = as_distribution(model(prefix), f"{name}{prefix}")
            check_alike(f"{name}()", start, f"{name}{prefix}", following)
            extended[number * n : (number + 1) * n] = levels[-1][number] * following
        levels.append(extended)
    return tuple(levels)


def place_of(text: Prefix, n: int) -> int:
    """Return the number of a text among those of its length."""
    place = 0
    for token in text:
        place = place * n + token
    return place


def text_at(place: int, length: int, n: int) -> Prefix:
    """Return the text of a length with a number, see :func:`place_of`."""
    tokens: list[int] = []
    for _ in range(length):
        place, token = divmod(place, n)
        tokens.append(token)
    return tuple(reversed(tokens))


def summed_below(levels: Levels, n: int) -> Levels:
    """Return the sum of each text's number and those of all texts that go on from it."""
    summed = [levels[-1]]
    for level in levels[-2::-1]:
        summed.append(level + summed[-1].reshape(-1, n).sum(axis=1))
    return tuple(reversed(summed))


def differences(levels: Levels, n: int) -> Levels:
    """Return each text's number less those of the texts one token longer: the inverse of sums."""
    shorter = pairwise(levels)
    less = [level - longer.reshape(-1, n).sum(axis=1) for level, longer in shorter]
    return (*less, levels[-1])


def highest_so_far(levels: Levels, n: int) -> Levels:
    """Return the largest number of each text and its beginnings; of marks, whether one is."""
    highest = [levels[0]]
    for level in levels[1:]:
        highest.append(np.maximum(level, np.repeat(highest[-1], n)))
    return tuple(highest)


def shortest(marks: Marks, n: int) -> Marks:
    """Return the marked texts of which no beginning is marked."""
    before = np.zeros(1, dtype=bool)
    found = []
    for level in marks:
        found.append(level & ~before)
        before = np.repeat(level | before, n)
    return tuple(found)


def added_up(levels: Levels, n: int) -> Levels:
    """Return the sum of the numbers of each text and its beginnings."""
    sums = [levels[0]]
    for level in levels[1:]:
        sums.append(level + np.repeat(sums[-1], n))
    return tuple(sums)


Sequences: TypeAlias = frozenset[Prefix]  # the different candidate sequences that were drafted


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

    def up_to_end(self, target: LanguageModel) -> "DraftedSets":
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
