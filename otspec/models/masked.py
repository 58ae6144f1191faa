"""Language models of drafts that may be withdrawn: null is one more token (Theory, 36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from otspec._base.arguments import as_callable, as_tokens
from otspec._base.arithmetic import zeros
from otspec.distributions import Distribution
from otspec.drafts.masked import masked_row, with_null
from otspec.models.base import Model, Prefix, as_prefix
from otspec.models.callables import as_models

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
    checked = as_models(draft, target)
    return WithNull(checked[0], keep), WithNull(checked[1])


class WithNull(Model):
    """A language model over one more token, which it never has, or in place of what is not kept.

    Parameters
    ----------
    model : Model
    keep : callable, optional
        As for :func:`masked`; by default the null token has probability 0.
    start : tuple of int
        What texts begin with.
    """

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

    def begun(self) -> WithNull:
        """Return the same model with a text, such as a drafted block, that begins here."""
        return WithNull(self._model.after(self._start), self._keep)
