"""Laws of drafted trees, by the laws of the children of each node (Theory, 16)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from otspec._base import as_callable, as_list, cached_property
from otspec._base.arithmetic import Array, Number, as_number, counted_power, power, zeros
from otspec.distributions import Distribution, as_distribution, as_k
from otspec.drafts import IID, DraftLaw
from otspec.models.base import LanguageModel
from otspec.programs.sequences import drafted_texts
from otspec.programs.sequences.drafted_texts import Drafted, Levels, Marks

ChildrenLaw: TypeAlias = Callable[[Distribution, int], DraftLaw]
"""(draft, k) → the law of k children, such as :class:`otspec.IID`."""
MOST_TEXTS = 1_000_000  # most texts as long as the tree is deep
STARTS = tuple(1 - i / 12 for i in range(12))
"""Chances to miss from which texts that hold too much are looked for."""


@dataclass(frozen=True, eq=False)
class DraftedNodes(Drafted):
    """The law of a drafted tree with so many children of each node by depth.

    Parameters
    ----------
    draft : callable
        Language model: prefix → distribution.
    branching : sequence of int
        Children of each node by depth.
    children : callable
        (draft, k) → the law of k children; by default they are i.i.d.

    Raises
    ------
    ValueError
        Numbers of children that are none, or that the law refuses.
    """

    draft: LanguageModel
    branching: Sequence[int]
    children: ChildrenLaw = IID

    def __post_init__(self) -> None:
        as_callable(self.draft, "draft", "a language model, a callable from a prefix")
        as_callable(self.children, "children", "a law of drafts, such as IID")
        widths = as_list(self.branching, "branching", "the children by depth, such as (4, 2, 1)")
        widths = [as_k(width, f"branching[{depth}]") for depth, width in enumerate(widths)]
        if not widths:
            raise ValueError("branching is empty: name the children of at least one depth")
        n = len(as_distribution(self.draft(()), "draft(())"))
        if counted_power(n, len(widths)) > MOST_TEXTS:
            raise ValueError(
                f"branching has {len(widths)} depths: over {n} tokens there are more than "
                f"{MOST_TEXTS:,} texts; use a smaller tree"
            )
        self._hold(branching=tuple(widths), depth=len(widths), n=n)

    @property
    def iid(self) -> bool:
        """Whether the children of a node are drawn independently."""
        return all(law.law.iid for level in self._laws for law in level)

    @cached_property
    def _laws(self) -> "tuple[tuple[_Children, ...], ...]":
        """The laws of the children after each text of each length; equal ones are one."""
        known: dict[tuple[int, object], _Children] = {}
        levels = []
        for length, width in enumerate(self.branching):
            laws = []
            for place in range(self.n**length):
                row = as_distribution(
                    self.draft(drafted_texts.text_at(place, length, self.n)), "draft"
                )
                key = width, row.tobytes() if row.dtype != object else tuple(row)
                if key not in known:
                    known[key] = _Children(self.children(row, width))
                laws.append(known[key])
            levels.append(tuple(laws))
        return tuple(levels)

    def masses(self) -> Levels:
        """Return the probability of each text to be drafted."""
        like = self._laws[0][0].law.marginal(0)
        levels = [zeros(1, like=like) + 1]
        for length in range(1, self.depth + 1):
            hit = zeros(self.n**length, like=like) + 1
            for depth in range(length - 1, -1, -1):
                beyond = hit.reshape(self.n**depth, self.n, -1)
                hit = np.array(
                    [law.hit(each) for law, each in zip(self._laws[depth], beyond, strict=True)]
                )
            levels.append(hit.ravel())
        return tuple(levels)

    def met(self, marks: Marks) -> Number:
        """Return the probability that one of the marked texts is drafted."""
        missed = self._missed(marks)[0]
        return as_number(1 - missed[0], like=missed)

    def _missed(self, marks: Marks) -> Levels:
        """Return for each text, if it is drafted, how likely nothing marked is below it."""
        # That is 0 for marked texts and for all that go on from them.
        hidden = drafted_texts.highest_so_far(marks, self.n)
        like = self._laws[0][0].law.marginal(0)
        missed = zeros(self.n**self.depth, like=like) + 1
        levels = [np.where(hidden[-1], missed * 0, missed)]
        for length in range(self.depth - 1, -1, -1):
            below = levels[-1].reshape(-1, self.n)
            found = zeros(self.n**length, like=like)
            for place in np.flatnonzero(~hidden[length]).tolist():
                found[place] = self._laws[length][place].missed(below[place])
            levels.append(found)
        return tuple(reversed(levels))

    def highest(self, prices: Levels) -> Number:
        """Return the expectation of the highest price of the drafted texts."""
        before = total = prices[0][0]
        for price in np.unique(np.concatenate(prices)):
            if price > before:
                marks = drafted_texts.shortest(tuple(level >= price for level in prices), self.n)
                total = total + (price - before) * self.met(marks)
                before = price
        return as_number(total, like=prices[0])

    def crossed(self, kept: Levels) -> list[Marks]:
        """Return sets of texts that hold more of what is kept than how likely they are met.

        The most of A(W) − P(W is met) is looked for, given ``kept``: how likely exactly each text
        is kept. With i.i.d. children the second is concave in the texts that end in W: its tangents
        lead upwards from any start. No text goes on from another. None may be found although there
        are some.
        """
        at_least = drafted_texts.summed_below(tuple(level.astype(float) for level in kept), self.n)
        found: dict[bytes, tuple[float, Marks]] = {}
        for start in self._starts(at_least):
            most, missed = -np.inf, start
            while True:
                marks = self._best(at_least, missed)
                missed = self._missed(marks)
                held = sum(level[mark].sum() for level, mark in zip(at_least, marks, strict=True))
                over = float(held) - 1 + float(missed[0][0])
                if over <= most + 1e-13:
                    break
                most = over
                found[b"".join(mark.tobytes() for mark in marks)] = over, marks
        over_first = sorted(found.values(), key=lambda pair: -pair[0])
        return [marks for over, marks in over_first if over > 0]

    def _starts(self, at_least: Levels) -> Iterator[Levels]:
        """Yield chances to miss: those of texts that each hold too much alone, and alike ones."""
        alone = (level.astype(float) for level in self.masses())
        over = tuple(level - chance for level, chance in zip(at_least, alone, strict=True))
        yield self._missed(most_apart(over, np.zeros(len(over[-1])), self.n))
        for start in STARTS:
            yield tuple(np.full(len(level), start) for level in at_least)

    def _best(self, at_least: Levels, missed: Levels) -> Marks:
        """Return the texts W with the most A(W) + P(W is missed), on a tangent."""
        slopes = np.ones(1)
        for length in range(self.depth):
            below = missed[length + 1].reshape(-1, self.n)
            rows = [
                law.slopes(each.astype(float))
                for law, each in zip(self._laws[length], below, strict=True)
            ]
            slopes = (slopes[:, None] * np.array(rows)).ravel()
        return most_apart(at_least, slopes, self.n)


def most_apart(gains: Levels, left: Array, n: int) -> Marks:
    """Return texts, none of which goes on from another, with the most gains in all.

    ``gains``: that of the empty text does not count. ``left``, shape (n**L,): the gain of each text
    of L tokens that no text of those begins.
    """
    marks, best = [gains[-1] > left], np.maximum(gains[-1], left)
    for level in gains[-2:0:-1]:
        below = best.reshape(-1, n).sum(axis=1)
        marks.append(level > below)
        best = np.maximum(level, below)
    return drafted_texts.shortest((np.zeros(1, dtype=bool), *reversed(marks)), n)


class _Children:
    """The children of one node, and how likely they miss something."""

    def __init__(self, law: DraftLaw) -> None:
        self.law = law
        self._row = law.marginal(0)
        if not law.iid:
            self._tuples, self._masses = law.tuples()

    def missed(self, below: Array) -> Number:
        """Return how likely all children miss, if each token does with a probability."""
        if self.law.iid:
            return power((self._row * below).sum(), self.law.k)
        of_tuples = below[self._tuples].prod(axis=1) * self._masses
        return as_number(of_tuples.sum(), like=self._row)

    def slopes(self, below: Array) -> Array:
        """Return the derivatives of :meth:`missed` by each token's probability, in floats."""
        row = self._row.astype(float)
        if self.law.iid:
            return self.law.k * (row * below).sum() ** (self.law.k - 1) * row
        chances = below[self._tuples]
        slopes = np.zeros(len(row))
        for child in range(self.law.k):
            others = np.delete(chances, child, axis=1).prod(axis=1) * self._masses.astype(float)
            slopes += np.bincount(self._tuples[:, child], others, len(row))
        return slopes

    def hit(self, beyond: Array) -> Array:
        """Return how likely a child is each token and goes on to a text: shape (n, ·)."""
        if self.law.iid:
            return 1 - power(1 - self._row[:, None] * beyond, self.law.k)
        hit = zeros(beyond.shape, like=beyond)
        for token in range(len(hit)):
            drafted = (self._tuples == token).sum(axis=1)
            for count in range(1, self.law.k + 1):
                chance = self._masses[drafted == count].sum()
                hit[token] += chance * (1 - power(1 - beyond[token], count))
        return hit
