"""Algorithm 2, section 3.2 with eq. (1), and appendix B."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations

import otspec
from validation import checks
from validation.claim import at_least, equal
from validation.instances import Exact
from validation.mcsd.events import Events, events2
from validation.mcsd.printed import (
    Undefined,
    acceptance,
    algorithm2,
    bars,
    law1,
    law2,
    left,
    output,
)
from validation.notation import ONE, ZERO, collect, distinct, normalised, positive, support
from validation.oracles import table_of

SCOPE = "n <= {n}, k <= {most}, k <= support of p"
over_cases = partial(checks.over_cases, most_tokens=3, scope=SCOPE)
"""Check on the cases of this module."""


def sequential(draft: Exact, k: int, **_: object) -> Fraction:
    """Eq. (1) is a distribution for every i < k, whatever was drawn."""
    if k > support(draft):  # the drawing itself gets stuck
        gone = tuple(x for x, mass in enumerate(draft) if mass)
        return equal(sum(left(draft, gone)), ONE)
    return drawn_law(draft, k) or ZERO


def drawn_law(draft: Exact, k: int, **_: object) -> Fraction | None:
    """For k up to the support: distributions, and the law of k draws in turn."""
    if k > support(draft):
        return None
    found: dict[tuple[int, ...], Fraction] = {(): ONE}
    for i in range(k):
        longer = {}
        for gone, mass in found.items():
            law = left(draft, gone)
            equal(sum(law), ONE, f"q_{i} after {gone}")
            longer |= {(*gone, x): mass * each for x, each in enumerate(law) if each}
        found = longer
    return equal(found, collect(table_of(otspec.WithoutReplacement(draft, k)).items()))


def lossless(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Algorithm 2 returns the target's law."""
    if k > support(draft):
        return None
    return equal(output(law2(draft, target, k), len(target)), target)


def steps_defined(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """No step of Algorithm 2 divides 0 by 0."""
    if k > support(draft):
        return None
    for x in distinct(draft, k):
        algorithm2(target, draft, x, literal=True)
    return ZERO


def undefined_only_at_the_end(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """One does exactly if all of the support was drafted and rejected."""
    if k > support(draft):
        return None
    for x in distinct(draft, k):
        run = algorithm2(target, draft, x)
        try:
            algorithm2(target, draft, x, literal=True)
        except Undefined:
            stuck = True
        else:
            stuck = False
        equal(stuck, k == support(draft) and run.reach(k) > 0, f"drafts {x}")
    return ZERO


def collides_no_more(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """At least the acceptance of Algorithm 1."""
    if k > support(draft):
        return None
    return at_least(acceptance(law2(draft, target, k)), acceptance(law1(draft, target, k)))


State = tuple[tuple[int, ...], Exact, Exact, Events]


def states(
    slack: Callable[[tuple[int, ...], Exact, Exact, Events], bool],
) -> Callable[..., Fraction | None]:
    """Check an equation after each prefix x_1..x_n that was rejected with positive probability.

    The equation gets the prefix, p-bar and q-bar; q-bar is empty after all k drafts.
    """

    def check(draft: Exact, target: Exact, k: int) -> Fraction | None:
        if k > support(draft):
            return None
        table, checked = events2(draft, target, k), False
        for n in range(k + 1):
            for given in permutations([x for x, mass in enumerate(draft) if mass], n):
                if table.rejected(n, given) > 0:
                    p, q = _bar(draft, target, given, n == k)
                    checked |= slack(given, p, q, table)
        return ZERO if checked else None

    return check


def _bar(draft: Exact, target: Exact, given: tuple[int, ...], last: bool) -> tuple[Exact, Exact]:
    """Return p-bar and q-bar from eqs. (10) and (1) after rejections of ``given``."""
    *_, (p, q) = bars(target, draft, given[:-1] if last else given)
    if not last:
        return p, q
    return normalised(positive(p, q)), ()


def eq11(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """The chance of candidate n + 1."""
    n = len(given)
    for x, mass in enumerate(q):
        if mass > 0:
            reached = table.rejected(n, (*given, x))
            found = table.accepted(n + 1, x, (*given, x)) / reached
            equal(found, min(ONE, p[x] / mass), f"after {given}, x = {x}")
    return bool(q)


def eq12(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """Candidate n + 1 is x and accepted."""
    n = len(given)
    for x, mass in enumerate(q):
        found = table.accepted(n + 1, x, given) / table.rejected(n, given)
        equal(found, min(mass, p[x]), f"after {given}, x = {x}")
    return bool(q)


def tail(given: tuple[int, ...], p: Exact, q: Exact, table: Events, x: int) -> Fraction:
    """The sum over candidate n + 1 on the right-hand side of eqs. (13) and (14)."""
    total = ZERO
    for y, mass in enumerate(q):
        longer = (*given, y)
        reached = table.rejected(len(longer), longer) if mass else ZERO
        if reached:
            total += (mass - min(mass, p[y])) * table.returned(x, len(longer), longer) / reached
    return total


def eq13(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """Candidate n + 1 is rejected and x returned."""
    n = len(given)
    for x in range(len(q)):
        both = table.returned(x, n, given) - table.accepted(n + 1, x, given)
        equal(both / table.rejected(n, given), tail(given, p, q, table, x), f"after {given}")
    return bool(q)


def eq14(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """The recursion of A_n."""
    for x in range(len(q)):
        found = table.returned(x, len(given), given) / table.rejected(len(given), given)
        equal(found, min(q[x], p[x]) + tail(given, p, q, table, x), f"after {given}, x = {x}")
    return bool(q)


def eq15(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """A_k is p-bar_k."""
    return not q and conditional(given, p, table)


def eq16(given: tuple[int, ...], p: Exact, q: Exact, table: Events) -> bool:
    """A_{k-1} is p-bar_{k-1}, and so on down."""
    return bool(q) and conditional(given, p, table)


def conditional(given: tuple[int, ...], p: Exact, table: Events) -> bool:
    """P(x | R_n, the given candidates) is p-bar_n."""
    reached = table.rejected(len(given), given)
    found = tuple(table.returned(x, len(given), given) / reached for x in range(len(p)))
    equal(found, p, f"after {given}")
    return True


def last_does_not_matter(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """The residual after n rejections is the same whichever token the nth candidate was."""
    if k > support(draft):
        return None
    seen: dict[tuple[int, ...], Exact] = {}
    compared = False
    for x in distinct(draft, k):
        for n, after in enumerate(algorithm2(target, draft, x).targets[1:], start=1):
            compared |= x[: n - 1] in seen
            equal(after, seen.setdefault(x[: n - 1], after), f"after {n} rejections of {x}")
    return ZERO if compared else None


def eq17(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """P(x) = p(x)."""
    if k > support(draft):
        return None
    table = events2(draft, target, k)
    return equal(tuple(table.returned(x, 0) for x in range(len(target))), target)
