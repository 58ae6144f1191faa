"""SpecHub: two drafts, one of them always the likeliest token (SpecHub, alg. 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number, zeros
from otspec._base.frozen import cached_property
from otspec.chance import Chance
from otspec.coupling import residual_of
from otspec.distributions import Distribution
from otspec.drafts import Hub, SingleDraftLaw
from otspec.rules.base.pair_rule import PairRule


@dataclass(frozen=True, eq=False)
class SpecHub(PairRule):
    """Serve every token x off the hub a from the pairs (x, a), then (a, x); a takes what is left.

    Law: the output is distributed as the target; optimal for SpecHub's draft law.
    Source: SpecHub, alg. 3 and thms. 2–4. Parameters and errors:
    :class:`otspec.rules.PairRule`; ``k`` is 2.

    Examples
    --------
    >>> SpecHub(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]).acceptance()
    Fraction(1, 1)
    """

    name: ClassVar[str] = "spechub"
    title: ClassVar[str] = "SpecHub"
    batch: ClassVar[str | None] = "spechub"
    law_class: ClassVar[type[SingleDraftLaw]] = Hub
    only_k: ClassVar[int | None] = 2

    k: int = 2

    def acceptance(self) -> Number:
        """Return what the tokens off the hub take, and what the hub can take of the rest."""
        # A residual token is never one of the drafts: a pair keeps mass only if its token off the
        # hub is served in full, and then the hub is too.
        return as_number(sum(mass.sum() for mass in self._plan.values()), like=self.draft)

    def _by_token(self) -> Array:
        """Return the accepted mass of each token, shape (n,); see :meth:`acceptance`."""
        plan = self._plan
        accepted: Array = plan["x of (x, a)"] + plan["x of (a, x)"]
        accepted[Hub(self.draft).hub] += (plan["a of (a, x)"] + plan["a of (x, a)"]).sum()
        return accepted

    def _by_position(self) -> Array:
        """Return the same by token, shape (2, n)."""
        plan, hub = self._plan, Hub(self.draft).hub
        by_draft = zeros((2, len(self.draft)), like=self.draft)
        by_draft[0] = plan["x of (x, a)"]
        by_draft[1] = plan["x of (a, x)"]
        # If the hub is certain, both drafts are the hub and the first is the accepted one.
        certain = plan["a of (x, a)"][hub]
        by_draft[0, hub] += plan["a of (a, x)"].sum() + certain
        by_draft[1, hub] += plan["a of (x, a)"].sum() - certain
        return by_draft

    @cached_property
    def _plan(self) -> dict[str, Array]:
        """The accepted mass of each pair by x; the hub takes equal shares of what is left."""
        law = Hub(self.draft)
        hub_last, hub_first = law.pair_masses()
        wanted = self.target.copy()
        wanted[law.hub] *= 0
        x_first = np.minimum(wanted, hub_last)
        x_second = np.minimum(wanted - x_first, hub_first)
        open_for_hub = self.target[law.hub]
        a_first, open_for_hub = _served(hub_first - x_second, open_for_hub)
        a_second, _ = _served(hub_last - x_first, open_for_hub)
        return {
            "x of (x, a)": x_first,
            "x of (a, x)": x_second,
            "a of (a, x)": a_first,
            "a of (x, a)": a_second,
        }

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        law, plan = Hub(self.draft), self._plan
        place = 0 if drafts[1] == law.hub else 1  # of the token beside the hub
        pair, token = ("(x, a)", "(a, x)")[place], drafts[place]
        mass = law.pair_masses()[place][token]
        token_takes, hub_takes = plan[f"x of {pair}"][token], plan[f"a of {pair}"][token]
        if chance.accept(token_takes, mass):
            return place
        if chance.accept(hub_takes, mass - token_takes):
            return 0 if token == law.hub else 1 - place
        return residual_of(self._by_token(), self.target)


def _served(left: Array, wanted: Number) -> tuple[Array, Number]:
    """Return what a token takes of each pair that is left, in equal shares, and what it lacks."""
    total = left.sum()
    if total <= wanted:
        return left, wanted - total
    return left * (wanted / total), wanted * 0
