"""SpecHub: two drafts, one of them always the likeliest token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Number, as_number
from otspec.drafts import Hub
from otspec.rules.contract import Rule


@dataclass(frozen=True, eq=False)
class SpecHub(Rule):
    """Serve every token x off the hub a from the pairs (x, a), then (a, x); a takes what is left.

    Law: the output is distributed as the target; optimal for SpecHub's draft law.
    Source: SpecHub, alg. 3 and thms. 2–4. Parameters and errors:
    :class:`otspec.rules.contract.Rule`; ``k`` is 2.

    Examples
    --------
    >>> SpecHub(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]).acceptance()
    Fraction(1, 1)
    """

    title: ClassVar[str] = "SpecHub"
    drafts: ClassVar[str] = "hub"
    only_k: ClassVar[int | None] = 2

    k: int = 2

    def acceptance(self) -> Number:
        """Return what the tokens off the hub take, and what the hub can take of the rest.

        A residual token is never one of the drafts: a pair keeps mass only if its token off the
        hub is served in full, and then the hub is too.
        """
        law = Hub(self.draft)
        hub_last, hub_first = law.pair_masses()
        by_first = np.minimum(self.target, hub_last)
        by_second = np.minimum(self.target - by_first, hub_first)
        taken = by_first + by_second
        taken[law.hub] -= taken[law.hub]
        off_hub = as_number(taken.sum(), like=self.draft)
        return off_hub + min(as_number(self.target[law.hub], like=self.draft), 1 - off_hub)
