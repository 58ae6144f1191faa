"""Verification of one drafted block: token by token, and as a block (Theory, 7, 8, 9 and 19)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, cached_property, is_exact, positive_part, read_only, remembered
from otspec.blocks.drafted_tree import ROOT, DraftedTree, Found
from otspec.blocks.single_draft import SingleDraftRule, register
from otspec.chance import Chance
from otspec.coupling import acceptance_chance
from otspec.distributions import Distribution, normalized
from otspec.models.base import Derived, Model, Prefix, as_prefix


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


LARGEST = 1e300
"""Where ratios of floats end: infinity times 0 is no number. Such texts are never drafted."""


@register
@dataclass(frozen=True, eq=False)
class BlockVerificationPreprint(SingleDraftRule):
    """Keep the whole block with probability min(1, M_b(X^L)/M_s(X^L)), else what is left over.

    If not the whole, length i = L − 1, then L − 2, … is kept with probability
    min(1, Σ_x (M_b(x^i x) − M_s(x^i x))₊ / Σ_x (M_s(x^i x) − M_b(x^i x))₊). The next L − τ tokens
    are drawn from the residuals ∝ (M_b(x^j x) − M_s(x^j x))₊ of the whole text x^j so far, and
    only then the target follows; so the next block has residuals as its target.

    Law: what is kept and its continuation is the target's text. E[τ] = Σ_{ℓ ≤ L} Σ_{x^ℓ}
    min(M_s(x^ℓ), M_b(x^ℓ)): the most of all couplings of L-blocks. Source: Block, alg. 3 and
    thm. 1, with the kept text in lines 14 and 16, where it is missing. Parameters and errors:
    :class:`otspec.blocks.single_draft.SingleDraftRule`.
    """

    name: ClassVar[str] = "block-preprint"
    batch: ClassVar[str | None] = "block_verification_preprint"
    title: ClassVar[str] = "block verification (preprint)"

    @staticmethod
    def step(wanted: Any, drafted: Any, draft: Array, target: Array) -> tuple[Array, Array]:
        """Go on by one token in the formula of E[τ]."""
        return wanted * target, drafted * draft

    def verify(self, drafts: DraftedTree, chance: Chance) -> Found:
        """Try the whole block first, then the lengths below it, the longest first."""
        ratios: list[Any] = [self.target.number(1)]  # M_b(X^i)/M_s(X^i)
        for node, token in enumerate(drafts, start=ROOT):
            wanted, offered = drafts.target(node)[token], drafts.draft(node)[token]
            ratios.append(longer_ratio(ratios[-1], wanted, offered))
        node = len(drafts) - 1
        # The whole block is kept with probability min(1, M_b(X^L)/M_s(X^L)).
        if chance.accept(ratios[-1]):
            return node
        while True:
            node -= 1
            # M_b(X^i x) − M_s(X^i x) for each token x, over M_s(X^i). Length i is kept with
            # probability min(1, Σ_x (M_b(X^i x) − M_s(X^i x))₊/Σ_x (M_s(X^i x) − M_b(X^i x))₊).
            wanted = drafts.target(node)
            gain = ratios[node + 1] * wanted - drafts.draft(node)
            residual = positive_part(gain)
            if node == ROOT or chance.accept(residual.sum(), positive_part(-gain).sum()):
                return node, normalized(residual, wanted)

    def following(self, kept: Prefix, row: Distribution) -> Model:  # noqa: ARG002 # the first row
        """Return the residuals to the end of the block, and then the target."""
        return self._residuals.after(kept)

    @cached_property
    def _residuals(self) -> "ChainedResiduals":
        return ChainedResiduals(self.draft, self.target, self.length)


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


class ChainedResiduals(Derived):
    """What a block is continued with after a rejection: residuals to its end, then the target.

    Law: after x^j, j < L = ``length``, the next token is drawn ∝ (M_b(x^j x) − M_s(x^j x))₊; x^j
    is what was kept of the block and drawn since. Source: Block, (10).
    """

    def __init__(self, draft: Model, target: Model, length: int, ratio: Any = 1) -> None:
        super().__init__(target)
        self._draft, self._length, self._start = draft, length, ratio

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the residual after a text, or the target where the block has ended."""
        text = as_prefix(prefix, self.n)
        return self._target(text) if len(text) >= self._length else self._row(text)

    @remembered
    def _row(self, text: Prefix) -> Distribution:
        wanted, ratio = self._target(text), self._ratio(text)
        residual = wanted if ratio is None else ratio * wanted - self._draft(text)
        return read_only(normalized(positive_part(residual), wanted))

    def after(self, prefix: Prefix) -> Model:
        """Return what is left of the residuals, or the target."""
        text = as_prefix(prefix, self.n)
        if not text:
            return self
        left = self._length - len(text)
        ratio = self._ratio(text) if left > 0 else None
        if ratio is None:  # the block is over, or the draft model never drafts the text
            return self._target.after(text)
        # A model of its own, so that residuals of residuals end with their blocks.
        return ChainedResiduals(self._draft.after(text), self._target.after(text), left, ratio)

    # The target may be residuals of residuals, which would be computed again and again.
    @cached_property
    def _ratios(self) -> dict[Prefix, Any]:
        return {(): self._start}

    def _ratio(self, text: Prefix) -> Any:
        """Return M_b/M_s of a text, or None if the draft model never drafts it."""
        # A dictionary of its own: `remembered` would take twice the depth of calls.
        if text not in self._ratios:
            head, token = text[:-1], text[-1]
            before, drafted = self._ratio(head), self._draft(head)[token]
            never = before is None or not drafted > 0
            wanted = self._target(head)[token]
            self._ratios[text] = None if never else longer_ratio(before, wanted, drafted)
        return self._ratios[text]


def longer_ratio(ratio: Any, wanted: Any, drafted: Any) -> Any:
    """Return M_b/M_s of a text from that of the text without its last token."""
    if is_exact(np.asarray(wanted)):
        return ratio * wanted / drafted
    with np.errstate(over="ignore"):
        return np.minimum(ratio * wanted / drafted, LARGEST)
