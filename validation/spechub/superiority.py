"""Claims of appendices B.3 and B.4: theorems 3 and 4, and the first draft."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from validation.claim import Claim, Corrected, Outcome, Search, above, at_least, equal
from validation.instances import Exact, cases
from validation.spechub.instances import exact, hub_pairs, over_cases, over_hubs, over_pairs
from validation.spechub.lp import least_cut
from validation.spechub.printed import (
    ZERO,
    hub_of,
    independent_table,
    overlap,
    spechub,
    token_rejection,
    total,
)


def odds(draft: Exact) -> Fraction:
    """Return p(a)/(1 − p(a))."""
    return max(draft) / (1 - max(draft))


def second_draft(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """Compare the acceptance of the second draft under theorem 3's condition."""
    rejected = 1 - overlap(draft, target)
    if odds(draft) <= rejected:
        return None
    run, other = spechub(draft, target), token_rejection(draft, target, 2, replacement=True)
    found, bound = run.by_draft()[1], other.by_draft()[1]
    if strictly:
        return Fraction(above(found, bound, "SpecHub's second draft"))
    at_least(run.acceptance(), other.acceptance(), "SpecHub, in all")
    a = hub_of(draft)
    if any(
        x != a and q - min(p, q) > rejected * p > 0
        for x, (p, q) in enumerate(zip(draft, target, strict=True))
    ):
        above(found, bound, "SpecHub's second draft, with a token that RRS does not serve in full")
    return Fraction(at_least(found, bound, "SpecHub's second draft"))


def rejection_by_token(draft: Exact, target: Exact) -> Fraction | None:
    """RRS's second draft is x with the two displayed probabilities."""
    rejected, row = 1 - overlap(draft, target), token_rejection(draft, target, 2, replacement=True)
    if rejected == 0:
        return None
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        first = rejected * min((q - min(p, q)) / rejected, p)
        equal(row.accepted[1][x], first, f"second draft {x}")
        equal(min(q - min(p, q), rejected * p), first, f"second draft {x}, simplified")
    return ZERO


def hub_by_token(draft: Exact, target: Exact) -> Fraction:
    """SpecHub's second draft is x ≠ a with the displayed probability."""
    a, row = hub_of(draft), spechub(draft, target).accepted[1]
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            equal(row[x], min(q - min(p, q), odds(draft) * p), f"second draft {x}")
    return ZERO


