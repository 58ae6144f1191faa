"""Laws that are made from one draft distribution and a number of drafts, and their registry."""

from abc import abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, Registry, as_choice, is_exact, subclass_of
from otspec.distributions import Distribution, as_distribution, as_k
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
            tokens = "1 token" if support == 1 else f"{support} tokens"
            raise TooFewTokensError(
                f"draft has {tokens} of positive probability, too few for {k} distinct drafts "
                f"({cls.name}): lower k to {support} or less"
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
    return among[np.argsort(-draft[among], kind="stable")][:count]


LAWS: Registry[type[SingleDraftLaw]] = Registry(
    "draft law", "otspec.laws", subclass_of(SingleDraftLaw)
)
"""The laws that are made from one draft distribution, by name, in the order of tables."""
register = LAWS.register


def named_law(name: str, draft: Distribution, k: int) -> SingleDraftLaw:
    """Return the law of a name in :data:`LAWS` over one draft distribution; else ``ValueError``."""
    return LAWS[as_choice(name, "name", LAWS)](as_distribution(draft, "draft"), k)
