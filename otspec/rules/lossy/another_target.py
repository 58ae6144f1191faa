"""Verification against another law than the target: a mixture, the draft, or parts of it."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base import Number, cached_property, zeros
from otspec.distributions import Distribution
from otspec.rules.lossy import base
from otspec.rules.lossy.base import LARGEST, AgainstAnother


@dataclass(frozen=True, eq=False)
class InterpolatedVerification(AgainstAnother):
    """Couple the draft maximally with w p + (1 − w) q.

    Law: the output is that mixture, which lies between draft and target at every token, so that no
    rule with its total variation accepts more.
    Source: a baseline in the code of Hao and Mou (arXiv 2604.04987); transformers'
    ``assistant_ensemble_weight`` is 1 − w. Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    weight : number
        w, from 0, which is maximal coupling, to 1, which accepts every draft.

    Examples
    --------
    >>> rule = InterpolatedVerification(["1/2", "1/2"], ["1/4", "3/4"], weight="1/2")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(7, 8), [Fraction(3, 8), Fraction(5, 8)])
    """

    name: ClassVar[str] = "interpolated"
    title: ClassVar[str] = "interpolated target"
    source: ClassVar[str] = "transformers; Hao and Mou"

    weight: Number = field(default=Fraction(1, 2), kw_only=True, metadata=base.between(0, 1))

    @cached_property
    def aim(self) -> Distribution:
        """The mixture, shape (n,)."""
        return self.weight * self.draft + (1 - self.weight) * self.target


@dataclass(frozen=True, eq=False)
class FuzzyVerification(AgainstAnother):
    """Accept every draft if draft and target diverge by less than a threshold, else couple them.

    Law: the output is distributed as the draft or as the target. The divergence is Jensen and
    Shannon's, in nats: a float, from 0 to ln 2. At one position the rule has no point between the
    two ends of the frontier.
    Source: Holsman, Huang and Dhingra (arXiv 2502.20704), in the form that falls back to lossless
    verification, as Xia, Ribar and Balança (arXiv 2607.08690) compare it. Parameters and errors:
    :class:`LossyRule`.

    Parameters
    ----------
    threshold : float
        From 0, which is maximal coupling.

    Examples
    --------
    >>> pair = ["1/2", "1/2"], ["1/4", "3/4"]
    >>> [FuzzyVerification(*pair, threshold=least).acceptance() for least in (0.01, 0.1)]
    [Fraction(3, 4), Fraction(1, 1)]
    """

    name: ClassVar[str] = "fuzzy"
    title: ClassVar[str] = "fuzzy verification"
    source: ClassVar[str] = "Holsman et al."

    threshold: float = field(default=0.3, kw_only=True, metadata=base.FROM_ZERO)

    @cached_property
    def divergence(self) -> float:
        """Between draft and target, in nats."""
        return base.jensen_shannon(self.draft, self.target)

    @cached_property
    def aim(self) -> Distribution:
        """The draft or the target, shape (n,)."""
        return self.draft if self.divergence < self.threshold else self.target


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
        default=Fraction(1, 20), kw_only=True, metadata=base.between(-LARGEST, LARGEST)
    )

    @property
    def defers(self) -> bool:
        """Whether the target decides."""
        cost = self.alpha * base.total_variation(self.draft, self.target)
        return bool(self.draft.max() < self.target.max() - cost)

    @cached_property
    def aim(self) -> Distribution:
        """The draft or the target, shape (n,)."""
        return self.target if self.defers else self.draft


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

    alpha: Number = field(default=Fraction(3, 10), kw_only=True, metadata=base.between(0, 1))

    @cached_property
    def aim(self) -> Distribution:
        """The draft on the top tokens, plus the target times what is off them, shape (n,)."""
        top = self.target >= (1 - self.alpha) * self.target.max()
        kept = zeros(len(self.draft), like=self.draft)
        kept[top] = self.draft[top]
        return kept + self.draft[~top].sum() * self.target
