"""Recursive rejection (MCSD, alg. 1; Theory, 5), also of different models (Different, prop. 6)."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic, as_permutation, cached_property, shown
from otspec.chance import Chance
from otspec.coupling import residual_of
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.estimate import Exact, Known
from otspec.ratios import Pair
from otspec.rules.base.counts import no_counts, over, with_one_more
from otspec.rules.base.law_rule import LawRule
from otspec.rules.base.pair_rule import PairRule, refuse_many_drafts
from otspec.rules.base.rule import CountedLaw, Rule

MOST_ROUNDS, MOST_EXACT_ROUNDS = 100_000, 10_000  # most drafts, in floats and in exact arithmetic


class InTurn(Rule):
    """Recursive rejection as a program, whatever each draft is drawn from; faults replace parts."""

    @abstractmethod
    def offered(self, earlier: Sequence[int]) -> Distribution:
        """Return the distribution of the draft after some earlier ones, shape (n,)."""

    def residual(self, wanted: Distribution, offered: Distribution) -> Distribution:
        """Return what is wanted after a rejection, (wanted − offered)₊ normalized, shape (n,)."""
        return residual_of(offered, wanted)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        wanted = self.target
        for position, token in enumerate(drafts):
            offered = self.offered(drafts[:position])
            if chance.accept(wanted[token], offered[token]):
                return position
            wanted = self.residual(wanted, offered)
        return wanted


@dataclass(frozen=True, eq=False)
class RecursiveRejection(InTurn, PairRule):
    """Accept draft i with probability min(1, q_{i−1}/p), else go on with q_i ∝ (q_{i−1} − p)₊.

    q_0 is the target; after k rejections the output is drawn from q_k. For drafts of different
    models see :class:`otspec.rules.RecursiveRejectionIndependent`.

    Law: the output is distributed as the target. Source: MCSD, alg. 1; SpecHub, alg. 1 with
    replacement; SpecInfer's multi-step speculative sampling. Parameters and errors:
    :class:`otspec.rules.PairRule`; at most 100,000 drafts, 10,000 in exact arithmetic.

    Examples
    --------
    >>> RecursiveRejection(["1/2", "1/2"], ["1/4", "3/4"], k=2).acceptance()
    Fraction(7, 8)
    """

    name: ClassVar[str] = "recursive-rejection"
    title: ClassVar[str] = "recursive rejection"
    batch: ClassVar[str | None] = "recursive_rejection"
    nested: ClassVar[bool] = True
    couples_one: ClassVar[bool] = True

    def acceptance(self) -> Number:
        """Return 1 − Π_i Σ (q_{i−1} − p)₊; a residual token is never one of the drafts."""
        # Without normalizing in between: if W is the probability that all drafts so far were
        # rejected, W·q_i = (q − c·p)₊ with c the sum of the earlier W, since positive parts nest.
        ((_, rejected, scale),) = deque(_rejected(self.pair, self.k), maxlen=1)
        return 1 - arithmetic.quotient(rejected, scale)

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance for each of several k: all of the rejections of the most drafts."""
        if not ks:
            return []
        missed = _rejections(pair, max(ks))
        return [Exact(1 - missed[k]) for k in ks]

    def _by_token(self) -> Array:
        """Return min(q, c·p) with c the sum of W_0 to W_{k−1}, shape (n,)."""
        *_, (drafted, _, scale) = _rejected(self.pair, self.k)
        return np.minimum(self.target, arithmetic.quotient(drafted, scale) * self.draft)

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output."""
        # A token that can be rejected is out of the residual from then on, so that no draft before
        # the accepted one equals it.
        accepted, so_far = no_counts(self), 0
        draft, target, unit = arithmetic.over_one_denominator(self.draft, self.target)
        for drafted, _, scale in _rejected(self.pair, self.k):
            kept = np.minimum(target * scale, drafted * draft)
            accepted = with_one_more(accepted, draft, unit - draft)
            accepted[1] += kept - so_far
            so_far = kept * unit
        return CountedLaw(over(accepted[1:], scale * unit), self.target - over(kept, scale * unit))

    def _by_position(self) -> Array:
        """Return min(q, c·p) with c the sum of W_0 to W_{i−1}, less that of draft i − 1: (k, n)."""
        # A token that was rejected is out of the residual, so that the accepted draft is the first
        # that is this token.
        accepted = arithmetic.zeros((self.k + 1, len(self.target)), like=self.target)
        for i, (drafted, _, scale) in enumerate(_rejected(self.pair, self.k), start=1):
            accepted[i] = np.minimum(self.target, arithmetic.quotient(drafted, scale) * self.draft)
        return accepted[1:] - accepted[:-1]

    def offered(self, earlier: Sequence[int]) -> Distribution:  # noqa: ARG002
        """Return the draft: each is drawn from the same distribution."""
        return self.draft


def _rejections(pair: Pair, k: int) -> list[Number]:
    """Return W_0 = 1, …, W_k: the probability that the first i drafts are rejected."""
    one = arithmetic.as_number(1, like=pair.draft)
    return [
        one,
        *(arithmetic.quotient(rejected, scale) for _, rejected, scale in _rejected(pair, k)),
    ]


def _rejected(pair: Pair, k: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield c = W_0 + … + W_{i−1}, W_i and what to divide both by, for i = 1 to k."""
    # Exact numbers are whole ones over a power of the common denominator: fractions would look for
    # common divisors of ever longer numbers. Tokens drop out of (q − c·p)₊ in the order of the
    # ratios. While no more do, the next W is W·(1 − p(those left)), so that many drafts cost little
    # more than few.
    refuse_many_drafts(k, MOST_EXACT_ROUNDS if pair.exact else MOST_ROUNDS, "RecursiveRejection")
    ratios = pair.by_ratio.ratios[: np.count_nonzero(pair.draft)]
    draft, target, unit = arithmetic.over_one_denominator(pair.by_ratio.draft, pair.by_ratio.target)
    zero, one = unit * 0, unit // unit
    drafted, rejected, scale, gone, stay = zero, one, one, zero, one
    wanted, offered = zero, one  # of the token that drops out next
    for _ in range(k):
        drafted = drafted * unit + rejected
        if wanted * scale <= drafted * offered:
            # In floats a ratio may be rounded to the other side: that token drops out first.
            level = np.array([arithmetic.quotient(drafted, scale)], dtype=ratios.dtype)
            out = max(int(np.searchsorted(ratios, level, side="right")[0]), 1 if offered else 0)
            gone = gone + _plain(draft[:out].sum())
            draft, target, ratios = draft[out:], target[out:], ratios[out:]
            rejected = max(zero + _plain((target * scale - drafted * draft).sum()), zero)
            wanted, offered, stay = one, zero, unit
            if len(ratios):
                wanted, offered, stay = _plain(target[0]), _plain(draft[0]), gone
        else:
            rejected = rejected * stay
        scale = scale * unit
        yield drafted * unit, rejected, scale


