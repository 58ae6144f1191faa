"""Target-only verification with thresholds, for several drafts (SGLang)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Array, Number, as_number
from otspec._base.frozen import cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution, normalized
from otspec.drafts import SingleDraftLaw, TopK
from otspec.drafts.single import likeliest
from otspec.rules.lossy.base import LossyRule, between


@dataclass(frozen=True, eq=False)
class ThresholdedTargetOnly(LossyRule):
    """Accept the first draft whose target mass, or that of all drafts so far, reaches a threshold.

    One uniform number u serves the drafts in turn: draft i is accepted if q(x_i) ≥ ``single``, or
    if q(x_1) + … + q(x_i) is at least u times ``accumulated``; after the last the output is drawn
    from the target off the drafts. With both thresholds 1, the engine's defaults, that is
    target-only verification, and lossless. Both are from 0 to 1, ``accumulated`` above 0.
    Law: the drafts are the draft's k likeliest tokens, so that the output is distributed as the
    kernel is at these. Source: SGLang's speculative_accept_threshold_single and
    speculative_accept_threshold_acc, as its kernel has them for the children of a node. Parameters
    and errors: :class:`LossyRule`; also fewer than k tokens of positive probability.

    Examples
    --------
    >>> draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> rule = ThresholdedTargetOnly(draft, target, 2, single=1, accumulated="4/5")
    >>> rule.acceptance(), [str(mass) for mass in rule.declared_output]
    (Fraction(7, 8), ['1/8', '3/4', '1/8'])
    """

    name: ClassVar[str] = "thresholded-target-only"
    title: ClassVar[str] = "target-only with thresholds"
    source: ClassVar[str] = "SGLang"
    law_class: ClassVar[type[SingleDraftLaw]] = TopK

    single: Number = field(default=Fraction(1, 2), kw_only=True, metadata=between(0, 1))
    accumulated: Number = field(
        default=Fraction(1, 2), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.kernel(likeliest(self.draft, self.k).tolist())

    def _by_token(self) -> Array:
        """Return what is accepted of each draft, shape (n,); none is drawn after the last."""
        joint = self.joint_kernel(likeliest(self.draft, self.k).tolist())
        accepted: Array = joint[:-1].sum(axis=0)
        return accepted

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        one = as_number(1, like=self.target)
        mass = passed = one - one  # of the drafts so far; the numbers u that accept none of them
        for position, token in enumerate(drafts):
            mass = mass + self.target[token]
            sure = self.target[token] >= self.single or mass >= self.accumulated
            least = one if sure else max(passed, mass / self.accumulated)
            if chance.accept(least - passed, one - passed):
                return position
            passed = least
        others = self.target.copy()
        others[list(drafts)] *= 0
        return normalized(others, self.target)
