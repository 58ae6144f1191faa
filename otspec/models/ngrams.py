"""Language models of counted texts: n-grams with one added to every count, in fractions."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from otspec._base import Array, cached_property, counted_power, read_only, remembered, shown
from otspec._base.arguments import as_flag, as_integer, as_tokens
from otspec.distributions import Distribution, as_k
from otspec.models.base import Model, Prefix, as_prefix

MOST_ORDER = 100  # most tokens that an n-gram model remembers
MOST_NUMBERS = 20_000_000  # most counts of the tokens after all contexts


class NGramModel(Model):
    """What follows the last tokens in a text, every count one more than it is.

    The text is a circle, so that every token of it has a context and a next one. With c(x)
    occurrences of a context x and c(xy) of x followed by y, the probability of y after x is
    (c(xy) + 1) / (c(x) + n), Laplace's rule of succession.

    Parameters
    ----------
    text : iterable of int
        Token ids.
    n : int
        Vocabulary size.
    order : int
        How many tokens are remembered; 0 makes a memoryless model.
    start : sequence of int, optional
        What the empty prefix continues, at least ``order`` tokens; by default the end of the text.
    exact : bool
        Whether probabilities are ``Fraction`` rather than float.

    Raises
    ------
    ValueError
        No tokens, or a start that is too short.

    Examples
    --------
    >>> model = NGramModel([0, 1, 0, 0, 1], n=2, order=1)
    >>> model((0,))
    array([Fraction(2, 5), Fraction(3, 5)], dtype=object)
    >>> model.context((0, 1, 1, 0))
    (0,)
    """

    def __init__(
        self,
        text: Iterable[int],
        n: int,
        order: int,
        *,
        start: Iterable[int] | None = None,
        exact: bool = True,
    ) -> None:
        self.n, self.exact = as_k(n, "n"), as_flag(exact, "exact")
        self.order = as_integer(order, "order", 0, MOST_ORDER, wanted="0 for a memoryless model")
        tokens = as_tokens(text, self.n, "text")
        if not tokens:
            raise ValueError("text is empty: there is nothing to count")
        if counted_power(self.n, self.order + 1) > MOST_NUMBERS:
            raise ValueError(
                f"n = {shown(n)} and order = {shown(order)} have more than {MOST_NUMBERS:,} "
                "counts: use a smaller n or order"
            )
        self._text = tokens
        self._start = self._end if start is None else as_tokens(start, self.n, "start")
        if len(self._start) < self.order:
            raise ValueError(
                f"start has {len(self._start)} tokens, but {self.order} are remembered: "
                "give as many, or none for the end of the text"
            )

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        return self._row(self.context(prefix))

    def context(self, prefix: Prefix) -> Prefix:
        """Return the last tokens of the start and a prefix, as many as are remembered."""
        prefix = as_prefix(prefix, self.n)
        if len(prefix) < self.order:
            prefix = self._start + prefix
        return prefix[len(prefix) - self.order :]

    def contexts(self) -> dict[Prefix, Fraction]:
        """Return the share of places of the text that have each context, of ``order`` tokens."""
        places = len(self._text)
        return {
            context: Fraction(counts.total(), places)
            for context, counts in sorted(self._counts.items())
        }

    @property
    def _end(self) -> Prefix:
        """The last tokens of the text, which goes round as often as need be."""
        rounds = -(-self.order // len(self._text))
        return (self._text * rounds)[len(self._text) * rounds - self.order :]

    @cached_property
    def _counts(self) -> dict[Prefix, Counter[int]]:
        """How often each token follows each context of the text."""
        circle = self._end + self._text
        grams = Counter(zip(*(circle[lag:] for lag in range(self.order + 1)), strict=False))
        counts: dict[Prefix, Counter[int]] = {}
        for (*context, token), times in grams.items():
            counts.setdefault(tuple(context), Counter())[token] = times
        return counts

    @remembered
    def _row(self, context: Prefix) -> Array:
        counts = self._counts.get(context, Counter())
        total = counts.total() + self.n
        if not self.exact:
            return read_only(np.array([(counts[token] + 1) / total for token in range(self.n)]))
        row = np.empty(self.n, dtype=object)
        row[:] = [Fraction(counts[token] + 1, total) for token in range(self.n)]
        return read_only(row)
