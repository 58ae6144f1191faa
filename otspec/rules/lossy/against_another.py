"""Lossy rules that verify a draft against another law than the target, without loss."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from otspec._base.arithmetic import Array
from otspec._base.frozen import cached_property
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.rules.lossy.accept_or_replace import AcceptOrReplace


@dataclass(frozen=True, eq=False)
class AgainstAnother(AcceptOrReplace):
    """Couple the draft maximally with a law of the rule's own, in the place of the target.

    Law: the output is distributed as :attr:`aim`, and Σ min(p, aim) is accepted. Parameters and
    errors: :class:`LossyRule`; ``k`` is 1.
    """

    @property
    @abstractmethod
    def aim(self) -> Distribution:
        """What the draft is verified against, shape (n,)."""

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.aim

    @cached_property
    def chances(self) -> Array:
        """min(1, aim/p), shape (n,)."""
        return self._coupling.chances

    @cached_property
    def replacement(self) -> Distribution:
        """(aim − p)₊, normalised, shape (n,)."""
        return self._coupling.residual

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.draft, self.aim)

    def _by_token(self) -> Array:
        """Return min(p, aim), shape (n,); a replacement is never the draft."""
        return self._coupling.accepted
