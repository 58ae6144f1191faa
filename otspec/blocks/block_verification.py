"""Block verification as it was published (Theory, 9 and 19): one token is corrected."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, positive_part
from otspec.blocks.block_verification_preprint import longer_ratio
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution, normalized


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


@dataclass(frozen=True, eq=False)
class HierarchicalVerification(LastToFirst, SingleDraftRule):
    """Published block verification, but for the whole block the ratio is not capped on the way.

    The whole block is kept with probability min(1, M_b(X^L)/M_s(X^L)), all else is as in
    :class:`otspec.blocks.BlockVerification`. With p_L in its place, which is no more than that, the
    rule would be lossless.

    Law: not the target's, from L = 2 on. The smallest case: a fair coin for a draft, a target of
    (1/4, 3/4) and L = 2. Of 23/16 tokens kept (published block verification: 11/8) the text 10 has
    the probability 1/4 and 11 has 1/2, where the target has 3/16 and 9/16: a total variation of
    1/16, which :func:`otspec.auditing.audit_blocks` reports. Not in the lossless
    :data:`otspec.blocks.BLOCK_RULES`. Source: the single-draft path of the public code of arXiv
    2601.05724. Parameters and errors: :class:`otspec.blocks.single_draft.SingleDraftRule`.

    Examples
    --------
    >>> from otspec.auditing import audit_blocks
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> report = audit_blocks(HierarchicalVerification(draft, target, 2))
    >>> report.lossless, report.expected, report.total_variation
    (False, Fraction(23, 16), Fraction(1, 16))
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "hierarchical speculative decoding (public code, lossy)"
    renews: ClassVar[bool] = True

    def last_weight(self, drafts: DraftedTree, weight: Any) -> Any:  # noqa: ARG002
        """Return the probability of the whole block: min(1, M_b(X^L)/M_s(X^L)) in place of p_L."""
        ratio: Any = 1
        for node, token in enumerate(drafts, start=ROOT):
            ratio = longer_ratio(ratio, drafts.target(node)[token], drafts.draft(node)[token])
        return ratio
