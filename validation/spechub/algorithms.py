"""Claims of appendix B.1: the displayed plan, and algorithms 2 and 3 as printed."""

from __future__ import annotations

from fractions import Fraction

from validation.claim import Claim, Corrected, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, same, total
from validation.oracles import least_bound
from validation.spechub.hub import printed_solution
from validation.spechub.instances import over_hubs
from validation.spechub.lp import Plan
from validation.spechub.printed import (
    Run,
    get_residual,
    hub_columns,
    hub_of,
    hub_table,
    spechub,
    spechub_as_printed,
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
    plan: Plan = {}
    for x in range(len(draft)):
        if x != a:
            plan[(x, a), x], plan[(a, x), x] = as_first[x], as_second[x]
            scale = total(left_first)
            plan[(a, x), a] = min(target[a], scale) * left_first[x] / scale if scale else ZERO
    served = total(mass for (_, y), mass in plan.items() if y == a)
    scale = total(left_last)
    for x in range(len(draft)):
        if x != a:
            share = min(target[a] - served, scale) * left_last[x] / scale if scale else ZERO
            plan[(x, a), a] = share
    return plan


def serves_the_hub(draft: Exact, target: Exact, *, everywhere: bool) -> Fraction:
    """The plan is within both marginals, accepts all of q(a) and attains the optimum."""
    table, a = hub_table(draft), hub_of(draft)
    plan = displayed_plan(draft, target, everywhere=everywhere)
    for x, mass in table.items():
        row = [moved for (key, _), moved in plan.items() if key == x]
        at_least(mass, total(row), f"P{x}, against what it accepts")
    equal(total(mass for (_, y), mass in plan.items() if y == a), target[a], "mass of the hub")
    return equal(total(plan.values()), least_bound(table, target), "acceptance")


def plan_as_displayed(draft: Exact, target: Exact) -> Fraction:
    """With the sums as printed."""
    return serves_the_hub(draft, target, everywhere=True)


def plan_off_the_hub(draft: Exact, target: Exact) -> Fraction:
    """With the sums over x ≠ a."""
    return serves_the_hub(draft, target, everywhere=False)


def what_is_left(draft: Exact, target: Exact) -> Fraction:
    """Twice in a row, GetResidual gives what rejection sampling leaves off the hub."""
    a, wanted = hub_of(draft), list(target)
    for column in hub_columns(draft):
        taken = [mass * min(ONE, q / mass) if mass else ZERO for q, mass in
                 zip(wanted, column, strict=True)]  # fmt: skip
        after, left = get_residual(wanted, column, a)
        equal(after[a], wanted[a], "the hub's target")
        equal(left[a], 0, "the hub's draft")
        same(after, [q - mass for q, mass in zip(wanted, taken, strict=True)], "target")
        same(left, [p - mass for p, mass in zip(column, taken, strict=True)], "draft")
        wanted = after
    return ZERO


def lossless(run: Run, target: Exact) -> Fraction:
    """The output is distributed as the target."""
    return same(run.output(), target, "output")


def printed_is_lossless(draft: Exact, target: Exact) -> Fraction:
    """Algorithm 3 as printed."""
    return lossless(spechub_as_printed(draft, target), target)


def corrected_is_lossless(draft: Exact, target: Exact) -> Fraction:
    """Algorithm 3 with the updates before the branches."""
    return lossless(spechub(draft, target), target)


def as_planned(run: Run, draft: Exact, target: Exact) -> Fraction:
    """Each token is accepted from each pair of drafts with the mass of the plan."""
    plan = displayed_plan(draft, target, everywhere=False)
    for i, row in enumerate(run.accepted):
        masses = [ZERO] * len(draft)
        for (x, y), mass in plan.items():
            masses[y] += mass * (x.index(y) == i)
        same(row, masses, f"accepted as draft {i + 1}")
    return equal(run.acceptance(), least_bound(hub_table(draft), target), "acceptance")


def printed_follows_the_plan(draft: Exact, target: Exact) -> Fraction:
    """Algorithm 3 as printed."""
    return as_planned(spechub_as_printed(draft, target), draft, target)


def corrected_follows_the_plan(draft: Exact, target: Exact) -> Fraction:
    """Algorithm 3 with the updates before the branches."""
    return as_planned(spechub(draft, target), draft, target)


CLAIMS = (
    Claim(
        "spechub.secB.1",
        "Appendix B.1, the transport plan of the top token",
        r"The four displayed lines solve the simplified program and accept $a$ with mass $q(a)$: "
        r"of each $(a, x)$ and then of each $(x, a)$ the hub takes its share of what is left, the "
        r"last in proportion to $p(x) - \pi(x, a, x)$ over its sum for all $x \in V$.",
        over_hubs(plan_as_displayed, fewest_tokens=3),
        printed="The sums run over all x of V, and with the first line x = a adds "
        "q(a) − min(p(a), q(a)) (the paper's q is the draft) to the last one. The third line "
        "lacks a parenthesis; it is read like the fourth.",
        corrected=Corrected(
            r"They do if all sums run over $x \ne a$.",
            over_hubs(plan_off_the_hub),
        ),
    ),
    Claim(
        "spechub.alg2",
        "Algorithm 2, GetResidual",
        "GetResidual returns what rejection sampling of one column leaves of target and draft off "
        "the hub, and leaves the hub's target as it is.",
        over_hubs(what_is_left),
    ),
    Claim(
        "spechub.alg3a",
        "Algorithm 3, with theorem 2",
        "Algorithm 3 is lossless.",
        over_hubs(printed_is_lossless),
        printed="p'(a) is reduced only inside “if $x^{(1)} = a$” and p''(a) only inside “if "
        "$x^{(2)} = a$”. So the second branch offers the hub the mass that the first has used, and "
        "the residual after the first still contains the hub. For a certain hub no pair is "
        "defined, and in the first loop i is printed for x.",
        corrected=Corrected(
            "It is if both updates are made before the branches, $q'(a) = (q(a) - \\sum_x "
            "P'(a, x))_+$ and $q''(a) = (q'(a) - \\sum_x P'(x, a))_+$, whatever the drafts are.",
            over_hubs(corrected_is_lossless),
        ),
    ),
    Claim(
        "spechub.alg3b",
        "Algorithm 3, with section 4",
        "Algorithm 3 accepts each draft with the masses of section 4's plan, and in all with the "
        "optimum for its drafts.",
        over_hubs(printed_follows_the_plan),
        corrected=Corrected(
            "It does if both updates of the hub's residual are made before the branches.",
            over_hubs(corrected_follows_the_plan),
        ),
    ),
)
