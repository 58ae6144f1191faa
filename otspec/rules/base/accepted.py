"""What a rule accepts, as one answer: exact, by enumerating all drafts, or estimated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from otspec._base import Frozen, as_seed, as_size, cached_property, counted
from otspec._base.arithmetic import Array, IntArray, Number, as_number, is_exact, zeros
from otspec.chance import branches
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.base import TooManyTuplesError
from otspec.estimate import Estimate, Estimates, Exact, Known

if TYPE_CHECKING:
    from otspec.rules.base.rule import Rule


class CountedLaw(NamedTuple):
    """What a rule accepts, by how many of the drafts are the accepted token."""

    accepted: Array
    """Entry (c − 1, y): the output is y and exactly c of the drafts are y, shape (k, n)."""
    rejected: Array
    """Entry y: the output is y, which is none of the drafts, shape (n,)."""


@dataclass(frozen=True, eq=False)
class Accepted(Frozen):
    """What a rule accepts, exactly; each number is computed when it is asked for.

    An output counts as accepted if it equals a draft, whether the rule kept that draft or drew the
    token as a correction. Its position is the first draft that it equals.
    :meth:`otspec.rules.Rule.joint_kernel` says which draft the rule itself keeps. A number that
    takes too long raises ``NotExactError``; :meth:`otspec.rules.Rule.estimate` estimates it.
    """

    rule: Rule

    @cached_property
    def probability(self) -> Number:
        """The probability that the output is one of the drafts."""
        return self.rule.acceptance()

    @cached_property
    def by_token(self) -> Array:
        """Entry y: the output is y and one of the drafts, shape (n,). It sums to the above."""
        return self.rule._by_token()  # noqa: SLF001

    @cached_property
    def by_position(self) -> Array:
        """Entry i: draft i is the first that is the output, shape (k,). It has the same sum."""
        return np.asarray(self.by_position_and_token.sum(axis=1))

    @cached_property
    def by_position_and_token(self) -> Array:
        """Entry (i, y): the output is y, and draft i is the first that is y, shape (k, n)."""
        return self.rule._positions()  # noqa: SLF001

    @cached_property
    def counted(self) -> CountedLaw:
        """The law by how many of the i.i.d. drafts are the output, and by rejected output."""
        return self.rule._counted()  # noqa: SLF001


@dataclass(frozen=True, eq=False)
class Estimated(Frozen, ABC):
    """The numbers of :class:`Accepted` from one simulation, each with its own interval."""

    @property
    @abstractmethod
    def probability(self) -> Estimate:
        """Of :attr:`Accepted.probability`."""

    @property
    @abstractmethod
    def by_position_and_token(self) -> Estimates:
        """Of :attr:`Accepted.by_position_and_token`, shape (k, n)."""

    @cached_property
    def by_token(self) -> Estimates:
        """Of :attr:`Accepted.by_token`, shape (n,)."""
        return self.by_position_and_token.summed(axis=0)

    @cached_property
    def by_position(self) -> Estimates:
        """Of :attr:`Accepted.by_position`, shape (k,)."""
        return self.by_position_and_token.summed(axis=1)

    @abstractmethod
    def of_token(self, y: int) -> Estimate:
        """Return entry y of :attr:`by_token`, simulated for this token alone if that says more."""

    @abstractmethod
    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Return column y of :attr:`by_position_and_token` likewise, k estimates."""


