"""Drafts that are certain (Theory, 13): given tokens, or the likeliest ones of the draft."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, as_flag, as_integer, as_tokens, is_exact, shown, zeros
from otspec.distributions import (
    Distribution,
    DistributionLike,
    Normalize,
    Unasked,
    as_distribution,
)
from otspec.drafts.base import DraftLaw
from otspec.drafts.single import SingleDraftLaw, likeliest, register

MOST_TOKENS = 10_000_000
"""The largest vocabulary of :class:`Fixed`, which keeps a number for each token."""


class Certain(DraftLaw):
    """A law of one tuple of drafts: the optimum is q(their set S), and S is the cut."""

    @property
    @abstractmethod
    def fixed(self) -> IntArray:
        """The drafts, in order, shape (k,)."""

    def table_rows(self) -> int:
        """Return how many tuples the table has: one."""
        return 1

    def _table(self) -> tuple[IntArray, Array]:
        return self.fixed[None], zeros(1, like=self._probabilities()) + 1


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Fixed(Certain):
    """k given tokens as drafts, such as the children of a node of a tree that is built greedily.

    Law: P(tokens) = 1. Drafts of EAGLE-2 and of target-only verification are such, the tree once
    built. Zeros and ones are exact, and floats as well: the law serves targets of either
    arithmetic.

    Parameters
    ----------
    tokens : sequence of int
        The drafts, in order; a token may be drafted twice.
    n : int
        Vocabulary size, at most 10 million.
    exact : bool
        Whether what the law is asked without a target is ``Fraction`` rather than float.

    Raises
    ------
    ValueError
        No token, or one that is not in the vocabulary; an n that is no positive integer.

    Examples
    --------
    >>> law = Fixed([2, 0], n=3)
    >>> law.k, law.inside([0, 2]), law.inside([0, 1])
    (2, Fraction(1, 1), Fraction(0, 1))
    """

    tokens: tuple[int, ...]
    k: int
    drafted: Array = field(repr=False)
    """1 for the tokens that are drafted and 0 for others, shape (n,)."""

    def __init__(self, tokens: Sequence[int], n: int, *, exact: bool = True) -> None:
        size = as_integer(n, "n", 1, MOST_TOKENS, wanted="the size of the vocabulary")
        checked = as_tokens(tokens, size, "tokens")
        if not checked:
            raise ValueError("tokens is empty: pass at least one draft")
        dtype = object if as_flag(exact, "exact") else float
        drafted = zeros(size, like=np.empty(0, dtype=dtype))
        drafted[list(checked)] += 1 - drafted[list(checked)]
        self._hold(tokens=checked, k=len(checked), drafted=drafted)

    def __repr__(self) -> str:
        """Return the tokens and the size of the vocabulary."""
        return f"Fixed({shown(self.tokens)}, n={self.n})"

    @property
    def fixed(self) -> IntArray:
        """The drafts, in order, shape (k,)."""
        return np.array(self.tokens, dtype=np.intp)

    def _probabilities(self) -> Array:
        return self.drafted

    def as_target(
        self, target: DistributionLike, *, normalize: Normalize = Unasked.FALSE
    ) -> Distribution:
        """Check a target: a distribution of the law's length, in either arithmetic."""
        checked = as_distribution(target, "target", normalize=normalize)
        return DraftLaw.as_target(self.for_target(checked), checked)

    def for_target(self, target: Distribution) -> "Fixed":
        """Return the law in the arithmetic of a target."""
        exact = is_exact(target)
        return self if exact is self.exact else Fixed(self.tokens, self.n, exact=exact)


@register
@dataclass(frozen=True, eq=False)
class TopK(Certain, SingleDraftLaw):
    """The k likeliest tokens of one draft distribution.

    Law: the drafts are these tokens for certain, in descending order (ties: lowest id first), as
    EAGLE-2 drafts the children of a node. Parameters and errors:
    :class:`otspec.drafts.SingleDraftLaw`.
    """

    name: ClassVar[str] = "top"
    words: ClassVar[str] = "top-k"
    distinct: ClassVar[bool] = True

    @property
    def fixed(self) -> IntArray:
        """The k likeliest tokens, in descending order of probability."""
        return likeliest(self.draft, self.k)
