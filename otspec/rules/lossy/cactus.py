"""Cactus: a draft gets what a budget of divergence allows it (Hao and Mou)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec._base import Array, Number, cached_property, is_exact, positive_part, prefix_sums, zeros
from otspec.chance import Chance
from otspec.distributions import Distribution, complement, normalized
from otspec.ratios import order, target_to_draft
from otspec.rules.lossy.base import LARGEST, LossyRule, between


@dataclass(frozen=True, eq=False)
class Cactus(LossyRule):
    """Raise the target at the draft x to γ(x), and verify x against the law that this makes.

    γ = min(1, q + √(2 δ q (1 − q))); the law h has γ(x) at x and q (1 − γ(x))/(1 − q(x)) elsewhere.
    Accept x with probability min(1, γ(x)/p(x)), else draw from (h − p)₊. The law h depends on the
    draft, so that what the output is distributed as is none of these laws.
    Law: with c(x) = (1 − γ(x))/(1 − q(x)) the output is min(p, γ) + Σ_x (p − γ)₊(x) (c(x) q − p)₊ /
    Σ (c(x) q − p)₊: one sort. The root is a float, which exact distributions take as the number
    that it is.
    Source: Hao and Mou, "Constrained acceptance speculative sampling" (arXiv 2604.04987), and its
    code. Parameters and errors: :class:`LossyRule`; ``k`` is 1.

    Parameters
    ----------
    delta : number
        δ, from 0, which is maximal coupling.

    Examples
    --------
    >>> rule = Cactus(["9/10", "1/10"], ["1/2", "1/2"], delta="1/8")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(17, 20), [Fraction(3, 4), Fraction(1, 4)])
    """

    name: ClassVar[str] = "cactus"
    title: ClassVar[str] = "Cactus"
    source: ClassVar[str] = "Hao and Mou"
    only_k: ClassVar[int | None] = 1

    k: int = 1
    delta: Number = field(default=Fraction(1, 4), kw_only=True, metadata=between(0, LARGEST))

    @cached_property
    def raised(self) -> Array:
        """γ, shape (n,)."""
        variance = self.target * complement(self.target)
        bonus = (math.sqrt(2 * float(self.delta)) * np.sqrt(variance.astype(float))).tolist()
        raised = self.target.copy()
        if is_exact(raised):
            raised += [type(mass)(more) for mass, more in zip(raised, bonus, strict=True)]
        else:
            raised += bonus
        one = 1 - zeros(1, like=self.target)
        return np.minimum(raised, one)

    def _by_token(self) -> Array:
        """Return min(p, γ), shape (n,); a residual token is never the draft."""
        return np.minimum(self.draft, self.raised)

    @property
    def _scales(self) -> Array:
        """c, shape (n,); only where a draft may be rejected."""
        left = complement(self.target)
        scales = zeros(len(left), like=left)
        rejected = self.raised < self.draft
        scales[rejected] = (1 - self.raised[rejected]) / left[rejected]
        if not is_exact(scales):  # of a nearly certain token 1 − γ has few digits
            scales = np.minimum(scales, 1.0)
        return scales

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        # What is drawn instead of a draft x is q and p at the tokens with p/q < c(x), times factors
        # of x: sums over x by the order of c serve all tokens.
        output = self._by_token()
        rejected = np.flatnonzero(self.raised < self.draft)
        if not len(rejected):
            return output
        tokens = order(self.target, self.draft)
        ratios = target_to_draft(self.target, self.draft)
        scales = self._scales[rejected]
        rejected, scales = (values[np.argsort(scales)] for values in (rejected, scales))
        missing = (self.draft - self.raised)[rejected]
        below = np.searchsorted(ratios[tokens], scales)
        totals = (
            scales * prefix_sums(self.target[tokens])[below]
            - prefix_sums(self.draft[tokens])[below]
        )
        shares = missing / np.maximum(totals, missing)  # never more: the rest of h is that much
        above = len(scales) - np.searchsorted(scales, ratios, side="right")
        of_target = prefix_sums((shares * scales)[::-1])[above]
        of_draft = prefix_sums(shares[::-1])[above]
        output += positive_part(self.target * of_target - self.draft * of_draft)
        return output

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        (token,) = drafts
        if chance.accept(self.raised[token], self.draft[token]):
            return 0
        raised = self.target * self._scales[token]
        raised[token] = self.raised[token]
        return normalized(positive_part(raised - self.draft), self.target)