@dataclass(frozen=True, eq=False)
class DrawnDrafts(Estimated):
    """An estimate from drafts that are drawn, with what a rule does of each tuple exactly."""

    rule: Rule
    size: int  # how many tuples of drafts, at least 2
    seed: int

    def __post_init__(self) -> None:
        size = as_size(self.size, least=2, width=self.rule.k)
        self._hold(size=size, seed=as_seed(self.seed))

    @cached_property
    def drawn(self) -> tuple[list[list[int]], IntArray]:
        """The different tuples, and which of them was drawn each time, shape (size,)."""
        drawn = self.rule.law.sample(self.size, np.random.default_rng(self.seed))
        different, which = np.unique(drawn, axis=0, return_inverse=True)
        return different.tolist(), which.reshape(-1)

    def each(self, question: Callable[[list[int]], Any]) -> Array:
        """Return the answer for each of the tuples, in floats: (size,)."""
        tuples, which = self.drawn
        return np.array([float(question(x)) for x in tuples])[which]

    def with_hits(self, hits: Callable[[list[int]], Any], known: tuple[Number, Number]) -> Estimate:
        """Return what is certainly accepted plus simulated residual hits, between known bounds."""
        return Estimate.of_mean(self.each(hits), plus=float(known[0])).within(*known)

    @cached_property
    def probability(self) -> Estimate:
        """The mean of the probability that the output is one of the drafts."""
        kernel = self.rule.kernel
        return Estimate.of_mean(self.each(lambda x: kernel(x)[sorted(set(x))].sum()))

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """The mean of the kernels at the first draft that is each token, shape (k, n)."""
        (tuples, which), rule = self.drawn, self.rule
        accepted = np.zeros((rule.k, len(rule.target)))
        for x, count in zip(tuples, np.bincount(which).tolist(), strict=True):
            add_first(accepted, x, rule.kernel(x).astype(float), count / self.size)
        return Estimates.of_means(accepted, self.size)

    def of_token(self, y: int) -> Estimate:
        """Return entry y of :attr:`by_token`; only tuples with y are looked at."""
        kernel = self.rule.kernel
        return Estimate.of_mean(self.each(lambda x: kernel(x)[y] if y in x else 0.0))

    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Return column y of :attr:`by_position_and_token` likewise."""
        tuples, which = self.drawn
        hits = np.zeros((self.rule.k, len(tuples)))
        for index, x in enumerate(tuples):
            if y in x:
                hits[x.index(y), index] = self.rule.kernel(x)[y]
        return [Estimate.of_mean(row[which]) for row in hits]


def add_first(accepted: Array, drafts: Sequence[int], row: Array, mass: Number) -> None:
    """Add the law of the output given drafts of some mass, each token at the first draft of it."""
    for token in sorted(set(drafts)):
        accepted[drafts.index(token), token] += mass * row[token]


FEW = 20_000  # most draft tuples that are enumerated to say which draft is accepted


class NotExactError(ValueError):
    """What is asked for takes too long to compute exactly; the message names what estimates it."""


def joint_kernel_of(rule: Rule, drafts: Sequence[int]) -> Array:
    """Return a rule's joint kernel by following its program along every branch."""
    joint = zeros((len(drafts) + 1, len(rule.target)), like=rule.target)
    drawn: dict[int, tuple[Distribution, Number]] = {}
    for mass, found in branches(lambda chance: rule.verify(drafts, chance)):
        if isinstance(found, int):
            joint[found, drafts[found]] += as_number(mass, like=joint)
        else:
            # Many branches end in one distribution: their masses are added up before it is scaled.
            _, others = drawn.get(id(found), (found, 0))
            drawn[id(found)] = found, others + mass
    for row, mass in drawn.values():
        joint[-1] += as_number(mass, like=joint) * row
    return joint


def all_tuples(rule: Rule) -> tuple[IntArray, Array]:
    """Return all draft tuples and their masses."""
    try:
        return rule.law.tuples()
    except TooManyTuplesError as error:
        raise NotExactError(f"{error}; estimate() simulates drafts") from error


def enumerated_law(rule: Rule) -> Array:
    """Return a rule's accepted law by enumerating the drafts."""
    return enumerated_by_position(rule).sum(axis=0)


def few_by_position(rule: Rule) -> Array:
    """Return :func:`enumerated_by_position`, if that is soon."""
    rows = rule.law.table_rows()
    if rows > FEW:
        raise NotExactError(
            f"{counted(rows)} tuples of k = {rule.law.k} drafts are too many to say which of them "
            "is accepted: use fewer drafts or tokens"
        )
    return enumerated_by_position(rule)


def enumerated_by_position(rule: Rule) -> Array:
    """Return the probability that the output is y and draft i the first that is y: (k, n)."""
    tuples, masses = all_tuples(rule)
    # In the kernel's arithmetic: a plan in floats may have an exact target.
    accepted = zeros((rule.law.k, len(rule.target)), like=rule.kernel(tuples[0].tolist()))
    for x, mass in zip(tuples, masses, strict=True):
        add_first(accepted, x.tolist(), rule.kernel(x), mass)
    return accepted


ENUMERATION_LIMIT = 20_000
"""Most draft tuples that an acceptance in floats is enumerated for, if there is another way."""


FEW_IN_FLOATS = 500
"""Most draft tuples that are enumerated in floats to say which draft is accepted."""


def refuse_many_tuples(law: DraftLaw) -> None:
    """Refuse to enumerate for residual hits what takes long, since they can be simulated."""
    rows = law.table_rows()
    if rows > ENUMERATION_LIMIT:
        raise NotExactError(
            f"residual hits take all of {counted(rows)} draft tuples to know exactly: estimate() "
            "simulates them"
        )


def enumerated_acceptance(rule: Rule) -> Number:
    """Return a rule's acceptance by enumerating the drafts; small vocabularies only."""
    return as_number(enumerated_law(rule).sum(), like=rule.target)


def by_position_or_estimate(rule: Rule) -> Array:
    """Return how likely draft i is accepted as y, (k, n), or where that takes long an estimate."""
    # Estimates are floats.
    exact = is_exact(rule.target)
    if exact or not rule.enumerates_positions or rule.law.table_rows() <= FEW_IN_FLOATS:
        try:
            return rule.accepted().by_position_and_token
        except NotExactError:
            if exact:
                raise
    return rule.estimate().by_position_and_token.value


def acceptance_or_estimate(rule: Rule) -> Known:
    """Return a rule's acceptance, or where that takes too long an estimate of it."""
    try:
        return Exact(rule.acceptance())
    except NotExactError:
        return rule.estimate().probability
