"""Speculative sampling of a single draft (SpecTr, alg. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from otspec._base import Array, cached_property
from otspec.chance import Chance
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.rules.base.pair_rule import PairRule
from otspec.rules.base.rule import CountedLaw


@dataclass(frozen=True, eq=False)
class MaximalCoupling(PairRule):
    """Accept the one draft x with probability min(1, q(x)/p(x)), else draw from (q − p)₊.

    Law: the output is distributed as the target; no rule accepts one draft more often.
    Source: SpecTr, alg. 1. Parameters and errors: :class:`otspec.rules.PairRule`.

    Examples
    --------
    >>> MaximalCoupling(["1/2", "1/2"], ["1/4", "3/4"]).acceptance()
    Fraction(3, 4)
    """

    name: ClassVar[str] = "maximal-coupling"
    title: ClassVar[str] = "maximal coupling"
    batch: ClassVar[str | None] = "maximal_coupling"
    couples_one: ClassVar[bool] = True
    only_k: ClassVar[int | None] = 1

    k: int = 1

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.draft, self.target)

    def _by_token(self) -> Array:
        """Return min(p, q), shape (n,); a residual token is never the draft."""
        return self._coupling.accepted

    def _counted(self) -> CountedLaw:
        """Return the accepted law of the one draft."""
        accepted = self._by_token()
        return CountedLaw(accepted[None], self.target - accepted)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return self._coupling.verify(drafts, 0, chance)
