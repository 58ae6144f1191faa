"""The rollback policy: drafts that surprise the target too much (Big Little Decoder)."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from otspec._base.arguments import as_choice, as_real
from otspec._base.arithmetic import Array, Number, as_number
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.rules.lossy.base import REPLACEMENTS, AcceptOrReplace, accepting, replaced_by


@dataclass(frozen=True, eq=False)
class RollbackPolicy(AcceptOrReplace):
    """Accept the draft x if −ln q(x) is at most a threshold, else draw from the target.

    Law: the output is p on the tokens that are accepted, plus q times the mass of the others.
    Source: Big Little Decoder (arXiv 2302.07863), whose rollback compares the cross entropy of the
    drafted token under the target with a threshold; its fallback says when drafting ends, which is
    no matter of one token. Parameters and errors: :class:`LossyRule`.

    ``rollback``: the threshold in nats, at least 0. ``otherwise``: ``"target"``, or ``"greedy"``
    for the target's likeliest token.

    Examples
    --------
    >>> rule = RollbackPolicy(["1/2", "1/2"], ["1/4", "3/4"], rollback=1)
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(5, 8), [Fraction(1, 8), Fraction(7, 8)])
    """

    name: ClassVar[str] = "rollback"
    title: ClassVar[str] = "rollback"
    source: ClassVar[str] = "Big Little Decoder"

    rollback: float = field(default=2.0, kw_only=True)
    otherwise: str = field(default="target", kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        self._hold(
            rollback=float(as_real(self.rollback, "rollback", 0)),
            otherwise=as_choice(self.otherwise, "otherwise", REPLACEMENTS),
        )

    @cached_property
    def threshold(self) -> Number:
        """The least probability that the target has of an accepted draft."""
        return as_number(math.exp(-self.rollback), like=self.target)

    @cached_property
    def chances(self) -> Array:
        """1 for the tokens that are accepted, else 0, shape (n,)."""
        return accepting((self.target >= self.threshold) & (self.target > 0), self.target)

    @cached_property
    def replacement(self) -> Distribution:
        """What ``otherwise`` says, shape (n,)."""
        return replaced_by(self.otherwise, self.target)
