"""Hierarchical Speculative Decoding as its public code has it, which is not lossless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

from otspec._base.arithmetic import Array, Number
from otspec.blocks.base import enumerated_expected
from otspec.blocks.block_verification import BlockVerification
from otspec.blocks.block_verification_preprint import longer_ratio
from otspec.models.base import BEGINNING, Prefix, as_beginnings


@dataclass(frozen=True, eq=False)
class HierarchicalVerification(BlockVerification):
    """Published block verification, but for the whole block the ratio is not capped on the way.

    The whole block is kept with probability min(1, M_b(X^L)/M_s(X^L)), all else is as in
    :class:`otspec.blocks.BlockVerification`, whose p_L is no more than that. With p_L in its
    place, the one correction that makes the rule lossless, it is that rule.

    Law: not the target's, from L = 2 on. The smallest case: a fair coin for a draft, a target of
    (1/4, 3/4) and L = 2. Of 23/16 tokens kept (published block verification: 11/8) the text 10 has
    the probability 1/4 and 11 has 1/2, where the target has 3/16 and 9/16: a total variation of
    1/16. :func:`otspec.auditing.audit_blocks` reports it; :data:`otspec.blocks.BLOCK_RULES`, which
    are lossless, are without it. Source: the single-draft path of the public code of arXiv
    2601.05724. Parameters and errors: :class:`otspec.blocks.single_draft.SingleDraftRule`.

    Examples
    --------
    >>> from otspec.auditing import audit_blocks
    >>> from otspec.blocks import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> report = audit_blocks(HierarchicalVerification(draft, target, 2))
    >>> report.lossless, report.expected, report.total_variation
    (False, Fraction(23, 16), Fraction(1, 16))
    """

    name: ClassVar[str] = "hierarchical"
    batch: ClassVar[str | None] = None
    title: ClassVar[str] = "hierarchical speculative decoding (public code, lossy)"

    @staticmethod
    def step(wanted: Any, drafted: Any, draft: Array, target: Array) -> NoReturn:  # noqa: ARG004
        """Refuse: how much is kept does not follow token by token.

        Raises
        ------
        ValueError
            Always; with what to ask instead.
        """
        raise ValueError(
            "HierarchicalVerification has no formula of E[τ] for each token: use expected(), which "
            "enumerates blocks, or the law kept() of a block"
        )

    def expected_up_to(self, beginnings: Mapping[Prefix, Number] = BEGINNING) -> list[Number]:
        """Return E[τ] for blocks of 1, …, L tokens, by enumerating them.

        Raises
        ------
        ValueError
            No law of beginnings.
        """
        law = as_beginnings(beginnings, self.target)
        found = []
        for length in range(1, self.length + 1):
            total: Any = self.target.number(0)
            for text, mass in law.items():
                after = replace(
                    self,
                    draft=self.draft.after(text),
                    target=self.target.after(text),
                    length=length,
                )
                total += mass * enumerated_expected(after)
            found.append(self.target.number(total))
        return found

    def _whole(self, block: Prefix, capped: Number) -> Number:  # noqa: ARG002
        ratio: Any = self.target.number(1)
        for drafted, wanted in self._pairs(block):
            ratio = longer_ratio(ratio, wanted, drafted)
        chance: Number = min(ratio, self.target.number(1))
        return chance
