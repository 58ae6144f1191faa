"""SpecHub's drafts, its algorithms 2 and 3, and the pairs they are checked on.

Algorithm 1 is `rejection_distinct` of the shared ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from validation import algorithms as shared
from validation.algorithms import Branch, Ran, Rule
from validation.domains import laws, mixed, pairs
from validation.instances import Exact
from validation.notation import ONE, ZERO, Table, Tokens, total


def hub_of(draft: Exact) -> int:
    """Return the likeliest token, the first of equals."""
    return draft.index(max(draft))


def odds(draft: Exact) -> Fraction:
    """Return p(a)/(1 − p(a)); the hub must not be certain."""
    return max(draft) / (1 - max(draft))


def hub_columns(draft: Exact) -> tuple[Exact, Exact]:
    """Return P(x, a) and P(a, x) for every x, 0 at x = a; the hub must not be certain."""
    a, share = hub_of(draft), odds(draft)
    last = tuple(ZERO if x == a else mass for x, mass in enumerate(draft))
    return last, tuple(share * mass for mass in last)


def hub_table(draft: Exact) -> Table:
    """Return the law of SpecHub's pairs."""
    a, (last, first) = hub_of(draft), hub_columns(draft)
    table = {(x, a): mass for x, mass in enumerate(last) if mass}
    return table | {(a, x): mass for x, mass in enumerate(first) if mass}


def get_residual(
    target: Sequence[Fraction], draft: Sequence[Fraction], a: int
) -> tuple[Exact, Exact]:
    """Run algorithm 2, GetResidual, as printed."""
    both = list(enumerate(zip(target, draft, strict=True)))
    wanted = tuple(q if x == a else max(q - p, ZERO) for x, (q, p) in both)
    return wanted, tuple(ZERO if x == a else max(p - q, ZERO) for x, (q, p) in both)


def algorithm_3(draft: Exact, target: Exact, *, literal: bool) -> Rule:
    """Return algorithm 3, its hub's residuals updated before the branches.

    ``literal``: as printed, q'(a) only where a is the first draft and q''(a) only where it is the
    second, so that the other kind of pairs never hears of it.
    """
    a, (last, first) = hub_of(draft), hub_columns(draft)
    once, last_left = get_residual(target, last, a)
    twice, first_left = get_residual(once, first, a)
    for_first, lasts, firsts = target[a], total(last_left), total(first_left)
    for_second = for_first if literal else max(for_first - firsts, ZERO)
    at_last = max(for_second - lasts, ZERO)

    def run(x: Tokens) -> Iterator[Branch]:
        other = int(x[0] == a)  # which of the drafts is not the hub: it is verified first
        y = x[other]
        offered, wanted = ((last, target), (first, once))[other]
        hub, left = ((for_second, lasts), (for_first, firsts))[other]
        keep = min(ONE, wanted[y] / offered[y])
        yield Branch(keep, y, other)
        if keep < 1:
            then = min(ONE, hub / left)
            yield Branch((1 - keep) * then, a, 1 - other)
            if then < 1:
                of_hub = for_first if literal and other else at_last
                drawn = shared.normalised((*twice[:a], of_hub, *twice[a + 1 :]))
                for z, mass in enumerate(drawn):
                    yield Branch((1 - keep) * (1 - then) * mass, z, None)

    return run


def spechub(draft: Exact, target: Exact, *, literal: bool = False) -> Ran:
    """Return what algorithm 3 does with SpecHub's pairs."""
    return Ran(algorithm_3(draft, target, literal=literal), hub_table(draft))


def rrs(draft: Exact, target: Exact, k: int = 2) -> Ran:
    """Return what algorithm 1 does with independent drafts."""
    return shared.ran_iid(shared.rejection, draft, target, k)


def rrsw(draft: Exact, target: Exact, k: int = 2) -> Ran:
    """Return what algorithm 1 does with drafts without replacement."""
    return shared.ran_distinct(shared.rejection_distinct, draft, target, k)


def with_hub(draft: Exact, target: Exact) -> bool:
    """Whether token 0 is a hub that is not certain, and the others are in order."""
    others = list(zip(draft[1:], target[1:], strict=True))
    return draft[0] == max(draft) < 1 and others == sorted(others, reverse=True)


def uncertain(draft: Exact, **_: Exact) -> bool:
    """Whether no draft is certain."""
    return max(draft) < 1


HUBS = mixed(
    laws("draft", "target", n=4, least=2).where(with_hub),
    pairs(n=4, least=2, random_n=5).where(uncertain),
)
"""Pairs in which the hub, any of the likeliest tokens, is not certain."""
