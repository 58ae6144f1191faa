"""What priority orders put in order: all tokens, or pools of them (Different, prop. 1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arguments import as_integer, plain_integer
from otspec._base.arithmetic import IntArray, Number
from otspec._base.coerce import as_array, shown
from otspec._base.frozen import Frozen
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.rules.priority.pooled_mixtures import mix_cut_pools, mix_groups
from otspec.rules.priority.priorities import Mixture, mix_priorities

MOST_POOLS = 4096
"""Most pools; the linear programs that weigh their orders have two rows for each."""


class Ordered(Frozen, ABC):
    """What priority orders are made of."""

    any_law: ClassVar[bool] = False
    """Whether the drafts may have any law."""

    @abstractmethod
    def mixture(self, law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
        """Return a mixture of orders for a law and a target, as near the optimum as asked."""

    def check(self, law: DraftLaw) -> None:
        """Refuse drafts that are not independent, or tokens that are not those of the law."""
        if not (self.any_law or law.independent):
            raise ValueError(
                f"pools is {self!r}, but draft_law is {type(law).__name__}: pools are for "
                "independent drafts, Independent or IID; use 'tokens'"
            )


@dataclass(frozen=True)
class Tokens(Ordered):
    """Orders of all tokens."""

    any_law: ClassVar[bool] = True

    def mixture(self, law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
        """Return a mixture of orders of all tokens."""
        return mix_priorities(law, target, gap, most)


@dataclass(frozen=True)
class CutPools(Ordered):
    """Orders of at most so many pools, which are cut where it matters (Different, prop. 2)."""

    count: int

    def mixture(self, law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
        """Return a mixture of orders of pools on the two sides of a cut."""
        return mix_cut_pools(law, target, gap, most, self.count)


@dataclass(frozen=True, eq=False)
class Groups(Ordered):
    """Orders of given pools: the tokens of one number, for each number from 0 on."""

    labels: IntArray

    def check(self, law: DraftLaw) -> None:
        """Refuse another number of tokens, too."""
        super().check(law)
        if len(self.labels) != law.n:
            raise ValueError(
                f"pools has {len(self.labels)} entries for {law.n} tokens: pass the pool of each"
            )

    def mixture(self, law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
        """Return a mixture of orders of the given pools."""
        return mix_groups(law, target, gap, most, self.labels)


def as_ordered(pools: Any) -> Ordered:
    """Return what orders are made of, for what users write.

    ``pools``: ``"tokens"``, how many pools at most, or the pool of each token.
    """
    if isinstance(pools, Ordered):
        return pools
    if isinstance(pools, str) and pools == "tokens":
        return Tokens()
    number = plain_integer(pools)
    if number is not None:
        wanted = "how many pools, such as 256"
        return CutPools(as_integer(number, "pools", 2, MOST_POOLS, wanted=wanted))
    if not isinstance(pools, (str, bytes, dict, set)):
        labels = as_array(pools, "pools")
        if labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels):
            return Groups(np.unique(labels, return_inverse=True)[1])
    raise ValueError(
        f"pools is {shown(pools)}: pass 'tokens', how many pools at most, such as 256, or one "
        "integer for each token, its pool"
    )