def _plain(value: Any) -> Any:
    """Return a scalar of an array as a number of Python, which is faster."""
    return value.item() if isinstance(value, np.generic) else value


MOST_ROUNDS_OF_MODELS = 1_000  # most drafts: a row of n numbers is kept for each
MOST_ORDERED = 7  # most drafts of which all orders are tried


@dataclass(frozen=True, eq=False)
class RecursiveRejectionIndependent(InTurn, LawRule):
    """Accept draft i with probability min(1, q_{i−1}/p_i), else go on with q_i ∝ (q_{i−1} − p_i)₊.

    q_0 is the target, p_i the distribution of draft i; after k rejections the output is drawn
    from q_k. What is accepted depends on the order of the drafts; for equal distributions
    :class:`RecursiveRejection` is quicker.

    Law: the output is distributed as the target. Source: SpecInfer's multi-step speculative
    sampling. Parameters and errors: a law of independent drafts and a target, as for
    :class:`PriorityMixture`; at most 1,000 drafts.

    Examples
    --------
    >>> import otspec
    >>> law = otspec.Independent([["1/2", "1/2"], ["1/8", "7/8"]])
    >>> rule = RecursiveRejectionIndependent(law, ["1/4", "3/4"])
    >>> rule.acceptance(), rule.best_order()
    (Fraction(31, 32), (0, 1))
    """

    name: ClassVar[str] = "recursive-rejection-independent"
    title: ClassVar[str] = "recursive rejection (different drafts)"

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        if not self.draft_law.independent:
            raise ValueError(
                f"draft_law is {type(self.draft_law).__name__}: recursive rejection goes from "
                "one independent draft to the next; pass Independent([draft, draft, ...])"
            )
        refuse_many_drafts(self.k, MOST_ROUNDS_OF_MODELS, type(self).__name__)

    def acceptance(self) -> Number:
        """Return 1 − Π_i Σ (q_{i−1} − p_i)₊; a residual token is never one of the drafts."""
        return 1 - arithmetic.as_number(self._residuals[-1].sum(), like=self.target)

    def _by_token(self) -> Array:
        """Return q − W_k q_k, with W_k the probability that all are rejected, shape (n,)."""
        return self.target - self._residuals[-1]

    def _by_position(self) -> Array:
        """Return W_{i−1} q_{i−1} − W_i q_i for draft i: a rejected token is not wanted again."""
        return self._residuals[:-1] - self._residuals[1:]

    def in_order(self, order: Sequence[int] | IntArray) -> Self:
        """Return the rule that goes through the drafts in another order: 0 to k − 1, once each."""
        numbers = as_permutation(order, self.k, what="draft")
        return replace(self, draft_law=Independent([self._drafts[i] for i in numbers.tolist()]))

    def best_order(self) -> tuple[int, ...]:
        """Return the order in which most is accepted; ``ValueError`` for more than 7 drafts."""
        if self.k > MOST_ORDERED:
            raise ValueError(
                f"k is {shown(self.k)}: all orders are tried, of at most {MOST_ORDERED} drafts; "
                "compare some with in_order()"
            )
        one = arithmetic.as_number(1, like=self.target)
        return min(self._ends((), self.target, one), key=lambda end: end[0])[1]

    def _ends(
        self, order: tuple[int, ...], residual: Array, rejected: Number
    ) -> Iterator[tuple[Number, tuple[int, ...]]]:
        """Yield every order that goes on as given, and how likely it rejects all drafts."""
        if len(order) == self.k:
            yield rejected, order
        for i in range(self.k):
            if i not in order:
                rest = arithmetic.positive_part(residual - rejected * self._drafts[i])
                yield from self._ends(
                    (*order, i), rest, arithmetic.as_number(rest.sum(), like=rest)
                )

    @cached_property
    def _drafts(self) -> tuple[Array, ...]:
        return tuple(self.draft_law.marginal(i) for i in range(self.k))

    @cached_property
    def _residuals(self) -> Array:
        """W_i q_i for i = 0 to k, shape (k + 1, n): what is left of the target, not normalized."""
        residuals = arithmetic.zeros((self.k + 1, len(self.target)), like=self.target)
        residuals[0], rejected = self.target, arithmetic.as_number(1, like=self.target)
        for i, draft in enumerate(self._drafts):
            residuals[i + 1] = arithmetic.positive_part(residuals[i] - rejected * draft)
            rejected = arithmetic.as_number(residuals[i + 1].sum(), like=self.target)
        return residuals

    def offered(self, earlier: Sequence[int]) -> Distribution:
        """Return the distribution of the next draft."""
        return self._drafts[len(earlier)]
