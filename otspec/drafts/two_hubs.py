"""Two drafts of which one is always one of the two likeliest tokens (after SpecHub, app. C.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.coerce import shown
from otspec.chance import Chance
from otspec.distributions import Distribution, complement
from otspec.drafts.single import SingleDraftLaw, likeliest


@dataclass(frozen=True, eq=False)
class TwoHubs(SingleDraftLaw):
    """Two distinct drafts, at least one of them a hub: one of the two likeliest tokens, a and b.

    Law: the first draft is drawn from p. If it is a hub, the second is drawn from p off it; else
    the second is a hub, in proportion to p. So P(x, a) = p(x) p(a)/(p(a) + p(b)) and P(a, x) =
    p(a) p(x)/(1 − p(a)) for x ≠ a, b, and P(a, b) = p(a) p(b)/(1 − p(a)), alike with b. Of equally
    likely tokens those of lower ids are the hubs. The paper leaves several hubs as an idea
    (SpecHub, app. C.3); this law is ours: with one hub it is :class:`otspec.drafts.Hub`, with all
    tokens as hubs :class:`otspec.drafts.WithoutReplacement`.

    Parameters
    ----------
    draft, normalize
        As for :class:`otspec.drafts.SingleDraftLaw`.
    k : int
        There is no other than 2.

    Raises
    ------
    ValueError
        Fewer than two tokens of positive probability, or another k.

    Examples
    --------
    >>> tuples, masses = TwoHubs(["1/2", "1/4", "1/4"]).tuples()
    >>> sorted((tuple(map(int, x)), str(mass)) for x, mass in zip(tuples, masses))[:3]
    [((0, 1), '1/4'), ((0, 2), '1/4'), ((1, 0), '1/6')]
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
        """Return P(x, hub) and P(hub, x), both of shape (2, n): a row for each hub.

        P(b, a) and P(a, b) stand in the second array only, not in the first as well.
        """
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
