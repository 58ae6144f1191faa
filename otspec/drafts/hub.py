"""Drafts of which all but one are fixed, or one is a hub (SpecHub): tables of O(n) rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, cached_property, shown, zeros
from otspec.chance import Chance
from otspec.distributions import Distribution, complement
from otspec.drafts.base import draw
from otspec.drafts.single import FixedButOne, SingleDraftLaw, likeliest, register


@register
@dataclass(frozen=True, eq=False)
class Hub(FixedButOne):
    """SpecHub's two drafts: one of them is always the likeliest token a, the hub.

    Law: P(x, a) = p(x) and P(a, x) = p(a) p(x) / (1 − p(a)) for x ≠ a, 0 for all other pairs;
    if p(a) = 1 both drafts are a. Of equally likely tokens the hub is the one of lowest id.
    Source: SpecHub, sec. 4.1. Parameters and errors: :class:`otspec.drafts.SingleDraftLaw`; k is 2.

    Examples
    --------
    >>> tuples, masses = Hub(["1/2", "1/4", "1/4"]).tuples()
    >>> [(tuple(map(int, x)), str(mass)) for x, mass in zip(tuples, masses)]
    [((1, 0), '1/4'), ((2, 0), '1/4'), ((0, 1), '1/4'), ((0, 2), '1/4')]
    """

    name: ClassVar[str] = "hub"
    words: ClassVar[str] = "hub"

    k: int = 2

    @classmethod
    def check_k(cls, draft: Distribution, k: int) -> None:  # noqa: ARG003 -- any will do
        """Refuse any k but 2."""
        if k != 2:
            raise ValueError(
                f"k is {shown(k)}, but hub drafts come in pairs: use k = 2 or another law"
            )

    @cached_property
    def hub(self) -> int:
        """The likeliest token."""
        return int(np.argmax(self.draft))

    def pair_masses(self) -> tuple[Array, Array]:
        """Return P(x, hub) and P(hub, x) by x, (n,) each, 0 at the hub; in the first if certain."""
        hub, hub_last = self.hub, self.draft.copy()
        others = hub_last[:hub].sum() + hub_last[hub + 1 :].sum()
        if others == 0:
            return hub_last, np.zeros_like(hub_last)
        hub_last[hub] -= hub_last[hub]
        # In this order nothing overflows: the quotient is at most 1.
        return hub_last, hub_last / others * self.draft[hub]

    @property
    def fixed(self) -> IntArray:
        """The hub."""
        return np.array([self.hub], dtype=np.intp)

    def free(self) -> Array:
        """Return P(x, hub) + P(hub, x) for x ≠ hub, and 0 for the hub, shape (n,)."""
        free: Array = np.add(*self.pair_masses())
        free[self.hub] -= free[self.hub]
        return free

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return 2 * self.n

    def _table(self) -> tuple[IntArray, Array]:
        tokens = np.arange(self.n, dtype=np.intp)
        hubs = np.full(self.n, self.hub, dtype=np.intp)
        tuples = np.concatenate([np.stack([tokens, hubs], 1), np.stack([hubs, tokens], 1)])
        return tuples, np.concatenate(self.pair_masses())

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one pair: a token from p; then the hub, or if it is the hub, a token off it."""
        first, hub = chance.choose(self.draft), self.hub
        off = self.draft.copy()
        off[hub] -= off[hub]
        if first != hub or not off.any():
            return first, hub
        return hub, chance.choose(off)


