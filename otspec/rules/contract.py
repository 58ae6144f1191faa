"""What every verification rule answers, and the answers that follow from its kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arguments import as_generator
from otspec.arithmetic import Array, Number, as_number, zeros
from otspec.distributions import Distribution, as_k, as_pair, normalised
from otspec.drafts import IID, DraftLaw, SingleDraftLaw
from otspec.drafts.contract import as_drafts, draw
from otspec.frozen import Frozen
from otspec.raw import shown

ENUMERATION_LIMIT = 20_000
"""Most draft tuples that an acceptance in floats is enumerated for, if there is another way."""
MOST_LISTED = 1_000_000
"""Most drafts that an answer for each of them is listed for."""


class Rule(Frozen, ABC):
    """A rule turns k drafts into one token; every rule here makes it distributed as the target.

    Subclasses give :attr:`law`, :attr:`target` and :meth:`joint_kernel`; what is answered here by
    enumerating the drafts they answer by formula where there is one.
    """

    title: ClassVar[str]
    """What tables and charts call the rule."""
    accuracy: float = 0.0
    """By how much a float output law may be off because of how the rule was made."""
    target: Distribution
    """What the output is distributed as, shape (n,)."""

    @property
    @abstractmethod
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""

    k: int
    """Number of drafts."""

    @abstractmethod
    def _joint_kernel(self, x: tuple[int, ...]) -> Array:
        """Answer :meth:`joint_kernel` for checked drafts."""

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts.

        Parameters
        ----------
        x : sequence of int, length k

        Returns
        -------
        ndarray, shape (k + 1, n)
            Entry (i, y): draft i is accepted and y is the output (so y = x_i). The last row: no
            draft is accepted and y is drawn instead, which may happen to be one of them.

        Raises
        ------
        ValueError
            Not k token ids.
        """
        return self._joint_kernel(as_drafts(x, self.law))

    def kernel(self, x: Sequence[int]) -> Distribution:
        """Return the law of the output given the drafts, shape (n,).

        Parameters
        ----------
        x : sequence of int, length k

        Raises
        ------
        ValueError
            Not k token ids.
        """
        kernel: Distribution = self.joint_kernel(x).sum(axis=0)
        return kernel

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for the given drafts.

        Parameters
        ----------
        x : sequence of int, length k
        rng : numpy.random.Generator

        Returns
        -------
        token : int
        accepted : bool
            Whether the token is one of the drafts; its mean is :meth:`acceptance`.

        Raises
        ------
        ValueError
            Not k token ids, or no generator.
        """
        drafts = as_drafts(x, self.law)
        token = self._sample(drafts, as_generator(rng))
        return token, token in drafts

    def _sample(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        return int(draw(self.kernel(x), 1, rng)[0])

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts.

        This counts every output that equals a draft, also when a residual draw happens to.

        Returns
        -------
        float or Fraction
        """
        return as_number(self.accepted_law().sum(), like=self.target)

    def accepted_law(self) -> Array:
        """Return the probability that the output is y and one of the drafts, for every token y.

        Returns
        -------
        ndarray, shape (n,)
            It sums to :meth:`acceptance`; the rest of the target is drawn when no draft is.

        Raises
        ------
        ValueError
            More draft tuples than can be enumerated, where a rule has no formula.
        """
        return enumerated_law(self)

    def acceptance_by_draft(self) -> Array:
        """Return, for each draft, the probability that it is the one that is accepted.

        Residual draws that happen to equal a draft are not counted. A token that is drafted
        several times counts for its first draft where the rule does not say.

        Returns
        -------
        ndarray, shape (k,)
        """
        tuples, masses = self.law.tuples()
        rows = np.array([self._joint_kernel(tuple(x))[:-1].sum(axis=1) for x in tuples.tolist()])
        by_draft: Array = (masses.astype(rows.dtype)[:, None] * rows).sum(axis=0)
        return by_draft


def enumerated_law(rule: Rule) -> Array:
    """Return a rule's accepted law by enumerating the drafts; small vocabularies only."""
    accepted = zeros(len(rule.target), like=rule.target)
    for x, mass in zip(*rule.law.tuples(), strict=True):
        drafts = sorted(set(x.tolist()))
        accepted[drafts] += mass * rule.kernel(x)[drafts]
    return accepted


def enumerated_acceptance(rule: Rule) -> Number:
    """Return a rule's acceptance by enumerating the drafts; small vocabularies only."""
    return as_number(enumerated_law(rule).sum(), like=rule.target)


@dataclass(frozen=True, eq=False)
class PairRule(Rule):
    """A rule that is made from one draft distribution, a target and k.

    Parameters
    ----------
    draft : array_like, shape (n,)
        What the drafts are drawn from.
    target : array_like, shape (n,)
        What the output is distributed as; the same arithmetic as ``draft``.
    k : int
        Number of drafts.
    normalize : bool
        Scale both distributions to sum 1.

    Raises
    ------
    ValueError
        Unusable distributions, or a k that the rule or its draft law does not take.
    """

    law_class: ClassVar[type[SingleDraftLaw]] = IID
    """The law of the drafts that the rule verifies."""
    only_k: ClassVar[int | None] = None
    """The only number of drafts that the rule takes, if there is just one."""

    draft: Distribution
    target: Distribution
    k: int
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        draft, target = as_pair(self.draft, self.target, normalize=normalize)
        object.__setattr__(self, "draft", draft)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "k", as_k(self.k))
        self.law_class.check_support(draft, self.k)
        if self.only_k not in (None, self.k):
            raise ValueError(
                f"k is {self.k}, but {type(self).__name__} verifies exactly {self.only_k} "
                f"draft{'s' if self.only_k != 1 else ''}: use k={self.only_k} or another rule"
            )

    @property
    def drafts(self) -> str:
        """The law of the drafts, by name."""
        return self.law_class.name

    @cached_property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return self.law_class(self.draft, self.k)


class SequentialRule(PairRule):
    """A rule that tries the drafts in turn and draws from a residual if none is accepted."""

    @abstractmethod
    def _rounds(self, x: tuple[int, ...]) -> tuple[list[Number], Array]:
        """Return each draft's acceptance probability after the rejections, and the residual.

        The residual is not normalised; where it sums to zero it is never drawn from.
        """

    def _joint_kernel(self, x: tuple[int, ...]) -> Array:
        chances, residual = self._rounds(x)
        joint = zeros((self.k + 1, len(self.target)), like=self.target)
        reached = as_number(1, like=self.target)
        for i, (token, chance) in enumerate(zip(x, chances, strict=True)):
            joint[i, token] = reached * chance
            reached = reached * (1 - chance)
        joint[self.k] = reached * normalised(residual, self.target)
        return joint

    def _sample(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        chances, residual = self._rounds(x)
        for token, chance in zip(x, chances, strict=True):
            if rng.random() < chance:
                return token
        return int(draw(normalised(residual, self.target), 1, rng)[0])


def refuse_many_drafts(k: int, most: int, what: str) -> None:
    """Refuse to compute for more drafts, one by one, than anybody waits for.

    Raises
    ------
    ValueError
        With the limit, and a fix.
    """
    if k > most:
        raise ValueError(
            f"k is {shown(k)}: {what} is computed draft by draft, for at most {most:,}; use a "
            "smaller k, or limit_acceptance() for what the optimum tends to"
        )
