"""Drafts that a policy withdraws by token: a withdrawn draft is a null token (Theory, 36)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from otspec._base import as_permutation, as_tokens, cached_property, shown
from otspec._base.arithmetic import Array, IntArray, Number, is_exact, sums_by, zeros
from otspec.chance import Chance
from otspec.distributions import (
    Distribution,
    DistributionLike,
    Normalize,
    Unasked,
    as_distribution,
)
from otspec.drafts.base import DraftLaw, as_law
from otspec.drafts.fixed import Certain, Fixed
from otspec.drafts.independent import IID, Independent, Product
from otspec.drafts.single import SingleDraftLaw


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Masked(DraftLaw):
    """Drafts of another law, of which only some tokens are kept.

    A withdrawn draft is the *null token*, one more token of the vocabulary: its id is ``law.n``,
    and its target is 0. So what is verified is a law of mass below 1 on the tokens that are kept,
    and every lossless rule stays lossless.

    Law: P(all drafts inside A) is the probability that all drafts that are left are inside A if the
    null token is in A; else that no draft is withdrawn and all are inside A. Targets are over the
    tokens of the law, or over those and the null token, which then has 0.

    Parameters
    ----------
    law : DraftLaw
        Of the drafts before any is withdrawn, over n tokens; else ``ValueError``.
    keep : iterable of int
        The tokens that are kept, else ``ValueError``. Drafts of all others are withdrawn.

    Examples
    --------
    >>> from otspec import IID, optimal_acceptance
    >>> law = Masked(IID(["9/10", "1/10"], k=1), keep=[0])
    >>> law.null, [str(mass) for mass in law.tuples()[1]], str(law.withdrawn())
    (2, ['9/10', '1/10'], '1/10')
    >>> optimal_acceptance(law, ["1/2", "1/2"]).acceptance
    Fraction(1, 2)
    """

    law: DraftLaw
    keep: tuple[int, ...]
    k: int
    mapped: IntArray
    """What becomes of a draft of each token: itself or the null token, shape (n,)."""

    def __init__(self, law: DraftLaw, keep: Iterable[int]) -> None:
        inner = as_law(law)
        kept = tuple(sorted(set(as_tokens(keep, inner.n, "keep", unordered=True))))
        mapped = np.full(inner.n, inner.n, dtype=np.intp)
        mapped[list(kept)] = kept
        self._hold(law=inner, keep=kept, k=inner.k, mapped=mapped)

    def __repr__(self) -> str:
        """Return the law and the tokens that are kept."""
        return f"Masked({self.law!r}, keep={shown(list(self.keep))})"

    @property
    def null(self) -> int:
        """The id of the null token: the number of the other tokens."""
        return len(self.mapped)

    @property
    def nulls(self) -> tuple[int, ...]:
        """All null tokens: this law's, and before it that of a masked law that it masks again."""
        return (*(self.law.nulls if isinstance(self.law, Masked) else ()), self.null)

    @cached_property
    def _withdrawn(self) -> IntArray:
        """The tokens of which no draft is kept."""
        return np.flatnonzero(self.mapped == self.null)

    @cached_property
    def _probabilities_like(self) -> Array:
        kept = zeros(self.null + 1, like=self.law._probabilities())  # noqa: SLF001
        kept[[*self.keep, self.null]] += 1
        return kept

    def _probabilities(self) -> Array:
        return self._probabilities_like

    @property
    def accuracy(self) -> float:
        """By how much :meth:`inside` may be off: as that of the law."""
        return self.law.accuracy

    def as_target(
        self, target: DistributionLike, *, normalize: Normalize = Unasked.FALSE
    ) -> Distribution:
        """Check a target, of which the null token has 0 or nothing."""
        checked = as_distribution(target, "target", normalize=normalize)
        if len(checked) == self.n and not checked[self.null]:
            checked = as_distribution(checked[:-1], "target")
        elif len(checked) == self.n:
            raise ValueError(
                f"target gives the null token {self.null} the probability {checked[self.null]}: "
                "no text has it, so leave it out or give it 0"
            )
        return with_null(self.law.as_target(checked))

    def for_target(self, target: Distribution) -> DraftLaw:
        """Return an equal law that has formulas, if there is one, in the arithmetic of a target."""
        # Masked i.i.d., independent and certain drafts are such drafts of one more token.
        if isinstance(self.law, Certain):
            drafts = self.mapped[self.law.fixed].tolist()
            return Fixed(drafts, self.n, exact=is_exact(target))
        if self.k == 1 or isinstance(self.law, IID):
            return IID(self.marginal(0), self.k)
        if isinstance(self.law, Product):
            return Independent([self.marginal(i) for i in range(self.k)])
        return self

    def table_rows(self) -> int:
        """Return how many tuples the table of the law would have at most."""
        return self.law.table_rows()

    def _table(self) -> tuple[IntArray, Array]:
        tuples, masses = self.law.tuples()
        merged, which = np.unique(self.mapped[tuples], axis=0, return_inverse=True)
        return merged.astype(np.intp), sums_by(which.ravel(), masses, len(merged))

    def _inside(self, members: IntArray) -> Number:
        kept = np.intersect1d(members, self.keep).tolist()
        return self.law.inside(kept + (self._withdrawn.tolist() if self.null in members else []))

    def inside_prefixes(self, order: IntArray) -> Array:
        """Return P(all drafts inside order[:j]) for every j: two passes of the law."""
        order = as_permutation(order, self.n)
        kept, withdrawn = order[np.isin(order, self.keep)], self._withdrawn
        before = self.law.inside_prefixes(np.concatenate([kept, withdrawn]))
        after = self.law.inside_prefixes(np.concatenate([withdrawn, kept]))
        counts = np.concatenate([[0], np.cumsum(np.isin(order, self.keep))])
        with_null = np.concatenate([[False], np.cumsum(order == self.null) > 0])
        return np.where(with_null, after[len(withdrawn) + counts], before[counts])

    def _marginal(self, i: int) -> Distribution:
        return masked_row(self.law.marginal(i), self.keep)

    def _sample(self, size: int, rng: np.random.Generator) -> IntArray:
        return self.mapped[self.law.sample(size, rng)]

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one tuple: each draft of the law that is not kept becomes the null token."""
        return tuple(int(self.mapped[token]) for token in self.law.draw(chance))

    def withdrawn(self) -> Number:
        """Return the expected number of drafts that are withdrawn and need not be verified."""
        return self._number(sum(self.marginal(i)[self.null] for i in range(self.k)))

    @cached_property
    def set_aside(self) -> DraftLaw | None:
        """The law with the drafts as they were drawn, over n + 1 tokens; None if it has none.

        The last token stands for all withdrawn ones: it has their target and is never drafted; they
        have the target 0. So whoever knows which token was withdrawn verifies drafts of this law,
        and what is accepted is the same.
        """
        if not isinstance(self.law, SingleDraftLaw):
            return None
        return type(self.law)(with_null(self.law.draft), self.k)

    def target_aside(self, target: Array) -> Array:
        """Return the target of :attr:`set_aside`, or other costs of its tokens, shape (n + 1,)."""
        moved = zeros(self.n, like=target)
        moved[list(self.keep)] = target[list(self.keep)]
        moved[self.null] += target[self._withdrawn].sum()
        return moved


def with_null(row: Distribution) -> Distribution:
    """Return a distribution over one more token, which has probability 0."""
    return as_distribution(np.append(row, zeros(1, like=row)), "row")


def masked_row(row: Distribution, keep: Iterable[int]) -> Distribution:
    """Return a distribution of a draft in which all tokens that are not kept are the null token."""
    masked = zeros(len(row) + 1, like=row)
    members = list(keep)
    masked[members] = row[members]
    left = np.ones(len(row), dtype=bool)
    left[members] = False
    masked[-1] += row[left].sum()
    return as_distribution(masked, "row")
