"""What every verification rule answers, and the answers that follow from its kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from otspec._base.arguments import as_generator, as_seed, as_size
from otspec._base.arithmetic import Array, IntArray, Number, as_number
from otspec._base.frozen import Frozen
from otspec.chance import Chance, Drawn
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import DraftLaw
from otspec.drafts.base import as_drafts
from otspec.estimate import Estimate
from otspec.rules.base.tuples import (
    CountedLaw,
    NotExactError,
    add_first,
    all_tuples,
    enumerated_law,
    few_by_draft,
    joint_kernel_of,
    output_by_draft,
)

__all__ = ["CountedLaw", "NotExactError", "Rule"]


class Rule(Frozen, ABC):
    """A rule turns k drafts into one token; all in otspec.rules make it distributed as the target.

    A subclass gives :attr:`law`, :attr:`target`, :attr:`k` and :meth:`verify`, the rule as a
    program. The program is run along every branch for the kernel, and with a generator for a
    sample. What is answered here by enumerating drafts a subclass answers by formula, if there is
    one.
    """

    name: ClassVar[str]
    """What command lines and :data:`otspec.rules.RULES` call the rule."""
    title: ClassVar[str]
    """What tables and charts call the rule."""
    law_class: ClassVar[type[DraftLaw] | None] = None
    """The law of the drafts that the rule verifies; None if that may be any."""
    only_k: ClassVar[int | None] = None
    """The only number of drafts that the rule takes, if there is just one."""
    exact: ClassVar[bool] = True
    """Whether the rule works with fractions, too; exact rules are tested with ``==``."""
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
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> Rule:  # noqa: ARG003
        """Return the rule for k drafts of one draft distribution, and a target.

        Raises
        ------
        ValueError
            A rule that is made from something else and does not say how.
        """
        raise ValueError(f"{cls.__name__} is not made from a draft, a target and k: call it itself")

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
        drafts, chance = as_drafts(x, self.law), Drawn(as_generator(rng))
        found = self.verify(drafts, chance)
        token = drafts[found] if isinstance(found, int) else chance.choose(found)
        return token, token in drafts

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts, exactly.

        This counts every output that equals a draft, also when a residual draw happens to.

        Returns
        -------
        float or Fraction

        Raises
        ------
        NotExactError
            It would take too long; :meth:`estimate` estimates it.
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
        NotExactError
            More draft tuples than can be enumerated, where a rule has no formula;
            :meth:`estimate_law` estimates it.
        """
        return enumerated_law(self)

    def counted_law(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output, for i.i.d. drafts.

        Returns
        -------
        CountedLaw
            All of it sums to 1, and to the target over the numbers of drafts.

        Raises
        ------
        NotExactError
            The rule has no formula for it, or not for so many drafts.
        """
        raise NotExactError(f"{type(self).__name__} has no formula for how often it is drafted")

    def acceptance_by_draft(self) -> Array:
        """Return, for each draft, the probability that it is the one that is accepted.

        Residual draws that happen to equal a draft are not counted. A token that is drafted
        several times counts for its first draft where the rule does not say.

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        NotExactError
            More draft tuples than can be enumerated, where a rule has no formula.
        """
        tuples, masses = all_tuples(self)
        rows = np.array([self.joint_kernel(x)[:-1].sum(axis=1) for x in tuples.tolist()])
        by_draft: Array = (masses.astype(rows.dtype)[:, None] * rows).sum(axis=0)
        return by_draft

    def accepted_by_draft(self) -> Array:
        """Return the probability that the output is y and draft i the first that is y.

        Returns
        -------
        ndarray, shape (k, n)
            Its columns sum to :meth:`accepted_law`: which draft goes on in a tree is told from
            the tokens alone.

        Raises
        ------
        NotExactError
            More than 20,000 draft tuples, where a rule has no formula.
        """
        return few_by_draft(self)

    def estimate_by_draft(self, size: int = 2_000, seed: int = 0) -> Array:
        """Estimate :meth:`accepted_by_draft` as :meth:`estimate_law` does: floats, (k, n)."""
        tuples, which = self._drawn(size, seed)
        accepted = np.zeros((self.law.k, len(self.target)))
        for x, count in zip(tuples, np.bincount(which).tolist(), strict=True):
            add_first(accepted, x, self.kernel(x).astype(float) * (count / size))
        return accepted

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimate:
        """Estimate :meth:`acceptance` from drafts that are drawn at random.

        Parameters
        ----------
        size : int
            How many tuples of drafts, at least 2.
        seed : int

        Returns
        -------
        Estimate
            The mean over the tuples of the probability that the output is one of them, unless
            the rule knows more.

        Raises
        ------
        ValueError
            Fewer than two tuples, or more than the memory holds.
        """
        accepted = self._of_drawn(lambda x: self.kernel(x)[sorted(set(x))].sum(), size, seed)
        return Estimate.of_mean(accepted)

    def estimate_law(self, size: int = 2_000, seed: int = 0) -> Array:
        """Estimate :meth:`accepted_law` from drafts that are drawn at random.

        Size, seed and errors are those of :meth:`estimate`.

        Returns
        -------
        ndarray of float, shape (n,)
            Unbiased for every token.
        """
        accepted: Array = self.estimate_by_draft(size, seed).sum(axis=0)
        return accepted

    def estimate_output(self, y: int, size: int = 2_000, seed: int = 0) -> Estimate:
        """Estimate entry y of :meth:`accepted_law`; see :meth:`estimate`."""
        hits = self._of_drawn(lambda x: self.kernel(x)[y] if y in x else 0.0, size, seed)
        return Estimate.of_mean(hits)

    def estimate_output_by_draft(self, y: int, size: int = 2_000, seed: int = 0) -> list[Estimate]:
        """Estimate column y of :meth:`accepted_by_draft`; see :meth:`estimate`."""
        tuples, which = self._drawn(size, seed)
        return [Estimate.of_mean(hits[which]) for hits in output_by_draft(self, y, tuples)]

    def _estimate_with_hits(
        self, hits: Callable[[list[int]], Any], known: tuple[Number, Number], size: int, seed: int
    ) -> Estimate:
        """Return what is certainly accepted plus simulated residual hits, between known bounds."""
        simulated = Estimate.of_mean(self._of_drawn(hits, size, seed), plus=float(known[0]))
        return simulated.within(*known)

    def _of_drawn(self, question: Callable[[list[int]], Any], size: int, seed: int) -> Array:
        """Return the answer for each of the tuples drawn at random, in floats: (size,)."""
        tuples, which = self._drawn(size, seed)
        return np.array([float(question(x)) for x in tuples])[which]

    def _drawn(self, size: int, seed: int) -> tuple[list[list[int]], IntArray]:
        """Draw tuples; return the different ones, and which of them each is."""
        size = as_size(size, least=2, width=self.k)
        drawn = self.law.sample(size, np.random.default_rng(as_seed(seed)))
        different, which = np.unique(drawn, axis=0, return_inverse=True)
        return different.tolist(), which.reshape(-1)
