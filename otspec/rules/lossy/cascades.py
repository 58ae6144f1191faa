"""Speculative cascades that defer a position, or a token, to the target (Narasimhan et al.)."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Number, zeros
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.base import LARGEST, AgainstAnother, between, total_variation


@dataclass(frozen=True, eq=False)
class CascadeByPosition(AgainstAnother):
    """Defer to the target, without loss, if max p < max q − α TV(p, q); else accept every draft.

    Law: the output is distributed as the draft or as the target: at one position the rule has only
    the two ends of the frontier. ``alpha``: what deferring costs; more accepts more drafts.
    Source: Narasimhan et al., "Faster cascades via speculative decoding" (arXiv 2405.19261), the
    plug-in estimate OPT of the best deferral, eq. 10. Parameters and errors: :class:`LossyRule`.

    Examples
    --------
    >>> pair = ["1/2", "1/2"], ["1/4", "3/4"]
    >>> [CascadeByPosition(*pair, alpha=cost).acceptance() for cost in ("1/2", "3/2")]
    [Fraction(3, 4), Fraction(1, 1)]
    """

    name: ClassVar[str] = "cascade-by-position"
    title: ClassVar[str] = "cascade by position"
    source: ClassVar[str] = "Narasimhan et al., eq. 10"

    alpha: Number = field(
        default=Fraction(1, 20), kw_only=True, metadata=between(-LARGEST, LARGEST)
    )

    @property
    def defers(self) -> bool:
        """Whether the target decides."""
        cost = self.alpha * total_variation(self.draft, self.target)
        return bool(self.draft.max() < self.target.max() - cost)

    @cached_property
    def aim(self) -> Distribution:
        """The draft or the target, shape (n,)."""
        return self.target if self.defers else self.draft


@dataclass(frozen=True, eq=False)
class CascadeByToken(AgainstAnother):
    """Couple the draft with itself on the target's top tokens, and the target for the rest.

    Law: the output, and what is verified against, is p on T = {q ≥ (1 − α) max q}, plus p(off T)
    times q. It exceeds both p and q on the tokens of T where p ≥ q, which costs more than the
    frontier asks for. ``alpha``: from 0 (trust the likeliest token) to 1 (accept every draft).
    Source: Narasimhan et al., "Faster cascades via speculative decoding" (arXiv 2405.19261), the
    token-specific rule of the top tokens (TokenV3). Parameters and errors: :class:`LossyRule`.

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
