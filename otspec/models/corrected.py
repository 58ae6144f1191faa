"""The target after a rejection: one corrected token, then the target itself (Theory, 9)."""

from __future__ import annotations

from otspec._base.frozen import read_only
from otspec.distributions import Distribution
from otspec.models.base import Model, Prefix


class OneCorrectedToken(Model):
    """A model whose first token comes from a row of its own, and the rest from the target.

    ``target``: what follows the kept tokens. ``row``, shape (n,): the distribution of the first
    token.
    """

    def __init__(self, target: Model, row: Distribution) -> None:
        self._target, self._row = target, read_only(row)
        self.n, self.exact = target.n, target.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the corrected row, or the target's after a prefix."""
        return self._target(prefix) if prefix else self._row

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return self._target.ended(prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return the target's continuation: only one token is corrected."""
        return self._target.after(prefix) if prefix else self
