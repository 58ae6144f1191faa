"""Block verification as it was published (Theory, 9 and 19): one token is corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, Number, positive_part
from otspec.blocks.single_draft import SingleDraftRule, last_kept, register
from otspec.coupling import acceptance_chance
from otspec.distributions import normalised
from otspec.models.base import Model, Prefix
from otspec.models.corrected import OneCorrectedToken


@register
@dataclass(frozen=True, eq=False)
class BlockVerification(SingleDraftRule):
    """Keep the longest beginning that a uniform number of its own allows; correct one token.

    With p_0 = 1 and p_i = min(1, p_{i−1} M_b/M_s), length i < L is allowed with probability
    h_i = Z_i/(Z_i + 1 − p_i), where Z_i = Σ_x (p_i M_b(x | x^i) − M_s(x | x^i))₊ and 0/0 = 1, and
    L with probability p_L. The next token is drawn ∝ (p_τ M_b − M_s)₊.

    Law: what is kept and its continuation is the target's text. E[τ] = Σ_s a(s) over texts of 1 to
    L tokens, a(∅) = 1, a(sx) = min(a(s) M_b(x | s), M_s(sx)): the most of all rules after whose
    corrected token the plain target follows. Source: the published version of Block's alg. 3
    (Theory, 9). Parameters and errors: :class:`otspec.blocks.single_draft.SingleDraftRule`.
    """

    name: ClassVar[str] = "block-published"
    batch: ClassVar[str | None] = "block_verification"
    title: ClassVar[str] = "block verification (published)"
    renews: ClassVar[bool] = True

    @staticmethod
    def step(wanted: Any, drafted: Any, draft: Array, target: Array) -> tuple[Array, Array]:
        """Go on by one token in the formula of E[τ]."""
        return np.minimum(wanted * target, drafted * draft), drafted * draft

    def _kept(self, block: Prefix) -> Array:
        weights = self._weights(block)
        chances = [
            _allowed(self._residual(block[:depth], weight).sum(), 1 - weight)
            for depth, weight in enumerate(weights[:-1])
        ]
        return last_kept([*chances, self._whole(block, weights[-1])], like=self.target(()))

    def _whole(self, block: Prefix, weight: Number) -> Number:  # noqa: ARG002 # of its text
        """Return the probability that the whole block is kept."""
        return weight

    def _weights(self, head: Prefix) -> list[Any]:
        """Return p_0, …, p_i of a beginning of a block."""
        weights: list[Any] = [self.target.number(1)]
        for drafted, wanted in self._pairs(head):
            weights.append(acceptance_chance(weights[-1] * wanted, drafted))
        return weights

    def _residual(self, head: Prefix, weight: Number) -> Array:
        return positive_part(weight * self.target(head) - self.draft(head))

    def _corrected(self, head: Prefix) -> Model:
        residual = self._residual(head, self._weights(head)[-1])
        row = normalised(residual, self.target(head))
        return OneCorrectedToken(self.target.after(head), row)


def _allowed(residual: Any, rest: Any) -> Any:
    total = residual + rest
    return residual / total if total > 0 else total * 0 + 1
