"""Verification against a mixture of draft and target (Hao and Mou; transformers)."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Number
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.base import AgainstAnother, between


@dataclass(frozen=True, eq=False)
class InterpolatedVerification(AgainstAnother):
    """Couple the draft maximally with w p + (1 − w) q.

    Law: the output is that mixture, which lies between draft and target at every token, so that no
    rule with its total variation accepts more. ``weight``: w, from 0 (maximal coupling) to 1.
    Source: a baseline in the code of Hao and Mou (arXiv 2604.04987); transformers'
    ``assistant_ensemble_weight`` is 1 − w. Parameters and errors: :class:`LossyRule`.

    Examples
    --------
    >>> rule = InterpolatedVerification(["1/2", "1/2"], ["1/4", "3/4"], weight="1/2")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(7, 8), [Fraction(3, 8), Fraction(5, 8)])
    """

    name: ClassVar[str] = "interpolated"
    title: ClassVar[str] = "interpolated target"
    source: ClassVar[str] = "transformers; Hao and Mou"

    weight: Number = field(default=Fraction(1, 2), kw_only=True, metadata=between(0, 1))

    @cached_property
    def aim(self) -> Distribution:
        """The mixture, shape (n,)."""
        aim: Distribution = self.weight * self.draft + (1 - self.weight) * self.target
        return aim
