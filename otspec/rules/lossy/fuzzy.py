"""Fuzzy speculative decoding: all drafts where the two models hardly differ (Holsman et al.)."""

from dataclasses import dataclass, field
from typing import ClassVar

from otspec._base.arguments import as_real
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.base import AgainstAnother, jensen_shannon


@dataclass(frozen=True, eq=False)
class FuzzyVerification(AgainstAnother):
    """Accept every draft if draft and target diverge by less than a threshold, else couple them.

    Law: the output is distributed as the draft or as the target: at one position the rule has only
    the two ends of the frontier. The divergence is Jensen and Shannon's in nats, from 0 to ln 2.
    ``threshold``: from 0, which is maximal coupling.
    Source: Holsman, Huang and Dhingra (arXiv 2502.20704), in the form that falls back to lossless
    verification, as Xia, Ribar and Balança (arXiv 2607.08690) compare it. Parameters and errors:
    :class:`LossyRule`.

    Examples
    --------
    >>> pair = ["1/2", "1/2"], ["1/4", "3/4"]
    >>> [FuzzyVerification(*pair, threshold=least).acceptance() for least in (0.01, 0.1)]
    [Fraction(3, 4), Fraction(1, 1)]
    """

    name: ClassVar[str] = "fuzzy"
    title: ClassVar[str] = "fuzzy verification"
    source: ClassVar[str] = "Holsman et al."

    threshold: float = field(default=0.3, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        self._hold(threshold=float(as_real(self.threshold, "threshold", 0)))

    @cached_property
    def divergence(self) -> float:
        """Between draft and target, in nats."""
        return jensen_shannon(self.draft, self.target)

    @cached_property
    def aim(self) -> Distribution:
        """The draft or the target, shape (n,)."""
        return self.draft if self.divergence < self.threshold else self.target
