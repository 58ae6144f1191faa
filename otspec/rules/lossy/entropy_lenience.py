"""Lenience that grows with the entropy of the target (vLLM Ascend's entropy verification)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Number, as_number
from otspec._base.frozen import cached_property
from otspec.rules.lossy.base import LARGEST, between
from otspec.rules.lossy.divergences import entropy
from otspec.rules.lossy.lenience import LenientRule


@dataclass(frozen=True, eq=False)
class EntropyLenience(LenientRule):
    """Be lenient by l = min(exp(−α H(q)), m): the more, the less certain the target is.

    Law: as of :class:`LenientRule`. H is Shannon's entropy in nats; l is a float, which exact
    distributions take as the number that it is.
    Source: vLLM Ascend's entropy verification, whose defaults these are (posterior_alpha,
    posterior_threshold). Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    alpha : number
        α, at least 0.
    most : number
        m, above 0 and at most 1.

    Examples
    --------
    >>> rule = EntropyLenience([0.5, 0.5], [0.25, 0.75])
    >>> round(rule.share, 4), rule.declared_output.round(4).tolist()
    (0.7986, [0.3131, 0.6869])
    """

    name: ClassVar[str] = "entropy-lenience"
    title: ClassVar[str] = "lenience by entropy"
    source: ClassVar[str] = "vLLM Ascend"

    alpha: Number = field(default=Fraction(2, 5), kw_only=True, metadata=between(0, LARGEST))
    most: Number = field(
        default=Fraction(19, 20), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @cached_property
    def share(self) -> Number:
        """The lenience l."""
        typical = math.exp(-float(self.alpha) * entropy(self.target))
        return min(self.most, as_number(typical, like=self.target))
