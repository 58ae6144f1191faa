"""Block verification as it was published (Theory, 9 and 19): one token is corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, Number, positive_part
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import normalised


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

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Try the whole block first, then the lengths below it, the longest first."""
        weights: list[Any] = [self.target.number(1)]
        for node, token in enumerate(drafts, start=ROOT):
            # p_i = min(1, p_{i−1} M_b(X_i | X^{i−1})/M_s(X_i | X^{i−1}))
            wanted, offered = drafts.target(node)[token], drafts.draft(node)[token]
            weights.append(acceptance_chance(weights[-1] * wanted, offered))
        node = len(drafts) - 1
        if chance.accept(self._whole(drafts, weights[-1])):
            return node
        while True:
            node -= 1
            # Length i, the text up to this node, is allowed with probability
            # h_i = Z_i/(Z_i + 1 − p_i); the correction is drawn ∝ (p_i M_b − M_s)₊, of sum Z_i.
            weight, wanted = weights[node + 1], drafts.target(node)
            residual = positive_part(weight * wanted - drafts.draft(node))
            total: Any = residual.sum()
            # Where both are 0 the length is allowed; so is length 0, up to rounding.
            none_left = node == ROOT or total + (1 - weight) == 0
            if none_left or chance.accept(total, total + (1 - weight)):
                return node, normalised(residual, wanted)

    def _whole(self, drafts: DraftedTree, weight: Number) -> Number:  # noqa: ARG002 # of its text
        """Return the probability that the whole block is kept."""
        return weight