@register
@dataclass(frozen=True, eq=False)
class TopPlusOne(FixedButOne):
    """The k − 1 likeliest tokens, and one drawn from the draft off them.

    Law: drafts 1..k−1 are the likeliest tokens in descending order (ties: lowest id first);
    draft k is x with probability p(x) / (1 − p(Top)), x off the top. Parameters and errors:
    :class:`otspec.drafts.SingleDraftLaw`; also fewer than k tokens of positive probability.
    """

    name: ClassVar[str] = "top-plus-one"
    words: ClassVar[str] = "top-plus-one"
    distinct: ClassVar[bool] = True

    @property
    def top(self) -> IntArray:
        """The k − 1 likeliest tokens, in descending order of probability."""
        return likeliest(self.draft, self.k - 1)

    @property
    def fixed(self) -> IntArray:
        """The top."""
        return self.top

    def free(self) -> Distribution:
        """Return the law of the last draft, shape (n,): the draft renormalized off the top."""
        rest = self.draft.copy()
        rest[self.top] -= rest[self.top]
        return rest / rest.sum()

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return self.n

    def _table(self) -> tuple[IntArray, Array]:
        tops = np.broadcast_to(self.top, (self.n, self.k - 1))
        return np.column_stack([tops, np.arange(self.n, dtype=np.intp)]), self.free()

    def _sample(self, size: int, rng: np.random.Generator) -> IntArray:
        tops = np.broadcast_to(self.top, (size, self.k - 1))
        return np.column_stack([tops, draw(self.free(), size, rng)])

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one tuple: the top, and a token off it."""
        return (*self.top.tolist(), chance.choose(self.free()))


@dataclass(frozen=True, eq=False)
class TwoHubs(SingleDraftLaw):
    """Two distinct drafts, at least one of them a hub: one of the two likeliest tokens, a and b.

    Law: the first draft is drawn from p. If it is a hub, the second is drawn from p off it; else
    the second is a hub, in proportion to p. So P(x, a) = p(x) p(a)/(p(a) + p(b)) and P(a, x) = p(a)
    p(x)/(1 − p(a)) for x ≠ a, b, and P(a, b) = p(a) p(b)/(1 − p(a)), alike with b. Of equally
    likely tokens those of lower ids are the hubs. The law is ours, after SpecHub's idea of several
    hubs (app. C.3): with one hub it is :class:`otspec.drafts.Hub`, with all tokens as hubs
    :class:`otspec.drafts.WithoutReplacement`. Parameters and errors:
    :class:`otspec.drafts.SingleDraftLaw`; k is 2, and two tokens have positive probability.
    """

    name: ClassVar[str] = "two-hubs"
    words: ClassVar[str] = "two-hub"
    distinct: ClassVar[bool] = True

    k: int = 2

    @classmethod
    def check_k(cls, draft: Distribution, k: int) -> None:
        """Refuse any k but 2, and fewer than two tokens."""
        if k != 2:
            raise ValueError(
                f"k is {shown(k)}, but drafts with two hubs come in pairs: use k = 2 or another law"
            )
        cls.check_support(draft, k)

    @property
    def hubs(self) -> IntArray:
        """The two likeliest tokens, a and b, in descending order."""
        return likeliest(self.draft, 2)

    def pair_masses(self) -> tuple[Array, Array]:
        """Return P(x, hub) and P(hub, x) by hub, (2, n) each; pairs of hubs in the second only."""
        last, first = zeros((2, self.n), like=self.draft), zeros((2, self.n), like=self.draft)
        hubs = self.hubs
        both = self.draft[hubs].sum()
        for row, hub in enumerate(hubs.tolist()):
            last[row] = self.draft * (self.draft[hub] / both)
            first[row] = self.draft
            first[row, hub] -= first[row, hub]
            # In this order nothing overflows: the quotient is at most 1.
            first[row] = first[row] / complement(self.draft)[hub] * self.draft[hub]
        last[:, hubs] -= last[:, hubs]
        return last, first

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return 4 * self.n

    def _table(self) -> tuple[IntArray, Array]:
        last, first = self.pair_masses()
        hubs = np.repeat(self.hubs, self.n)
        tokens = np.tile(np.arange(self.n, dtype=np.intp), 2)
        tuples = np.concatenate([np.stack([tokens, hubs], 1), np.stack([hubs, tokens], 1)])
        return tuples, np.concatenate([last.ravel(), first.ravel()])

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one pair: a token from p; then a token off it, or if it is no hub, a hub."""
        first, hubs = chance.choose(self.draft), self.hubs
        if first not in hubs:
            return first, int(hubs[chance.choose(self.draft[hubs])])
        off = self.draft.copy()
        off[first] -= off[first]
        return first, chance.choose(off)
