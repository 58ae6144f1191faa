"""Token-by-token verification of one draft (Theory, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, positive_part, zeros
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.coupling import acceptance_chance
from otspec.distributions import normalised
from otspec.models.base import Model, Prefix
from otspec.models.corrected import OneCorrectedToken


@register
@dataclass(frozen=True, eq=False)
class TokenVerification(SingleDraftRule):
    """Accept token i with probability min(1, M_b/M_s) until one is rejected, and correct that one.

    Law: what is kept and its continuation is the target's text. E[τ] = Σ_{ℓ ≤ L} Σ_{x^ℓ} Π_{i ≤ ℓ}
    min(M_s(x_i | x^{i−1}), M_b(x_i | x^{i−1})). Source: Block, alg. 2 and thm. 2. Parameters and
    errors: :class:`otspec.blocks.single_draft.SingleDraftRule`.
    """

    name: ClassVar[str] = "token"
    batch: ClassVar[str | None] = "token_verification"
    title: ClassVar[str] = "token verification"
    renews: ClassVar[bool] = True

    @staticmethod
    def step(
        wanted: Any,
        drafted: Any,  # noqa: ARG004
        draft: Array,
        target: Array,
    ) -> tuple[Array, Array]:
        """Go on by one token in the formula of E[τ]; the two masses are equal."""
        kept: Array = wanted * np.minimum(draft, target)
        return kept, kept

    def _kept(self, block: Prefix) -> Array:
        kept = zeros(len(block) + 1, like=self.target(()))
        left: Any = self.target.number(1)
        for depth, (drafted, wanted) in enumerate(self._pairs(block)):
            chance = acceptance_chance(wanted, drafted)
            kept[depth] = left * (1 - chance)
            left = left * chance
        kept[len(block)] = left
        return kept

    def _corrected(self, head: Prefix) -> Model:
        target = self.target(head)
        residual = positive_part(target - self.draft(head))
        return OneCorrectedToken(self.target.after(head), normalised(residual, target))
