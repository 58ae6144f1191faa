"""SpecHub's drafts, its algorithms 2 and 3, and the pairs they are checked on.

Algorithm 1 is `rejection_distinct` of the shared ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial

from validation import algorithms as shared
from validation.algorithms import Branch, Ran
from validation.domains import drafts, laws, mixed, pairs
from validation.instances import Exact
from validation.notation import ONE, ZERO, Tokens, total


def get_residual(
    target: Sequence[Fraction], draft: Sequence[Fraction], a: int
) -> tuple[Exact, Exact]:
    """Run algorithm 2, GetResidual, as printed."""
    both = list(enumerate(zip(target, draft, strict=True)))
    wanted = tuple(q if x == a else max(q - p, ZERO) for x, (q, p) in both)
    return wanted, tuple(ZERO if x == a else max(p - q, ZERO) for x, (q, p) in both)


class Hub:
    """The pairs (x, a) and (a, x) of a hub a that is not certain, and what is left of them."""

    def __init__(self, draft: Exact, target: Exact) -> None:
        self.a = a = draft.index(max(draft))
        self.p, self.q, self.odds = draft[a], target[a], draft[a] / (1 - draft[a])
        self.others = [(x, p, target[x]) for x, p in enumerate(draft) if x != a]
        # P(x, a) and P(a, x), 0 at a; what is left of the target and of them: q', q'' and P'.
        self.last = (*draft[:a], ZERO, *draft[a + 1 :])
        self.first = tuple(self.odds * mass for mass in self.last)
        self.target = target
        self.once, self.last_left = get_residual(target, self.last, a)
        self.twice, self.first_left = get_residual(self.once, self.first, a)
        self.lasts, self.firsts = total(self.last_left), total(self.first_left)
        self.table = {(x, a): mass for x, mass in enumerate(self.last) if mass}
        self.table |= {(a, x): mass for x, mass in enumerate(self.first) if mass}

    def algorithm_3(self, x: Tokens, literal: bool = False) -> Iterator[Branch]:
        """Run algorithm 3, its hub's residuals updated before the branches.

        ``literal``: as printed, q'(a) only where a is the first draft and q''(a) only where it is
        the second, so that the other kind of pairs never hears of it.
        """
        other = int(x[0] == self.a)  # which of the drafts is not the hub: it is verified first
        offered, wanted = ((self.last, self.target), (self.first, self.once))[other]
        for_second = self.q if literal else max(self.q - self.firsts, ZERO)
        hub, left = ((for_second, self.lasts), (self.q, self.firsts))[other]
        keep = min(ONE, wanted[x[other]] / offered[x[other]])
        yield Branch(keep, x[other], other)
        if keep < 1:
            then = min(ONE, hub / left)
            yield Branch((1 - keep) * then, self.a, 1 - other)
            if then < 1:
                of_hub = self.q if literal and other else max(for_second - self.lasts, ZERO)
                rest = (*self.twice[: self.a], of_hub, *self.twice[self.a + 1 :])
                for y, mass in enumerate(shared.normalised(rest)):
                    yield Branch((1 - keep) * (1 - then) * mass, y, None)

    @cached_property
    def ran(self) -> Ran:
        """What algorithm 3, with its updates, does."""
        return Ran(self.algorithm_3, self.table)

    @cached_property
    def literal(self) -> Ran:
        """What algorithm 3 does as printed."""
        return Ran(partial(self.algorithm_3, literal=True), self.table)


def spechub(draft: Exact, target: Exact) -> Ran:
    """Return what algorithm 3, with its updates, does."""
    return Hub(draft, target).ran


def rrs(draft: Exact, target: Exact, k: int = 2) -> Ran:
    """Return what algorithm 1 does with independent drafts."""
    return shared.ran_iid(shared.rejection, draft, target, k)


def rrsw(draft: Exact, target: Exact, k: int = 2) -> Ran:
    """Return what algorithm 1 does with drafts without replacement."""
    return shared.ran_distinct(shared.rejection_distinct, draft, target, k)


def _in_order(draft: Exact, target: Exact) -> bool:
    """Whether token 0 is a hub that is not certain, and the others, interchangeable, are sorted."""
    others = list(zip(draft[1:], target[1:], strict=True))
    return draft[0] == max(draft) < 1 and others == sorted(others, reverse=True)


UNCERTAIN = drafts(5, random_n=9).where(lambda draft: max(draft) < 1)
HUBS = mixed(
    laws("draft", "target", n=4, least=2).where(_in_order),
    pairs(n=4, least=2, random_n=5).where(lambda draft, **_: max(draft) < 1),
)
"""Pairs in which the hub, any of the likeliest tokens, is not certain."""
