"""Claims of appendix B.1: the displayed plan, and algorithms 2 and 3 as printed."""

from __future__ import annotations

from fractions import Fraction

from validation.claim import Claim, Corrected, at_least, equal
from validation.instances import Exact
from validation.spechub.hub import printed_solution
from validation.spechub.instances import over_hubs
from validation.spechub.lp import Plan, least_cut
from validation.spechub.printed import (
    ONE,
    ZERO,
    Run,
    get_residual,
    hub_columns,
    hub_of,
    hub_table,
    spechub,
    spechub_as_printed,
    total,
)


def displayed_plan(draft: Exact, target: Exact, *, everywhere: bool) -> Plan:
    """Return the plan displayed in appendix B.1.

    ``everywhere``: the sums run over all x of the vocabulary, as printed, so that the hub's own
    q(x) − π(x, a, x) is in the last one; else over x ≠ a.
    """
    a = hub_of(draft)
    last, first = hub_columns(draft)
    as_first, as_second = printed_solution(draft, target)
    left_first = [s - m for s, m in zip(first, as_second, strict=True)]
    left_last = [p - m for p, m in zip(last, as_first, strict=True)]
    if everywhere:
        left_last[a] = draft[a] - min(draft[a], target[a])
    plan = {}
    for x in range(len(draft)):
        if x != a:
            plan[(x, a), x], plan[(a, x), x] = as_first[x], as_second[x]
            scale = total(left_first)
            plan[(a, x), a] = min(target[a], scale) * left_first[x] / scale if scale else ZERO
    served = total([mass for (_, y), mass in plan.items() if y == a])
    scale = total(left_last)
    for x in range(len(draft)):
        if x != a:
            share = min(target[a] - served, scale) * left_last[x] / scale if scale else ZERO
            plan[(x, a), a] = share
    return plan


def serves_the_hub(draft: Exact, target: Exact, *, everywhere: bool) -> Fraction:
    """The plan is within both marginals, accepts all of q(a) and attains the optimum."""
    plan, table, a = displayed_plan(draft, target, everywhere=everywhere), hub_table(draft), hub_of(draft)
    for x, mass in table.items():
        row = [moved for (key, _), moved in plan.items() if key == x]
        at_least(mass, total(row), f"P{x}, against what it accepts")
    equal(total([mass for (_, y), mass in plan.items() if y == a]), target[a], "mass of the hub")
    return equal(total(list(plan.values())), least_cut(table, target), "acceptance")


def plan_as_displayed(draft: Exact, target: Exact) -> Fraction:
    """With the sums as printed."""
    return serves_the_hub(draft, target, everywhere=True)


def plan_off_the_hub(draft: Exact, target: Exact) -> Fraction:
    """With the sums over x ≠ a."""
    return serves_the_hub(draft, target, everywhere=False)


