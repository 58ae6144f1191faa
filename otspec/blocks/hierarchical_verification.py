"""Hierarchical Speculative Decoding as its public code has it, which is not lossless."""

from dataclasses import dataclass
from typing import Any, ClassVar

from otspec.blocks.block_verification import LastToFirst
from otspec.blocks.block_verification_preprint import longer_ratio
from otspec.blocks.drafted_tree import ROOT, DraftedTree
from otspec.blocks.single_draft import SingleDraftRule


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
