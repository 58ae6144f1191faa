"""Block verification as it was published (Theory, 9 and 19): one token is corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, positive_part
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
        weights = capped_ratios(drafts)
        # The whole block is kept with probability p_L.
        if chance.accept(weights[-1]):
            return len(drafts) - 1
        return kept_beginning(drafts, weights, chance)


def capped_ratios(drafts: DraftedTree) -> list[Any]:
    """Return p_0 = 1, …, p_L of a block: p_i = min(1, p_{i−1} M_b(X_i | X^{i−1})/M_s(same))."""
    weights: list[Any] = [1]
    for node, token in enumerate(drafts, start=ROOT):
        wanted, offered = drafts.target(node)[token], drafts.draft(node)[token]
        weights.append(acceptance_chance(weights[-1] * wanted, offered))
    return weights


def kept_beginning(drafts: DraftedTree, weights: Sequence[Any], chance: Chance) -> Found:
    """Return how much is kept of a block that is not kept as a whole, and the row after it."""
    node = len(drafts) - 1
    while True:
        node -= 1
        # Length i, the text up to this node, is allowed with probability h_i = Z_i/(Z_i + 1 − p_i).
        # The correction is drawn ∝ (p_i M_b(· | X^i) − M_s(· | X^i))₊, whose sum is Z_i.
        weight, wanted = weights[node + 1], drafts.target(node)
        residual = positive_part(weight * wanted - drafts.draft(node))
        total: Any = residual.sum()
        # 0/0 counts as 1; and so does h_0, which is 1 up to rounding.
        whole = total + (1 - weight)
        if node == ROOT or whole == 0 or chance.accept(total, whole):
            return node, normalised(residual, wanted)
