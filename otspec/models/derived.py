"""Models made of others.

Their texts end (Block, sec. 2 and alg. 1), drafts may be withdrawn (Theory, 36), one token is
corrected (Theory, 9), or they are known along one logged text.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from otspec._base import Array, as_callable, as_tokens, is_exact, zeros
from otspec._base.frozen import frozen, read_only
from otspec.distributions import Distribution
from otspec.drafts.masked import masked_row, with_null
from otspec.models import base
from otspec.models.base import CallableModel, Continued, Derived, Model, Prefix, as_prefix


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


Keep = Callable[[Prefix, Model], Iterable[int]]
"""From the drafted text and the draft model before it to the tokens that are kept after it."""


def masked(draft: Any, target: Any, keep: Keep) -> tuple[Model, Model]:
    """Return two language models over one more token, with which withdrawn drafts are lossless.

    The draft draws the null token, whose id is n, where it would draw a token that is not kept;
    with it a drafted text is over. The target never has it. So every rule for blocks and trees
    takes the two as they are.

    Parameters
    ----------
    draft, target : callable
        Language models over one vocabulary of n tokens, in one arithmetic.
    keep : callable
        ``keep(text, draft)`` returns the tokens that are kept after a drafted text, a tuple of
        token ids; ``draft`` is the draft model at its beginning. It may depend on these alone.

    Raises
    ------
    ValueError
        Models that do not fit, or no callable; later, tokens out of range.

    Examples
    --------
    >>> from otspec import audit_blocks
    >>> from otspec.blocks import BlockVerification
    >>> from otspec.models import memoryless
    >>> draft, target = memoryless(["9/10", "1/10"]), memoryless(["1/2", "1/2"])
    >>> rule = BlockVerification(*masked(draft, target, lambda text, draft: [0]), 2)
    >>> report = audit_blocks(rule, 3)
    >>> report.lossless, report.expected
    (True, Fraction(3, 4))
    """
    as_callable(keep, "keep", "a function keep(text, draft) that returns tokens")
    checked = base.as_models(draft, target)
    return WithNull(checked[0], keep), WithNull(checked[1])


class WithNull(Model):
    """A language model over one more token, which it never has, or in place of what is not kept."""

    def __init__(self, model: Model, keep: Keep | None = None, start: Prefix = ()) -> None:
        self._model, self._keep, self._start = model, keep, start
        self.n, self.exact = model.n + 1, model.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n + 1,)."""
        text = self._start + as_prefix(prefix, self.n)
        if self._null in text:  # nothing follows a null token but another
            row = zeros(self.n, like=self._model(()))
            row[-1] += 1
            return row
        row = self._model(text)
        if self._keep is None:
            return with_null(row)
        return masked_row(
            row, as_tokens(self._keep(text, self._model), self._null, "keep", unordered=True)
        )

    @property
    def _null(self) -> int:
        return self.n - 1

    def ended(self, prefix: Prefix) -> bool:
        """Return whether a text holds a null token, or is over without it."""
        text = self._start + prefix
        return self._null in text or self._model.ended(text)

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers; all of a text where its tokens decide what is kept."""
        text = self._start + as_prefix(prefix, self.n)
        return text if self._keep or self._null in text else self._model.context(text)

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows a prefix."""
        return WithNull(self._model, self._keep, self._start + as_prefix(prefix, self.n))

    def begun(self) -> "WithNull":
        """Return the same model with a text, such as a drafted block, that begins here."""
        return WithNull(self._model.after(self._start), self._keep)


class OneCorrectedToken(Derived):
    """A model whose first token comes from a row of its own, and the rest from the target."""

    def __init__(self, target: Model, row: Distribution) -> None:
        super().__init__(target)
        self._row = read_only(row)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the corrected row, or that of what follows the first token."""
        text = as_prefix(prefix, self.n)
        return self._next(text[0])(text[1:]) if text else self._row

    def after(self, prefix: Prefix) -> Model:
        """Return what follows the first token: only one is corrected."""
        text = as_prefix(prefix, self.n)
        return self._next(text[0]).after(text[1:]) if text else self

    def _next(self, token: int) -> Model:
        """Return the model of everything after the first token."""
        return self._target.after((token,))


class LoggedModel(Model):
    """A language model that is known along one text only: after its first 0, 1, … tokens."""

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
