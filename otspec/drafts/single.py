"""Laws of one draft distribution and a number of drafts, and certain drafts (Theory, 13)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import ClassVar

import numpy as np

from otspec._base.arguments import as_choice, as_flag, as_integer, as_tokens
from otspec._base.arithmetic import Array, IntArray, Number, is_exact, zeros
from otspec._base.coerce import shown
from otspec._base.registry import Registry, subclass_of
from otspec.distributions import Distribution, DistributionLike, as_distribution, as_k
from otspec.drafts.base import DraftLaw


class TooFewTokensError(ValueError):
    """Distinct drafts are no more than the tokens that can be drafted."""


@dataclass(frozen=True, eq=False)
class SingleDraftLaw(DraftLaw):
    """A law over one draft distribution.

    A subclass says in class variables all that others need to know of it, and :data:`LAWS`
    registers it by its name.

    Parameters
    ----------
    draft : array_like, shape (n,)
        See :func:`otspec.distributions.as_distribution`, errors included.
    k : int
        Number of drafts; ``ValueError`` for one that the law does not have over this draft.
    normalize : bool
        Scale the draft to sum 1.
    """

    name: ClassVar[str]
    """What command lines, tables and rules call the law."""
    words: ClassVar[str]
    """What its drafts are called in a sentence."""
    distinct: ClassVar[bool] = False
    """Whether no token is drafted twice."""
    powers: ClassVar[bool] = False
    """Whether exact results are k-th powers, whose digits are k times those of the chances."""

    draft: Distribution
    k: int
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        checked = as_distribution(self.draft, "draft", normalize=normalize)
        self._hold(draft=checked, k=as_k(self.k))
        self.check_k(checked, self.k)

    @classmethod
    def check_k(cls, draft: Distribution, k: int) -> None:
        """Refuse a number of drafts that the law does not have over a draft with ``ValueError``."""
        cls.check_support(draft, k)

    @classmethod
    def check_support(cls, draft: Distribution, k: int) -> None:
        """Refuse more distinct drafts than there are tokens to draw with ``TooFewTokensError``."""
        if cls.distinct and (support := int(np.count_nonzero(draft))) < k:
            raise TooFewTokensError(
                f"draft has {support} tokens of positive probability, too few for {k} distinct "
                f"drafts ({cls.name}): lower k to {support} or less"
            )

    @classmethod
    def exists(cls, draft: Distribution, k: int) -> bool:
        """Return whether the law has k drafts over a draft distribution: :meth:`check_k`."""
        try:
            cls.check_k(draft, k)
        except ValueError:
            return False
        return True

    def _probabilities(self) -> Array:
        return self.draft


class ByRatio(SingleDraftLaw):
    """A law whose best token set is a prefix by ascending target/draft, whatever the target.

    What a token adds to P(all drafts inside A) per draft mass only grows with A (Theory, 2). So a
    token in the best set has no higher q/p than one outside.
    """


class FixedButOne(SingleDraftLaw):
    """A law of drafts that hold some tokens for certain, and one other token at most.

    Its best token set holds the fixed tokens or is empty; each other token is in it if the target
    has less of it than the drafts.
    """

    @property
    @abstractmethod
    def fixed(self) -> IntArray:
        """The tokens that are always among the drafts."""

    @abstractmethod
    def free(self) -> Array:
        """Return, for each token that is not fixed, the probability that it is a draft: (n,)."""

    def _inside(self, members: IntArray) -> Number:
        free = self.free()
        if len(np.setdiff1d(self.fixed, members, assume_unique=True)):
            return self._number(0)
        # Where the fixed tokens are certain to be all, nothing is free.
        return self._number(free[members].sum() if free.any() else 1)


def likeliest(draft: Distribution, count: int) -> IntArray:
    """Return the tokens of the largest masses, in descending order; of equal ones the lowest id."""
    if count == 0:
        return np.empty(0, dtype=np.intp)
    if is_exact(draft) or count >= len(draft):
        return np.argsort(-draft, kind="stable")[:count].astype(np.intp)
    # Only those that are as heavy as the last of them are sorted.
    least = np.partition(draft, len(draft) - count)[len(draft) - count]
    among = np.flatnonzero(draft >= least)
    heaviest: IntArray = among[np.argsort(-draft[among], kind="stable")][:count]
    return heaviest


LAWS: Registry[type[SingleDraftLaw]] = Registry(
    "draft law", "otspec.laws", subclass_of(SingleDraftLaw)
)
"""The laws that are made from one draft distribution, by name, in the order of tables."""
register = LAWS.register


def named_law(name: str, draft: Distribution, k: int) -> SingleDraftLaw:
    """Return the law of a name in :data:`LAWS` over one draft distribution; else ``ValueError``."""
    return LAWS[as_choice(name, "drafts", LAWS)](draft, k)


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

    def as_target(self, target: DistributionLike, *, normalize: bool = False) -> Distribution:
        """Check a target: a distribution of the law's length, in either arithmetic."""
        checked = as_distribution(target, "target", normalize=normalize)
        return DraftLaw.as_target(self.for_target(checked), checked)

    def for_target(self, target: Distribution) -> Fixed:
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
