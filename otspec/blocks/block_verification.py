"""Verification of one drafted block: token by token, and as a block (Theory, 7, 9 and 19)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, positive_part
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution, normalized


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

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Accept the drafts one after the other, until one is rejected."""
        for node, token in enumerate(drafts, start=ROOT):
            # X_i is accepted with probability min(1, M_b(X_i | X^{i−1})/M_s(X_i | X^{i−1})).
            wanted, offered = drafts.target(node), drafts.draft(node)
            if not chance.accept(wanted[token], offered[token]):
                # Y ~ p_res ∝ (M_b(· | X^τ) − M_s(· | X^τ))₊ stands in its place.
                return node, self.residual(node, wanted, offered)
        return len(drafts) - 1

    def residual(
        self,
        node: int,  # noqa: ARG002 # for faults, see otspec.conformance.faults
        wanted: Distribution,
        offered: Distribution,
    ) -> Distribution:
        """Return what is drawn from after a rejection."""
        return normalized(positive_part(wanted - offered), wanted)


class LastToFirst:
    """The program and formulas of rules that verify from the last draft back."""

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Try the whole block first, then the lengths below it, the longest first."""
        weights: list[Any] = [1]  # p_0, …, p_L
        for node, token in enumerate(drafts, start=ROOT):
            wanted, offered = drafts.target(node)[token], drafts.draft(node)[token]
            weights.append(self.weight(weights[-1], wanted, offered))
        node = len(drafts) - 1
        if self.keeps(node, self.last_weight(drafts, weights[-1]), chance):
            return node
        while True:
            node -= 1
            # Length i, the text up to this node, is allowed with probability h_i. The correction is
            # drawn ∝ (p_i M_b(· | X^i) − M_s(· | X^i))₊.
            weight = weights[node + 1]
            total, row = self.left_over(node, weight, drafts.target(node), drafts.draft(node))
            if self.keeps(node, self.allowed(total, weight), chance):
                return node, row

    def last_weight(self, drafts: DraftedTree, weight: Any) -> Any:  # noqa: ARG002
        """Return the probability with which the whole block is kept: p_L."""
        return weight

    def weight(self, above: Any, wanted: Any, offered: Any) -> Any:
        """Return p_i = min(1, p_{i−1} M_b/M_s) of a token, from p_{i−1}."""
        return acceptance_chance(above * wanted, offered)

    def left_over(
        self,
        node: int,  # noqa: ARG002 # for faults
        weight: Any,
        wanted: Distribution,
        offered: Distribution,
    ) -> tuple[Any, Distribution]:
        """Return S = Σ_x (p_i M_b(x) − M_s(x))₊ at a node of weight p_i, and its terms over S."""
        residual = positive_part(weight * wanted - offered)
        return residual.sum(), normalized(residual, wanted)

    def allowed(self, total: Any, weight: Any) -> Any:
        """Return h_i = S/(S + 1 − p_i); 0/0 counts as 1."""
        whole = total + (1 - weight)
        return 1 if whole == 0 else acceptance_chance(total, whole)

    def keeps(self, node: int, weight: Any, chance: Chance) -> bool:
        """Return whether the text up to a node is kept: always if nothing is drafted in it."""
        return node == ROOT or chance.accept(weight)


@register
@dataclass(frozen=True, eq=False)
class BlockVerification(LastToFirst, SingleDraftRule):
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
