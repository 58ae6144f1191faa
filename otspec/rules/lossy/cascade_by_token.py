"""Speculative cascades that trust the draft on the target's top tokens (Narasimhan et al.)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Number, zeros
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.against_another import AgainstAnother
from otspec.rules.lossy.base import between


@dataclass(frozen=True, eq=False)
class CascadeByToken(AgainstAnother):
    """Couple the draft with itself on the target's top tokens, and the target for the rest.

    The law to verify against is p on T = {q ≥ (1 − α) max q}, plus p(off T) times q. It exceeds
    both p and q on the tokens of T where p ≥ q, which costs more than the frontier asks for.
    Law: the output is that law.
    Source: Narasimhan et al., "Faster cascades via speculative decoding" (arXiv 2405.19261), the
    token-specific rule of the top tokens (TokenV3). Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    alpha : number
        From 0, where only the likeliest token is trusted, to 1, which accepts every draft.

    Examples
    --------
    >>> rule = CascadeByToken(["1/2", "1/4", "1/4"], ["2/5", "1/2", "1/10"], alpha="1/5")
    >>> rule.acceptance(), [str(mass) for mass in rule.declared_output]
    (Fraction(31, 40), ['3/5', '3/8', '1/40'])
    """

    name: ClassVar[str] = "cascade-by-token"
    title: ClassVar[str] = "cascade by token"
    source: ClassVar[str] = "Narasimhan et al., TokenV3"

    alpha: Number = field(default=Fraction(3, 10), kw_only=True, metadata=between(0, 1))

    @cached_property
    def aim(self) -> Distribution:
        """The draft on the top tokens, plus the target times what is off them, shape (n,)."""
        top = self.target >= (1 - self.alpha) * self.target.max()
        kept = zeros(len(self.draft), like=self.draft)
        kept[top] = self.draft[top]
        aim: Distribution = kept + self.draft[~top].sum() * self.target
        return aim
