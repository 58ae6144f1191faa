"""Typical acceptance: drafts that the target finds likely enough, given its entropy (Medusa)."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arguments import as_choice
from otspec._base.arithmetic import Array, Number, as_number
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.base import (
    REPLACEMENTS,
    AcceptOrReplace,
    accepting,
    between,
    entropy,
    replaced_by,
)


@dataclass(frozen=True, eq=False)
class TypicalAcceptance(AcceptOrReplace):
    """Accept the draft x if q(x) > min(ε, δ exp(−H(q))), else take the target's likeliest token.

    Law: the output is the draft on the tokens that are accepted, and all the rest on the one token
    (or spread as the target is, with ``otherwise`` = ``"target"``). H is Shannon's entropy in nats.
    ``epsilon`` and ``delta``: from 0 to 1; vLLM's posterior_threshold and posterior_alpha.
    Source: Medusa (arXiv 2401.10774), typical acceptance, whose defaults these are; vLLM's
    TypicalAcceptanceSampler. Both add 1e-5 within the logarithm, which is left out here.
    Parameters and errors: :class:`LossyRule`.

    Examples
    --------
    >>> rule = TypicalAcceptance(["1/2", "1/2"], ["1/4", "3/4"], epsilon="1/3", delta=1)
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(1, 2), [Fraction(0, 1), Fraction(1, 1)])
    """

    name: ClassVar[str] = "typical-acceptance"
    title: ClassVar[str] = "typical acceptance"
    source: ClassVar[str] = "Medusa, sec. 3.3"

    epsilon: Number = field(default=Fraction(9, 100), kw_only=True, metadata=between(0, 1))
    delta: Number = field(default=Fraction(3, 10), kw_only=True, metadata=between(0, 1))
    otherwise: str = field(default="greedy", kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        self._hold(otherwise=as_choice(self.otherwise, "otherwise", REPLACEMENTS))

    @cached_property
    def threshold(self) -> Number:
        """What the target's probability of a draft has to exceed."""
        typical = self.delta * as_number(math.exp(-entropy(self.target)), like=self.target)
        return min(self.epsilon, typical)

    @cached_property
    def chances(self) -> Array:
        """1 for the tokens above the threshold, else 0, shape (n,)."""
        return accepting(self.target > self.threshold, self.target)

    @cached_property
    def replacement(self) -> Distribution:
        """What ``otherwise`` says, shape (n,)."""
        return replaced_by(self.otherwise, self.target)
