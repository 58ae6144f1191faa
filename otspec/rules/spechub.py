"""SpecHub (SpecHub, alg. 3) and its variant with two hubs: drafts of which one is a hub."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, Frozen, Number, as_number, cached_property, positive_part, zeros
from otspec.chance import Chance
from otspec.coupling import residual_of
from otspec.distributions import Distribution
from otspec.drafts import Hub, SingleDraftLaw, TwoHubs
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


@dataclass(frozen=True, eq=False)
class HubShares(Frozen):
    """Which part of each unordered pair of drafts goes to whom."""

    token: Array  # (2, n): of the pair of hub i and x, i the row, the share that x takes
    hub: Array  # (2, n): the share that the hub takes
    both: Array  # (2,): of the pair of the hubs, the share that each of them takes


@dataclass(frozen=True, eq=False)
class SpecTwoHubs(PairRule):
    """Serve every token off the hubs from its pairs; what is left is split between the hubs.

    What x leaves of its pairs with a and with b it may leave of either. So a can have more or
    less: it gets what is nearest to q(a), and b the rest.

    Law: the output is distributed as the target; no rule for these drafts accepts more. Source:
    ours, see "Verification rules" in the documentation; SpecHub, app. C.3, has the idea of several
    hubs. Parameters and errors: :class:`otspec.rules.PairRule`; ``k`` is 2, and the draft has two
    tokens at least.
    """

    name: ClassVar[str] = "spechub-two-hubs"
    title: ClassVar[str] = "SpecHub (two hubs)"
    law_class: ClassVar[type[SingleDraftLaw]] = TwoHubs
    only_k: ClassVar[int | None] = 2
    compared: ClassVar[bool] = False

    k: int = 2

    @cached_property
    def _pairs(self) -> tuple[Array, Number]:
        """The masses of the pairs of each hub and x, shape (2, n), and of the pair of the hubs."""
        law = TwoHubs(self.draft)
        last, first = law.pair_masses()
        pairs: Array = last + first
        both = pairs[0, law.hubs[1]] + pairs[1, law.hubs[0]]
        pairs[:, law.hubs] -= pairs[:, law.hubs]
        return pairs, both

    @cached_property
    def _shares(self) -> HubShares:
        pairs, both = self._pairs
        hubs = TwoHubs(self.draft).hubs
        total = pairs.sum(axis=0)
        left = positive_part(total - self.target)
        # The least and the most of it that each hub can have: the other's pair is full, or its own.
        least, most = positive_part(left - pairs[::-1]), np.minimum(left, pairs)
        free = (most - least)[0].sum() + both
        lacking = positive_part(self.target[hubs[:1]] - least[0].sum())[0]
        part = min(_ratio(lacking, free), 1)
        parts = np.array([part, 1 - part], dtype=pairs.dtype)
        of_pairs, of_both = least + (most - least) * parts[:, None], parts * both
        got = of_pairs.sum(axis=1) + of_both
        served = np.array(
            [min(_ratio(self.target[hub], mass), 1) for hub, mass in zip(hubs, got, strict=True)],
            dtype=pairs.dtype,
        )
        left_shares = _ratios(of_pairs, pairs)
        return HubShares(1 - left_shares, left_shares * served[:, None], parts * served)

    def _by_token(self) -> Array:
        """Return the accepted mass of each token, shape (n,)."""
        # A residual token is never one of the drafts: a pair keeps mass only if its tokens are
        # served in full.
        (pairs, both), shares = self._pairs, self._shares
        accepted: Array = (shares.token * pairs).sum(axis=0)
        accepted[TwoHubs(self.draft).hubs] = (shares.hub * pairs).sum(axis=1) + shares.both * both
        return accepted

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        shares, hubs = self._shares, TwoHubs(self.draft).hubs.tolist()
        both = set(drafts) == set(hubs)
        of_hubs = dict(zip(hubs, shares.both.tolist(), strict=True))
        taken = of_hubs if both else _of_a_pair(shares, hubs, drafts)
        left = as_number(1, like=self.target)  # the probability that no draft before was accepted
        for token, share in taken.items():
            if chance.accept(share, left):
                return drafts.index(token)
            left = left - share
        return residual_of(self._by_token(), self.target)


def _of_a_pair(shares: HubShares, hubs: Sequence[int], x: Sequence[int]) -> dict[int, Any]:
    """Return what is accepted of a hub and another token; nothing of drafts without a hub."""
    for row, hub in enumerate(hubs):
        if hub in x:
            other = next((token for token in x if token != hub), hub)
            return {other: shares.token[row, other], hub: shares.hub[row, other]}
    return {}


def _ratio(part: Any, whole: Any) -> Any:
    """Return part/whole; 1 where there is nothing."""
    return part / whole if whole > 0 else whole * 0 + 1


def _ratios(parts: Array, wholes: Array) -> Array:
    """Return parts/wholes; 0 where there is nothing."""
    ratios, some = zeros(wholes.shape, like=wholes), wholes > 0
    ratios[some] = parts[some] / wholes[some]
    return ratios
