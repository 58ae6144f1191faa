"""Target-only verification (Theory, 13): a draw from the target, looked up among the drafts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, zeros
from otspec.drafts import SingleDraftLaw, TopK
from otspec.drafts.single import likeliest
from otspec.rules.base.rule import CountedLaw
from otspec.rules.naive_sampling import NaiveSampling


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
