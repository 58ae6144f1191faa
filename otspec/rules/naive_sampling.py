"""Draws from the target, looked up among the drafts (MCSD, sec. 4.5; Theory, 13)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, over_one_denominator, zeros
from otspec.chance import Chance
from otspec.coupling import match, matches
from otspec.distributions import Distribution
from otspec.drafts import SingleDraftLaw, TopK
from otspec.drafts.single import likeliest
from otspec.rules.base.counts import at_least_once, drafted_counts, over
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import CountedLaw


@dataclass(frozen=True, eq=False)
class NaiveSampling(PairRule):
    """Draw from the target; accept when one of the k i.i.d. drafts happens to equal it.

    Law: the output is distributed as the target.
    Source: MCSD, sec. 4.5 (MCNS). Parameters and errors: :class:`otspec.rules.PairRule`.

    Examples
    --------
    >>> NaiveSampling(["1/2", "1/2"], ["1/4", "3/4"], k=2).acceptance()
    Fraction(3, 4)
    """

    name: ClassVar[str] = "naive-sampling"
    title: ClassVar[str] = "naive sampling"
    nested: ClassVar[bool] = True
    best_for_one: ClassVar[bool] = False
    independent: ClassVar[bool] = True

    def _by_token(self) -> Array:
        """Return q(y) (1 − (1 − p(y))^k), shape (n,)."""
        return self.target * at_least_once(self.draft, self.k)

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output, binomially."""
        draft, unit = over_one_denominator(self.draft)
        counts = self.target * over(drafted_counts(self, draft, unit), unit**self.k)
        return CountedLaw(counts[1:], counts[0])

    def _by_position(self) -> Array:
        """Return q(y) (1 − p(y))^{i−1} p(y) for draft i, shape (k, n)."""
        return np.array(list(self._first()))

    def _first(self) -> Iterator[Array]:
        """Yield for each draft how likely each token is the output and comes first there."""
        first: Array = self.target * self.draft
        for _ in range(self.k):
            yield first
            first = first * (1 - self.draft)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return match(self.target, drafts, chance)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        return matches(self.target, drafts)


@dataclass(frozen=True, eq=False)
class TargetOnly(NaiveSampling):
    """Draw from the target; accept when one of the draft's k likeliest tokens happens to equal it.

    Law: the output is distributed as the target, whatever the drafts are. They are certain, so that
    every lossless rule accepts as much: the target's mass on them.
    Source: how serving stacks verify trees of likeliest tokens, as those of EAGLE-2. Parameters and
    errors: :class:`otspec.rules.PairRule`.
    """

    name: ClassVar[str] = "target-only"
    title: ClassVar[str] = "target-only verification"
    nested: ClassVar[bool] = True
    law_class: ClassVar[type[SingleDraftLaw]] = TopK

    def _by_token(self) -> Array:
        """Return the target on the drafts and 0 off them, shape (n,)."""
        accepted = zeros(len(self.target), like=self.target)
        drafts = likeliest(self.draft, self.k)
        accepted[drafts] = self.target[drafts]
        return accepted

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output: one, if any is."""
        accepted = zeros((self.k, len(self.target)), like=self.target)
        accepted[0] = self._by_token()
        return CountedLaw(accepted, self.target - accepted[0])

    def _by_position(self) -> Array:
        """Return the target's mass of each draft at that draft, shape (k, n)."""
        by_draft = zeros((self.k, len(self.target)), like=self.target)
        drafts = likeliest(self.draft, self.k)
        by_draft[np.arange(self.k), drafts] = self.target[drafts]
        return by_draft
