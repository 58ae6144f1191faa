"""Language models whose texts end with an end-of-text token (Block, sec. 2 and alg. 1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from otspec._base.arguments import as_tokens
from otspec._base.arithmetic import Array, zeros
from otspec._base.frozen import read_only
from otspec.distributions import Distribution
from otspec.models.base import Continued, Model, Prefix, as_prefix
from otspec.models.callables import CallableModel


class EndingModel(Model):
    """A language model whose texts are over after an end token.

    As a target it makes a drafted end token the last of its block: no rule drafts anything after
    it, or counts what would be kept there, and decoding stops. Whoever asks all the same is told
    the same token for certain (Block, footnote 2). The draft need not end: a drafted text is over
    where the target's is.

    Parameters
    ----------
    model : callable
        A language model.
    end : iterable of int
        The tokens that end a text.

    Raises
    ------
    ValueError
        No language model, or no token ids.

    Examples
    --------
    >>> from otspec.blocks import BlockVerification
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    >>> print(BlockVerification(draft, target, 2).expected())
    11/8
    >>> ending = EndingModel(target, [1])
    >>> print(BlockVerification(draft, ending, 2).expected())
    1
    >>> [(text, str(mass)) for text, mass in ending.texts(2)]
    [((0, 0), '1/16'), ((0, 1), '3/16'), ((1,), '3/4')]
    """

    def __init__(self, model: Any, end: Iterable[int]) -> None:
        self._model = model if isinstance(model, Model) else CallableModel(model)
        self.n, self.exact = self._model.n, self._model.exact
        self._end = frozenset(as_tokens(end, self.n, "end", unordered=True))
        self._certain = {token: read_only(self._row(token)) for token in sorted(self._end)}

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        last = self._last(prefix)
        return self._model(prefix) if last is None else self._certain[last]

    def ended(self, prefix: Prefix) -> bool:
        """Return whether a text holds an end token."""
        return self._last(prefix) is not None

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers of a text, or how it ended: a number below 0."""
        last = self._last(prefix)
        return self._model.context(prefix) if last is None else (-1 - last,)

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows a prefix, of which only the end is kept."""
        last = self._last(prefix)
        if last is not None:
            return Continued(self, (last,))
        after = self._model.after(prefix)
        model, start = after.origin
        if model is not self._model or self.ended(start):
            return EndingModel(after, self._end)
        return Continued(self, start) if start else self

    def _last(self, prefix: Prefix) -> int | None:
        """Return the first end token of a text."""
        return next((token for token in as_prefix(prefix, self.n) if token in self._end), None)

    def _row(self, token: int) -> Array:
        row = zeros(self.n, like=np.empty(0, dtype=object if self.exact else float))
        row[token] = self.number(1)
        return row
