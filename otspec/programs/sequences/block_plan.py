"""Couplings of what is drafted with the target's blocks (Theory, 8; Block, def. 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec._base.digits import plain
from otspec._base.frozen import Frozen
from otspec.models.base import LanguageModel
from otspec.programs.levels import Levels, place_of, summed_below, text_at, text_masses
from otspec.programs.prices import PriceBound
from otspec.programs.sequences.drafted import DraftedSets
from otspec.programs.sequences.path_plan import PathPlan
from otspec.solvers.solution import SOLVER_TOLERANCE


@dataclass(frozen=True, eq=False)
class BlockPlan(Frozen):
    """A coupling π of drafted sets of sequences with the target's blocks of L tokens.

    Kept is the longest beginning of the block that one of the sequences has. Source: Block,
    def. 1 and eqs. 3-5 (there with one sequence).

    Parameters
    ----------
    drafted : DraftedSets
    target : callable
        Language model: prefix → distribution.
    coupled : ndarray, shape (d, n**L)
        π(D, y): the mass of each set and each block, in lexicographic order.
    duals : ndarray, shape (n**L,)
        What the optimum gains by a block that is more likely: any numbers prove a bound.
    """

    drafted: DraftedSets
    target: LanguageModel
    coupled: Array
    duals: Array

    @property
    def expected(self) -> Number:
        """E[tokens kept]."""
        return as_number((self.coupled * self._kept()).sum(), like=self.coupled)

    def check(self) -> None:
        """Check both marginals.

        Raises
        ------
        ValueError
            A negative mass or a marginal that is off: at all in exact arithmetic, in floats by
            more than ten times the solvers' tolerance.
        """
        slack = 0.0 if is_exact(self.coupled) else 10 * SOLVER_TOLERANCE
        lowest = min(self.coupled.min(), 0)
        if -lowest > slack:
            raise ValueError(f"the coupling has a negative mass, {plain(lowest)}")
        for name, found, wanted in (
            ("draft", self.coupled.sum(axis=1), self.drafted.chances),
            ("target", self.coupled.sum(axis=0), self._wanted()[-1]),
        ):
            worst = np.abs(found - wanted).max()
            if worst > slack:
                raise ValueError(f"the coupling's {name} marginal is off by {plain(worst)}")

    def bound(self) -> PriceBound:
        """Return the bound that the duals prove.

        The price of a text s is len(s) less the smallest dual of the blocks that begin with s.
        """
        n, smallest = self.drafted.n, [self.duals]
        for _ in range(self.drafted.depth):
            smallest.append(smallest[-1].reshape(-1, n).min(axis=1))
        prices = tuple(length - least for length, least in enumerate(reversed(smallest)))
        return PriceBound.of(self.drafted, self.target, "block", prices)

    def paths(self) -> PathPlan:
        """Return what the coupling selects and keeps of each set.

        A sequence is selected that has as much of the block as any of the set.
        """
        drafted, n, length = self.drafted, self.drafted.n, self.drafted.depth
        selected = zeros(len(drafted.pairs[0]), like=self.coupled)
        ends = [zeros(n**depth, like=self.coupled) for depth in range(length + 1)]
        masses, kept = positive_part(self.coupled), self._kept()
        for number, sequences in enumerate(drafted.candidates):
            first = int(np.searchsorted(drafted.pairs[0], number))
            for place in np.flatnonzero(masses[number] > 0).tolist():
                head = text_at(place, length, n)[: kept[number, place]]
                choice = next(
                    i for i, each in enumerate(sorted(sequences)) if each[: len(head)] == head
                )
                selected[first + choice] += masses[number, place]
                ends[len(head)][place_of(head, n)] += masses[number, place]
        return PathPlan.of(self.bound(), selected, summed_below(tuple(ends), n))

    def _wanted(self) -> Levels:
        return text_masses(self.target, self.drafted.depth, "target")

    def _kept(self) -> Array:
        """Return how many tokens each set keeps of each block."""
        n, length = self.drafted.n, self.drafted.depth
        kept = np.zeros(self.coupled.shape, dtype=np.intp)
        for number, texts in enumerate(self.drafted.sets):
            for text in texts:
                beyond = n ** (length - len(text))
                blocks = slice(place_of(text, n) * beyond, (place_of(text, n) + 1) * beyond)
                kept[number, blocks] = np.maximum(kept[number, blocks], len(text))
        return kept