def a_third(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """With α = 1/2 (or more) and p(a) > 1/3, SpecHub accepts more than RRS, or as much."""
    rate = overlap(draft, target)
    if max(draft) <= Fraction(1, 3) or (rate != Fraction(1, 2) if strictly else 2 * rate < 1):
        return None
    above(odds(draft), 1 - rate, "p(a)/(1 − p(a))")
    found = spechub(draft, target).acceptance()
    bound = token_rejection(draft, target, 2, replacement=True).acceptance()
    compare = above if strictly else at_least
    return Fraction(compare(found, bound, "SpecHub, against RRS"))


def needless(draft: Exact, target: Exact) -> Fraction | None:
    """Where q(a) > 0, SpecHub accepts at least as much as RRS without the condition."""
    if target[hub_of(draft)] == 0 or odds(draft) > 1 - overlap(draft, target):
        return None
    found = spechub(draft, target).acceptance()
    bound = token_rejection(draft, target, 2, replacement=True).acceptance()
    return Fraction(at_least(found, bound, "SpecHub, against RRS"))


def needed(draft: Exact, target: Exact) -> Fraction | None:
    """Where q(a) ≤ (2 − α) p(a) and the condition fails, SpecHub accepts no more than RRS."""
    rejected = 1 - overlap(draft, target)
    if odds(draft) > rejected or target[hub_of(draft)] > (1 + rejected) * max(draft):
        return None
    found = spechub(draft, target).acceptance()
    bound = token_rejection(draft, target, 2, replacement=True).acceptance()
    return Fraction(at_least(bound, found, "RRS, against SpecHub"))


def theorem4(draft: Exact, target: Exact, *, strictly: bool) -> Fraction | None:
    """Compare SpecHub with the optimum of two i.i.d. drafts."""
    if max(draft) < Fraction(1, 2) or (strictly and max(draft) == Fraction(1, 2)):
        return None
    found = spechub(draft, target).acceptance()
    bound = least_cut(independent_table(draft, 2), target)
    if strictly:
        return Fraction(above(found, bound, "SpecHub"))
    a = hub_of(draft)
    if any(
        x != a and p > 0 and q > 1 - (1 - p) ** 2
        for x, (p, q) in enumerate(zip(draft, target, strict=True))
    ):
        above(found, bound, "SpecHub, with a token that OTM cannot serve in full")
    return Fraction(at_least(found, bound, "SpecHub"))


def square(draft: Exact, *, strictly: bool) -> Fraction:
    """Compare 1 − (1 − p)² with 2p."""
    compare = above if strictly else at_least
    return Fraction(min(compare(2 * p, 1 - (1 - p) ** 2, "2 p(x)") for p in draft))


def contained(draft: Exact, target: Exact) -> Fraction:
    """The optimum of two i.i.d. drafts is at most Σ min(q, P(x is drafted))."""
    table = independent_table(draft, 2)
    drafted = [total([m for x, m in table.items() if y in x]) for y in range(len(draft))]
    for y, p in enumerate(draft):
        equal(drafted[y], 1 - (1 - p) ** 2, f"P({y} is drafted)")
        only = tuple(Fraction(int(x == y)) for x in range(len(draft)))
        equal(least_cut(table, only), drafted[y], f"most that is accepted of {y}")
    bound = total([min(q, chance) for q, chance in zip(target, drafted, strict=True)])
    return Fraction(at_least(bound, least_cut(table, target), "bound"))


def rate_of_token(draft: Exact, target: Exact, *, printed: bool) -> Fraction:
    """SpecHub accepts x ≠ a with probability p(x)/(1 − p(a)), or with the least of it and q(x)."""
    a, run = hub_of(draft), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            offered = p / (1 - draft[a])
            found = run.accepted[0][x] + run.accepted[1][x]
            equal(found, offered if printed else min(q, offered), f"acceptance of {x}")
    return ZERO


def thresholds() -> Iterator[dict[str, Any]]:
    """Yield p(a) from 1/3 to just below 1/2."""
    for number in range(1, 100_000):
        yield {"top": Fraction(number, 2 * number + 1)}


def below_half(top: Fraction) -> Fraction:
    """For this p(a) < 1/2 some pair has SpecHub below the optimum of two i.i.d. drafts."""
    rest = (1 - 2 * top) / 2
    draft, target = (top, top, rest, rest), exact("0", "0", "1", "0")
    found = spechub(draft, target).acceptance()
    return Fraction(above(least_cut(independent_table(draft, 2), target), found, "OTM"))


def above_threshold(top: Fraction, draft: Exact, target: Exact) -> Fraction | None:
    """Where p(a) is at least this, SpecHub accepts at least as much as two i.i.d. drafts can."""
    if not top <= max(draft) < 1:
        return None
    found = spechub(draft, target).acceptance()
    return Fraction(at_least(found, least_cut(independent_table(draft, 2), target), "SpecHub"))


def weaker_condition(search: Search) -> Outcome:
    """Check whether p(a) ≥ 49/100 is enough, first near the threshold."""
    top = Fraction(49, 100)

    def near() -> Iterator[dict[str, Any]]:
        for n in (3, 4, 5):
            rest = (1 - 2 * top) / (n - 2)
            for y in range(n):
                target = tuple(Fraction(int(x == y)) for x in range(n))
                yield {"top": top, "draft": (top, top, *[rest] * (n - 2)), "target": target}
        for pair in hub_pairs(search.seed):
            yield {"top": top, **pair}

    return search.every(near(), above_threshold, scope="n <= 5")


def first_draft_of_hub(draft: Exact, target: Exact) -> tuple[Fraction, Fraction]:
    """Return the hub's acceptance as first draft, and what others take of the pairs (a, x)."""
    a, run = hub_of(draft), spechub(draft, target)
    return run.accepted[0][a], total([m for x, m in enumerate(run.accepted[1]) if x != a])


def loses_when(draft: Exact, target: Exact) -> Fraction | None:
    """If q(a) > p(a) and another token takes of (a, x), the first draft a is accepted less."""
    a = hub_of(draft)
    found, taken = first_draft_of_hub(draft, target)
    if target[a] <= draft[a] or taken == 0:
        return None
    return Fraction(above(min(draft[a], target[a]), found, "RRS's first draft a"))


def loses_only_when(draft: Exact, target: Exact) -> Fraction | None:
    """If q(a) ≤ p(a), or no other token takes of (a, x), the first draft a loses nothing."""
    a = hub_of(draft)
    found, taken = first_draft_of_hub(draft, target)
    if target[a] > draft[a] and taken > 0:
        return None
    return equal(found, min(draft[a], target[a]), "first draft a")


def loses_exactly(draft: Exact, target: Exact) -> Fraction:
    """It loses (T − (p(a) − q(a))₊)₊, or all of min(p, q) if that is less."""
    a = hub_of(draft)
    found, taken = first_draft_of_hub(draft, target)
    lost = max(taken - max(draft[a] - target[a], ZERO), ZERO)
    return equal(min(draft[a], target[a]) - found, lost, "loss")


def first_draft_never_gains(draft: Exact, target: Exact) -> Fraction:
    """SpecHub's first draft is accepted at most Σ min(p, q), each x ≠ a exactly min(p, q)."""
    a, run = hub_of(draft), spechub(draft, target)
    for x, (p, q) in enumerate(zip(draft, target, strict=True)):
        if x != a:
            equal(run.accepted[0][x], min(p, q), f"first draft {x}")
    other = token_rejection(draft, target, 1, replacement=True).acceptance()
    return Fraction(at_least(other, run.by_draft()[0], "first draft of RRS and RRSw"))
