"""What every verification rule answers, and the answers that follow from its kernel."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from otspec._base import Array, Frozen, Number, as_generator, as_number, is_exact, memory
from otspec.chance import Chance, Drawn
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import DraftLaw
from otspec.drafts.base import as_drafts
from otspec.rules.base.accepted import (
    Accepted,
    CountedLaw,
    DrawnDrafts,
    Estimated,
    NotExactError,
    enumerated_law,
    few_by_position,
    joint_kernel_of,
)

__all__ = ["Accepted", "CountedLaw", "Estimated", "NotExactError", "Rule"]


class Rule(Frozen, ABC):
    """A rule turns k drafts into one token; all in otspec.rules make it distributed as the target.

    A subclass gives :attr:`law`, :attr:`target`, :attr:`k` and :meth:`verify`, the rule as a
    program: with a generator it samples, along every branch it gives the kernel. A subclass with a
    formula overrides what is enumerated here.
    """

    name: ClassVar[str]
    """What command lines and :data:`otspec.rules.RULES` call the rule."""
    title: ClassVar[str]
    """What tables and charts call the rule."""
    law_class: ClassVar[type[DraftLaw] | None] = None
    """The law of the drafts that the rule verifies; None if that may be any."""
    only_k: ClassVar[int | None] = None
    """The only number of drafts that the rule takes, if there is just one."""
    batch: ClassVar[str | None] = None
    """The function of :mod:`otspec.batch` that does the same, if there is one."""
    formula: ClassVar[bool] = True
    """Whether :meth:`acceptance` is a formula for any vocabulary; else by enumeration or a sum."""
    nested: ClassVar[bool] = False
    """Whether what is accepted of the first drafts is the same however many drafts follow."""
    couples_one: ClassVar[bool] = False
    """Whether one draft x is drawn from the draft p and accepted with probability min(1, q/p)."""

    target: Distribution
    """What the output is distributed as, shape (n,)."""
    k: int
    """Number of drafts."""
    accuracy: float = 0.0
    """By how much a float output law may be off because of how the rule was made."""

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> "Rule":  # noqa: ARG003
        """Return the rule for k drafts of one distribution; ``ValueError`` if there is none."""
        raise ValueError(f"{cls.__name__} is not made from a draft, a target and k: call it itself")

    @classmethod
    def of_law(cls, law: DraftLaw, target: DistributionLike) -> "Rule":  # noqa: ARG003
        """Return the rule for drafts of a law; ``ValueError`` if the rule verifies other laws."""
        raise ValueError(f"{cls.__name__} is not made from a law and a target: call it itself")

    @property
    @abstractmethod
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""

    @abstractmethod
    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts: the rule as a program, in the steps of its source.

        Parameters
        ----------
        drafts : sequence of int, length k
            Token ids, which are not checked here.
        chance : Chance
            All the randomness of the program. It must make the same choices again when it is run
            again for the same drafts.

        Returns
        -------
        int or ndarray, shape (n,)
            The position of the draft that is accepted. If none is, the distribution that the output
            is drawn from instead.
        """

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the joint distribution of the accepted draft and the output, given the drafts.

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

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        """Return the same by the program; array code that is faster is compared with it."""
        return joint_kernel_of(self, drafts)

    def kernel(self, x: Sequence[int]) -> Distribution:
        """Return the law of the output given k drafts, shape (n,); ``ValueError`` for others."""
        joint = self.joint_kernel(x)
        if not is_exact(joint):
            return joint.sum(axis=0)
        law = joint[-1].copy()
        for position, token in np.argwhere(joint[:-1]).tolist():  # a fraction of 0 is slow to add
            law[token] += joint[position, token]
        return law

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for k drafts, and whether it is one of them; else ``ValueError``."""
        drafts, chance = as_drafts(x, self.law), Drawn(as_generator(rng))
        found = self.verify(drafts, chance)
        token = drafts[found] if isinstance(found, int) else chance.choose(found)
        return token, token in drafts

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts, exactly.

        This counts every output that equals a draft, also when a residual draw happens to. It is
        short for ``accepted().probability``.

        Returns
        -------
        float or Fraction

        Raises
        ------
        NotExactError
            It would take too long; :meth:`estimate` estimates it.
        """
        return as_number(self._by_token().sum(), like=self.target)

    def accepted(self) -> Accepted:
        """Return what is accepted: the probability, by token, by position, and by both."""
        return Accepted(self)

    @property
    def enumerates_positions(self) -> bool:
        """Whether :attr:`Accepted.by_position` takes an enumeration of the drafts."""
        # One draft has one position, so that a formula by token says it.
        formulas = ("_by_token", "_by_position") if self.k == 1 else ("_by_position",)
        return all(getattr(type(self), name) is vars(Rule)[name] for name in formulas)

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says, from drafts that are drawn at random.

        Parameters
        ----------
        size : int
            How many tuples of drafts, at least 2.
        seed : int

        Returns
        -------
        Estimated
            The same numbers with intervals. They are means over the tuples of what the rule does
            of each exactly, unless the rule knows more.

        Raises
        ------
        ValueError
            Fewer than two tuples, or more than the memory holds.
        """
        return DrawnDrafts(self, size, seed)

    def _positions(self) -> Array:
        k, n = self.k, len(self.target)
        if 8 * k * n > memory() / 2:
            raise ValueError(
                f"k is {k}: positions of {n:,} tokens are {k * n:,} numbers, more than half of "
                "this machine's memory; use fewer drafts"
            )
        return self._by_position()

    # What a subclass answers by formula, if there is one: the numbers of Accepted.

    def _by_token(self) -> Array:
        return enumerated_law(self)

    def _by_position(self) -> Array:
        """Return :attr:`Accepted.by_position_and_token`."""
        return self._by_token()[None] if self.k == 1 else few_by_position(self)

    def _counted(self) -> CountedLaw:
        raise NotExactError(f"{type(self).__name__} has no formula for how often it is drafted")
