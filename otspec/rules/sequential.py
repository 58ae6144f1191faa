"""Rules that try the drafts in turn and draw from a residual if none is accepted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from otspec.arithmetic import Array, Number, as_number, zeros
from otspec.distributions import normalised
from otspec.drafts.contract import draw
from otspec.rules.contract import Rule
from otspec.rules.pair_rule import PairRule


class InTurn(Rule):
    """A rule that tries the drafts in turn and draws from a residual if none is accepted."""

    @abstractmethod
    def _rounds(self, x: Sequence[int]) -> tuple[list[Number], Array]:
        """Return each draft's acceptance probability after the rejections, and the residual.

        The residual is not normalised; where it sums to zero it is never drawn from.
        """

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts: (k + 1, n)."""
        chances, residual = self._rounds(x)
        joint = zeros((self.k + 1, len(self.target)), like=self.target)
        reached = as_number(1, like=self.target)
        for i, (token, chance) in enumerate(zip(x, chances, strict=True)):
            joint[i, token] = reached * chance
            reached = reached * (1 - chance)
        joint[self.k] = reached * normalised(residual, self.target)
        return joint

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for the given drafts, and whether it is one of them."""
        chances, residual = self._rounds(x)
        for token, chance in zip(x, chances, strict=True):
            if rng.random() < chance:
                return token, True
        token = int(draw(normalised(residual, self.target), 1, rng)[0])
        return token, token in x


class SequentialRule(InTurn, PairRule):
    """A rule for drafts of one distribution that tries them in turn."""
