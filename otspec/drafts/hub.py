"""Drafts of which all but one are fixed: SpecHub's hub, and the top k − 1 plus one.

Their tables have at most 2n rows, so that everything that follows from the table serves at any
vocabulary size.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.distributions import Distribution, complement
from otspec.drafts.contract import draw
from otspec.drafts.single import SingleDraftLaw


@dataclass(frozen=True, eq=False)
class Hub(SingleDraftLaw):
    """SpecHub's two drafts: one of them is always the likeliest token a, the hub.

    Law: P(x, a) = p(x) and P(a, x) = p(a) p(x) / (1 − p(a)) for x ≠ a, 0 for all other pairs;
    if p(a) = 1 both drafts are a. Of equally likely tokens the hub is the one of lowest id.
    Source: SpecHub, sec. 4.1.

    Parameters
    ----------
    draft : array_like, shape (n,)
    normalize : bool
        Scale the draft to sum 1.

    Examples
    --------
    >>> tuples, masses = Hub(["1/2", "1/4", "1/4"]).tuples()
    >>> [(tuple(map(int, x)), str(mass)) for x, mass in zip(tuples, masses)]
    [((1, 0), '1/4'), ((2, 0), '1/4'), ((0, 1), '1/4'), ((0, 2), '1/4')]
    """

    k: int = field(init=False, default=2)

    @property
    def hub(self) -> int:
        """The likeliest token."""
        return int(np.argmax(self.draft))

    def pair_masses(self) -> tuple[Array, Array]:
        """Return P(x, hub) and P(hub, x) for every token x, both of shape (n,).

        Both are 0 at x = hub, unless the hub is certain: then P(hub, hub) = 1 is counted in
        the first.
        """
        hub = self.hub
        hub_last = self.draft.copy()
        others = complement(self.draft)[hub]
        if others == 0:
            return hub_last, np.zeros_like(hub_last)
        hub_last[hub] -= hub_last[hub]
        # In this order nothing overflows: the quotient is at most 1.
        return hub_last, hub_last / others * self.draft[hub]

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return 2 * self.n

    def _table(self) -> tuple[IntArray, Array]:
        tokens = np.arange(self.n, dtype=np.intp)
        hubs = np.full(self.n, self.hub, dtype=np.intp)
        tuples = np.concatenate([np.stack([tokens, hubs], 1), np.stack([hubs, tokens], 1)])
        return tuples, np.concatenate(self.pair_masses())


@dataclass(frozen=True, eq=False)
class TopPlusOne(SingleDraftLaw):
    """The k − 1 likeliest tokens, and one drawn from the draft off them.

    Law: drafts 1..k−1 are the likeliest tokens in descending order (ties: lowest id first);
    draft k is x with probability p(x) / (1 − p(Top)), x off the top.

    Parameters
    ----------
    draft : array_like, shape (n,)
    k : int
    normalize : bool
        Scale the draft to sum 1.

    Raises
    ------
    ValueError
        Fewer than k tokens of positive probability: nothing is left to draw the last one from.
    """

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        check_support(self.draft, self.k, "top-plus-one")

    @property
    def top(self) -> IntArray:
        """The k − 1 likeliest tokens, in descending order of probability."""
        return np.argsort(-self.draft, kind="stable")[: self.k - 1].astype(np.intp)

    def last(self) -> Distribution:
        """Return the law of the last draft, shape (n,): the draft renormalised off the top."""
        rest = self.draft.copy()
        rest[self.top] -= rest[self.top]
        law: Distribution = rest / rest.sum()
        return law

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return self.n

    def _table(self) -> tuple[IntArray, Array]:
        tops = np.broadcast_to(self.top, (self.n, self.k - 1))
        return np.column_stack([tops, np.arange(self.n, dtype=np.intp)]), self.last()

    def _sample(self, rng: np.random.Generator, size: int) -> IntArray:
        tops = np.broadcast_to(self.top, (size, self.k - 1))
        return np.column_stack([tops, draw(rng, self.last(), size)])


def check_support(draft: Distribution, k: int, law: str) -> None:
    """Refuse more distinct drafts than there are tokens to draw.

    Raises
    ------
    ValueError
        Naming the support size.
    """
    support = int(np.count_nonzero(draft))
    if support < k:
        raise ValueError(
            f"draft has {support} tokens of positive probability, too few for {k} distinct drafts "
            f"({law}): lower k to {support} or less"
        )
