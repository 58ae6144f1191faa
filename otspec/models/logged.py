"""A language model that is known along one logged text only."""

from __future__ import annotations

from collections.abc import Sequence

from otspec._base.arithmetic import is_exact
from otspec._base.frozen import frozen
from otspec.distributions import Distribution
from otspec.models.base import Model, Prefix


class LoggedModel(Model):
    """A language model that is known along one text only.

    ``rows``, shape (n,): the distributions after the first 0, 1, … tokens of the text. ``tokens``:
    the text. ``name``: what error messages call the model.
    """

    def __init__(self, rows: Sequence[Distribution], tokens: Prefix, name: str = "model") -> None:
        self._rows: tuple[Distribution, ...] = frozen(tuple(rows))
        self._tokens, self._name = tokens, name
        self.n, self.exact = len(rows[0]), is_exact(rows[0])

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the logged distribution after a beginning of the text."""
        if prefix != self._tokens[: len(prefix)] or len(prefix) >= len(self._rows):
            raise ValueError(
                f"the {self._name} model was not logged after {prefix}: a logged block is known "
                f"along its own tokens {self._tokens[: len(self._rows) - 1]} only"
            )
        return self._rows[len(prefix)]
