"""A rule for any draft law: mixed priority orders, with a certified gap (Beyond, prop. 1).

For independent drafts the orders may be of pools of tokens (Different, prop. 1 and 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, as_array, cached_property, shown
from otspec._base.arguments import as_integer, as_real, plain_integer
from otspec.chance import Chance
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.estimate import Estimate
from otspec.rules.base import accepted
from otspec.rules.base.accepted import DrawnDrafts, Estimated
from otspec.rules.base.law_rule import LawRule
from otspec.rules.priority.order_search import Mixture, mix_priorities
from otspec.rules.priority.pooled_mixtures import mix_cut_pools, mix_groups

MOST_POOLS = 4096  # most pools; the linear programs that weigh their orders have two rows for each


def as_pools(pools: Any, law: DraftLaw) -> str | int | IntArray:
    """Check what is put in order: ``"tokens"``, how many pools, or the pool of each token."""
    if isinstance(pools, str) and pools == "tokens":
        return pools
    found: int | IntArray | None = plain_integer(pools)
    if found is not None:
        wanted = "how many pools, such as 256"
        found = as_integer(found, "pools", 2, MOST_POOLS, wanted=wanted)
    elif not isinstance(pools, (str, bytes, dict, set)):
        labels = as_array(pools, "pools")
        if labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels):
            found = np.unique(labels, return_inverse=True)[1]
    if found is None:
        raise ValueError(
            f"pools is {shown(pools)}: pass 'tokens', how many pools at most, such as 256, or one "
            "integer for each token, its pool"
        )
    if not law.independent:
        raise ValueError(
            f"pools is {shown(pools)}, but draft_law is {type(law).__name__}: pools are for "
            "independent drafts, Independent or IID; use 'tokens'"
        )
    if not isinstance(found, int) and len(found) != law.n:
        raise ValueError(
            f"pools has {len(found)} entries for {law.n} tokens: pass the pool of each"
        )
    return found


@dataclass(frozen=True, eq=False)
class PriorityMixture(LawRule):
    """Draw a priority order, select the draft that comes first in it, then couple maximally.

    Laws: the output is distributed as the target, whatever the orders; the acceptance is at most
    ``gap`` below the optimum unless orders or pools were used up; :attr:`bound` proves it. Source:
    the vertices of the feasible selection laws (Border's theorem for any draft law).

    Parameters
    ----------
    draft_law : DraftLaw
        Any law whose ``inside_prefixes`` is at hand: two or more independent drafts and drafts
        without replacement at any vocabulary, others where they can be enumerated.
    target : array_like, shape (n,)
    gap : number
        Stop adding orders when the acceptance is certified to be this close to the optimum.
        0 ends at the optimum exactly in exact arithmetic.
    most : int
        How many orders to try at most.
    pools : str, int or array_like of int, shape (n,)
        What is put in order. ``"tokens"``: all tokens, for every law. For independent drafts also
        how many pools of tokens at most, from 2 to 4,096, which are cut where it matters: hundreds
        do at any vocabulary, in about a second. Or the pool of each token. A draft
        in a pool is selected uniformly at random.
    normalize : bool
        Scale the target to sum 1.

    Raises
    ------
    ValueError
        An unusable target, another length or arithmetic than the law's, a negative gap, no
        order, or pools of drafts that are not independent.

    Examples
    --------
    >>> import otspec
    >>> law = otspec.Independent([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    >>> rule = PriorityMixture(law, [0.1, 0.6, 0.3])
    >>> round(rule.acceptance(), 6), round(rule.bound, 6)
    (0.84, 0.84)
    >>> round(PriorityMixture(law, [0.1, 0.6, 0.3], pools=3).acceptance(), 6)
    0.84
    """

    name: ClassVar[str] = "priority-mixture"
    title: ClassVar[str] = "priority mixture"
    formula: ClassVar[bool] = False

    gap: Number = 1e-6
    most: int = 100
    pools: Any = "tokens"

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        most = as_integer(self.most, "most", 1, wanted="a number of orders")
        gap, pools = as_real(self.gap, "gap", 0), as_pools(self.pools, self.draft_law)
        self._hold(gap=gap, most=most, pools=pools)

    @cached_property
    def mixture(self) -> Mixture:
        """The orders, their weights, the law of the selected token, and the bound."""
        asked = self.law, self.target, self.gap, self.most
        if isinstance(self.pools, str):
            return mix_priorities(*asked)
        mix = mix_cut_pools if isinstance(self.pools, int) else mix_groups
        return mix(*asked, self.pools)

    @property
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""
        return self.mixture.law

    @property
    def bound(self) -> Number:
        """A bound on the acceptance of every rule for this law, that of :attr:`cut`."""
        return self.mixture.bound

    @property
    def cut(self) -> tuple[int, ...]:
        """Ascending token ids of a set A with bound = q(A) + 1 − P(all drafts inside A)."""
        return tuple(self.mixture.cut.tolist())

    @cached_property
    def coupling(self) -> Coupling:
        """How the selected draft becomes the output."""
        return Coupling(self.mixture.law, self.target)

    def acceptance(self) -> Number:
        """Return Σ min(b, q) and how often a residual token happens to be a draft, enumerated.

        The second is at most ``bound`` − Σ min(b, q).

        Raises
        ------
        NotExactError
            Too many drafts.
        """
        if self.mixture.accepted == self.bound:
            return self.bound
        accepted.refuse_many_tuples(self.law)
        return accepted.enumerated_acceptance(self)

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says; for the acceptance only residual hits are drawn."""
        return MixedDrafts(self, size, seed)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return self.coupling.verify(drafts, self.mixture.select(drafts, chance), chance)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        return self.coupling.joint_kernel(drafts, self.mixture.shares(drafts))


@dataclass(frozen=True, eq=False)
class MixedDrafts(DrawnDrafts):
    """An estimate of what a mixture of priority orders accepts."""

    rule: PriorityMixture

    @cached_property
    def probability(self) -> Estimate:
        """What is known plus simulated residual hits."""
        rule, mixture = self.rule, self.rule.mixture
        known = mixture.accepted, rule.bound
        return self.with_hits(lambda x: rule.coupling.hits(x, mixture.shares(x)), known)
