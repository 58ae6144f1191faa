"""Speculative cascades that defer a position to the target, or do not (Narasimhan et al.)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Number
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.against_another import AgainstAnother
from otspec.rules.lossy.base import LARGEST, between
from otspec.rules.lossy.divergences import total_variation


@dataclass(frozen=True, eq=False)
class CascadeByPosition(AgainstAnother):
    """Defer to the target, without loss, if max p < max q − α TV(p, q); else accept every draft.

    Law: the output is distributed as the draft or as the target. At one position the rule has no
    point between the two ends of the frontier.
    Source: Narasimhan et al., "Faster cascades via speculative decoding" (arXiv 2405.19261), the
    plug-in estimate OPT of the best deferral, eq. 10. Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    alpha : number
        What deferring costs; the more, the more drafts are accepted.

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
