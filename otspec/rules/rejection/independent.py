"""Recursive rejection of drafts of different models (SpecInfer's setting; Different, prop. 6)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from otspec._base.arguments import as_permutation
from otspec._base.arithmetic import Array, IntArray, Number, as_number, positive_part, zeros
from otspec._base.coerce import shown
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.drafts import Independent
from otspec.rules.base.law_rule import LawRule
from otspec.rules.base.pair_rule import refuse_many_drafts
from otspec.rules.rejection.recursive_rejection import InTurn

MOST_ROUNDS = 1_000
"""Most drafts: a row of n numbers is kept for each."""
MOST_ORDERED = 7
"""Most drafts of which all orders are tried."""


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
        refuse_many_drafts(self.k, MOST_ROUNDS, type(self).__name__)

    def acceptance(self) -> Number:
        """Return 1 − Π_i Σ (q_{i−1} − p_i)₊; a residual token is never one of the drafts."""
        return 1 - as_number(self._residuals[-1].sum(), like=self.target)

    def _by_token(self) -> Array:
        """Return q − W_k q_k, with W_k the probability that all are rejected, shape (n,)."""
        accepted: Array = self.target - self._residuals[-1]
        return accepted

    def _by_position(self) -> Array:
        """Return W_{i−1} q_{i−1} − W_i q_i for draft i: a rejected token is not wanted again."""
        by_position: Array = self._residuals[:-1] - self._residuals[1:]
        return by_position

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
        one = as_number(1, like=self.target)
        return min(self._ends((), self.target, one), key=lambda end: end[0])[1]

    def _ends(
        self, order: tuple[int, ...], residual: Array, rejected: Number
    ) -> Iterator[tuple[Number, tuple[int, ...]]]:
        """Yield every order that goes on as given, and how likely it rejects all drafts."""
        if len(order) == self.k:
            yield rejected, order
        for i in range(self.k):
            if i not in order:
                rest = positive_part(residual - rejected * self._drafts[i])
                yield from self._ends((*order, i), rest, as_number(rest.sum(), like=rest))

    @cached_property
    def _drafts(self) -> tuple[Array, ...]:
        return tuple(self.draft_law.marginal(i) for i in range(self.k))

    @cached_property
    def _residuals(self) -> Array:
        """W_i q_i for i = 0 to k, shape (k + 1, n): what is left of the target, not normalized."""
        residuals = zeros((self.k + 1, len(self.target)), like=self.target)
        residuals[0], rejected = self.target, as_number(1, like=self.target)
        for i, draft in enumerate(self._drafts):
            residuals[i + 1] = positive_part(residuals[i] - rejected * draft)
            rejected = as_number(residuals[i + 1].sum(), like=self.target)
        return residuals

    def offered(self, earlier: Sequence[int]) -> Distribution:
        """Return the distribution of the next draft."""
        return self._drafts[len(earlier)]
