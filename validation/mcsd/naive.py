"""Naive sampling with several candidates: section 4.5 and appendix C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from validation import checks
from validation.checks import over
from validation.claim import Check, at_least, equal
from validation.instances import Exact, cases
from validation.mcsd.events import events1
from validation.mcsd.printed import (
    acceptance,
    algorithm2,
    hats,
    law1,
    law2,
    law_naive,
    naive,
    output,
)
from validation.notation import ONE, ZERO, collect, distinct, iid, support

over_cases = partial(checks.over_cases, most_tokens=3)
"""Check on the cases of this module."""


def refused(draft: Exact, target: Exact, k: int) -> Exact:
    """P_N(x, R_k): naive sampling refuses all candidates and returns x."""
    found = law_naive(draft, target, k)
    return tuple(found.get((False, x), ZERO) for x in range(len(target)))


def naive_formula(draft: Exact, target: Exact, k: int) -> Fraction:
    """Acceptance, and the law, of naive sampling."""
    found = law_naive(draft, target, k)
    equal(output(found, len(target)), target, "output")
    parts = zip(draft, target, strict=True)
    return equal(acceptance(found), sum((q * (1 - (1 - p) ** k) for p, q in parts), ZERO))


def beats_naive(draft: Exact, target: Exact, k: int) -> Fraction:
    """Algorithm 1 against naive sampling."""
    return at_least(acceptance(law1(draft, target, k)), acceptance(law_naive(draft, target, k)))


def distinct_beats_naive(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Algorithm 2 against naive sampling with either kind of candidates."""
    if k > support(draft):
        return None
    best = max(acceptance(law_naive(draft, target, k, how)) for how in (iid, distinct))
    return at_least(acceptance(law2(draft, target, k)), best)


def complement(draft: Exact, target: Exact, k: int) -> Fraction:
    """Acceptance is 1 - sum P(x, R_k), for both algorithms."""
    table = events1(draft, target, k)
    refusals = sum((table.returned(x, k) for x in range(len(target))), ZERO)
    equal(acceptance(law1(draft, target, k)), 1 - refusals, "Algorithm 1")
    found = acceptance(law_naive(draft, target, k))
    return equal(found, 1 - sum(refused(draft, target, k)), "naive sampling")


def fewer_refusals(draft: Exact, target: Exact, k: int) -> Fraction:
    """P_S(x, R_k) <= P_N(x, R_k)."""
    table, bounds = events1(draft, target, k), refused(draft, target, k)
    return min(at_least(bounds[x], table.returned(x, k), f"x = {x}") for x in range(len(bounds)))


def eq18(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """P_S(x, R_k) as a product."""
    known = list(hats(target, draft, k))
    if len(known) <= k:
        return None
    table = events1(draft, target, k)
    through = ONE
    for hat in known[:-1]:
        through *= 1 - sum(map(min, draft, hat))
    claimed = tuple(mass * through for mass in known[-1])
    return equal(tuple(table.returned(x, k) for x in range(len(target))), claimed)


def eq19(draft: Exact, target: Exact, k: int) -> Fraction:
    """P_N(x, R_k)."""
    claimed = tuple(q * (1 - p) ** k for p, q in zip(draft, target, strict=True))
    return equal(refused(draft, target, k), claimed)


def vanishes(first: int) -> Callable[..., Fraction | None]:
    """If p-hat_i(x) <= q(x), then p-hat_j(x) = 0 for j >= i + first."""

    def check(draft: Exact, target: Exact, k: int) -> Fraction | None:
        known, checked = list(hats(target, draft, k)), None
        for i, hat in enumerate(known):
            for j in range(i + first, len(known)):
                for x, mass in enumerate(draft):
                    if hat[x] <= mass:
                        checked = equal(known[j][x], ZERO, f"i = {i}, j = {j}, x = {x}")
        return checked

    return check


def _staying(draft: Exact, target: Exact, k: int) -> list[tuple[int, list[Fraction]]]:
    """Return the tokens with p-hat_i(x) > q(x) for all i < k, and p-hat_0(x), ..., p-hat_k(x)."""
    known = list(hats(target, draft, k))
    if len(known) <= k:
        return []
    every_token = [(x, [hat[x] for hat in known]) for x in range(len(draft))]
    return [(x, path) for x, path in every_token if min(path[:k]) > draft[x]]


def eq20(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """No positive part is needed for such a token."""
    table, checked = events1(draft, target, k), None
    for x, path in _staying(draft, target, k):
        for i, (before, after) in enumerate(pairwise(path), start=1):
            rejection = table.rejected(i) / table.rejected(i - 1)
            checked = equal(after, (before - draft[x]) / rejection, f"i = {i}, x = {x}")
    return checked


def eq21(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """One candidate: P_S = p - q <= p (1 - q) = P_N."""
    if k > 1:
        return None
    worst, table, bound = None, events1(draft, target, 1), refused(draft, target, 1)
    for x, _ in _staying(draft, target, 1):
        found = table.returned(x, 1)
        equal(found, target[x] - draft[x], f"x = {x}")
        slack = at_least(target[x] * (1 - draft[x]), found, f"x = {x}")
        equal(bound[x], target[x] * (1 - draft[x]), f"naive, x = {x}")
        worst = slack if worst is None else min(worst, slack)
    return worst


def eq22(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """The step of the induction, line by line."""
    worst, table, bound = None, events1(draft, target, k), refused(draft, target, k)
    for x, path in _staying(draft, target, k):
        before = table.rejected(k - 1)
        found = table.returned(x, k)
        equal(found, (path[k - 1] - draft[x]) * before, f"x = {x}")
        middle = (1 - draft[x]) * path[k - 1] * before
        last = (1 - draft[x]) * target[x] * (1 - draft[x]) ** (k - 1)
        slack = min(at_least(middle, found), at_least(last, middle), at_least(bound[x], last))
        worst = slack if worst is None else min(worst, slack)
    return worst


def one_hot_draft(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """At temperature 0 Algorithm 1 accepts as often as speculative sampling."""
    if max(draft) != 1:
        return None
    return equal(law1(draft, target, k), law1(draft, target, 1))


def one_hot_target(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """For a certain target, Algorithm 2 and naive sampling do the same with all candidates."""
    if max(target) != 1 or k > support(draft):
        return None
    for x in distinct(draft, k):
        found = algorithm2(target, draft, x).outcomes()
        claimed = collect(naive(target, x).items())
        equal(found, claimed, f"drafts {x}")
    return ZERO


def temperature_zero(slack: Callable[..., Fraction | None]) -> Check:
    """Check with the draft, or the target, put on each token in turn."""
    name = "draft" if slack is one_hot_draft else "target"

    def instances(seed: int) -> Iterator[dict[str, Any]]:
        for case in cases(seed):
            for x in range(len(case["draft"])):
                yield {**case, name: tuple(Fraction(y == x) for y in range(len(case["draft"])))}

    return over(instances, slack, "n <= 4, k <= 3")
