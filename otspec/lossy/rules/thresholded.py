"""Target-only verification with thresholds, for several drafts (SGLang)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from otspec.arithmetic import Array, Number, zeros
from otspec.distributions import Distribution, normalised
from otspec.drafts import SingleDraftLaw, TopK
from otspec.drafts.single import likeliest
from otspec.lossy.rules.contract import LossyRule, between


@dataclass(frozen=True, eq=False)
class ThresholdedTargetOnly(LossyRule):
    """Accept the first draft whose target mass, or that of all drafts so far, reaches a threshold.

    One uniform number u serves the drafts in turn: draft i is accepted if q(x_i) ≥ ``single``, or
    if q(x_1) + … + q(x_i) is at least u times ``accumulated``; after the last the output is drawn
    from the target off the drafts. With both thresholds 1, the engine's defaults, that is
    target-only verification, and lossless.
    Law: the drafts are the draft's k likeliest tokens, so that the output is distributed as the
    kernel is at these. Source: SGLang's speculative_accept_threshold_single and
    speculative_accept_threshold_acc, as its kernel has them for the children of a node. Parameters
    and errors: :class:`LossyRule`; also fewer than k tokens of positive probability.

    Parameters
    ----------
    single, accumulated : number
        From 0 to 1; ``accumulated`` is above 0.

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
    colour: ClassVar[str] = "#999999"
    marker: ClassVar[str] = "*"

    single: Number = field(default=Fraction(1, 2), kw_only=True, metadata=between(0, 1))
    accumulated: Number = field(
        default=Fraction(1, 2), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.kernel(likeliest(self.draft, self.k).tolist())

    def accepted_law(self) -> Array:
        """Return what is accepted of each draft, shape (n,); none is drawn after the last."""
        joint = self.joint_kernel(likeliest(self.draft, self.k).tolist())
        accepted: Array = joint[:-1].sum(axis=0)
        return accepted

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts: (k + 1, n)."""
        joint = zeros((self.k + 1, len(self.target)), like=self.target)
        mass, passed = joint[0, 0], joint[0, 0]  # of the drafts so far; the u that accept none
        for i, token in enumerate(x):
            mass = mass + self.target[token]
            least = passed * 0 + 1
            if self.target[token] < self.single and mass < self.accumulated:
                least = max(passed, mass / self.accumulated)
            joint[i, token] = least - passed
            passed = least
        residual = self.target.copy()
        residual[list(x)] *= 0
        joint[self.k] = (1 - passed) * normalised(residual, self.target)
        return joint
