"""A rule for any draft law: priority orders, mixed so that its distance from best is certified."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arguments import as_integer, as_real
from otspec.arithmetic import Array, IntArray, Number, sums_by
from otspec.distributions import Distribution, as_distribution
from otspec.drafts import DraftLaw
from otspec.drafts.contract import as_law, inverted
from otspec.estimate import Estimate
from otspec.rules.contract import ENUMERATION_LIMIT, enumerated_acceptance
from otspec.rules.selecting import SelectingRule
from otspec.selection.priorities import Mixture, mix_priorities


@dataclass(frozen=True, eq=False)
class PriorityMixture(SelectingRule):
    """Draw a priority order, select the draft that comes first in it, then couple maximally.

    Laws: the output is distributed as the target, whatever the orders; the acceptance is at most
    ``gap`` below the optimum unless the orders were used up, and :attr:`bound` proves it. Source:
    the vertices of the feasible selection laws (Border's theorem for any draft law).

    Parameters
    ----------
    draft_law : DraftLaw
        Any law whose ``inside_prefixes`` is at hand: two or more independent drafts and drafts
        without replacement at any vocabulary, others where they can be enumerated.
    target : array_like, shape (n,)
    gap : number
        Stop adding orders when the acceptance is certified to be this close to the optimum.
        0 ends at the optimum exactly in exact arithmetic (which needs pycddlib).
    most : int
        How many orders to try at most.
    normalize : bool
        Scale the target to sum 1.

    Raises
    ------
    ValueError
        An unusable target, another length or arithmetic than the law's, a negative gap, or no
        order.

    Examples
    --------
    >>> import otspec
    >>> law = otspec.Independent([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    >>> rule = PriorityMixture(law, [0.1, 0.6, 0.3])
    >>> round(rule.acceptance(), 6), round(rule.bound, 6)
    (0.84, 0.84)
    """

    title: ClassVar[str] = "priority mixture"

    draft_law: DraftLaw
    target: Distribution
    gap: Number = 1e-6
    most: int = 100
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        target = as_distribution(self.target, "target", normalize=normalize)
        as_law(self.law, "draft_law").as_target(target)
        object.__setattr__(self, "target", target)
        most = as_integer(self.most, "most", 1, wanted="a number of orders")
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "gap", as_real(self.gap, "gap", 0))

    @property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return self.draft_law

    @property
    def k(self) -> int:  # type: ignore[override]
        """Number of drafts."""
        return self.law.k

    @cached_property
    def mixture(self) -> Mixture:
        """The orders, their weights, the law of the selected token, and the bound."""
        return mix_priorities(self.law, self.target, self.gap, self.most)

    @property
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""
        return self.mixture.law

    @property
    def bound(self) -> Number:
        """A bound on the acceptance of every rule for this law, from a cut."""
        return self.mixture.bound

    def acceptance(self) -> Number:
        """Return Σ min(b, q) and how often a residual token happens to be a draft.

        The second is at most ``bound`` − Σ min(b, q). It is enumerated where the drafts can be;
        elsewhere an :class:`otspec.estimate.Estimate` between the two is returned.
        """
        if self.mixture.accepted == self.bound:
            return self.bound
        if self.law.table_rows() <= ENUMERATION_LIMIT:
            return enumerated_acceptance(self)
        return Estimate.between(float(self.mixture.accepted), float(self.bound))

    def _selection(self, x: tuple[int, ...]) -> Array:
        first = np.argmin(self._ranks[:, list(x)], axis=1)
        return sums_by(first, self.mixture.weights, self.k)

    def _selected(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        order = int(inverted(self._cumulative_weights, rng.random(1))[0])
        return x[int(np.argmin(self._ranks[order, list(x)]))]

    @cached_property
    def _ranks(self) -> IntArray:
        """Each token's place in each order, shape (r, n)."""
        ranks: IntArray = np.argsort(self.mixture.orders, axis=1)
        return ranks

    @cached_property
    def _cumulative_weights(self) -> Array:
        return np.cumsum(self.mixture.weights.astype(float))
