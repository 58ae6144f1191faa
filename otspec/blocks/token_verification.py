"""Token-by-token verification of one draft (Theory, 7)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, positive_part
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.chance import Chance
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
