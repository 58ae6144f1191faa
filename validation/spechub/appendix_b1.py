"""Appendix B.1: the displayed plan of the top token, and algorithms 2 and 3."""

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.notation import ONE, ZERO, same, total
from validation.oracles import least_bound
from validation.spechub.algorithms import (
    HUBS,
    get_residual,
    hub_columns,
    hub_of,
    hub_table,
    spechub,
)
from validation.spechub.section_4 import printed_solution


def displayed_plan(draft, target, *, everywhere=False):
    """Return the plan displayed in appendix B.1.

    ``everywhere``: the sums run over all x of the vocabulary, as printed, so that the hub's own
    q(x) − π(x, a, x) is in the last one; else over x ≠ a.
    """
    a, (last, first) = hub_of(draft), hub_columns(draft)
    as_first, as_second = printed_solution(draft, target)
    left_first = [mass - moved for mass, moved in zip(first, as_second, strict=True)]
    left_last = [mass - moved for mass, moved in zip(last, as_first, strict=True)]
    firsts, lasts = total(left_first), total(left_last)
    if everywhere:
        lasts += draft[a] - min(draft[a], target[a])
    of_first = min(target[a], firsts)
    of_last = min(target[a] - of_first, lasts)
    plan = {}
    for x in [x for x, mass in enumerate(draft) if mass and x != a]:
        plan[(x, a), x], plan[(a, x), x] = as_first[x], as_second[x]
        plan[(a, x), a] = of_first * left_first[x] / firsts if firsts else ZERO
        plan[(x, a), a] = of_last * left_last[x] / lasts if lasts else ZERO
    return plan


def solves(plan, draft, target):
    """The plan is within both marginals, accepts all of q(a) and attains the optimum."""
    table, a = hub_table(draft), hub_of(draft)
    for x, mass in table.items():
        row = total(moved for (key, _), moved in plan.items() if key == x)
        at_least(mass, row, f"P{x}, against what it accepts")
    equal(total(mass for (_, y), mass in plan.items() if y == a), target[a], "mass of the hub")
    return equal(total(plan.values()), least_bound(table, target), "acceptance")


@claim("spechub.secB.1", "Appendix B.1, the transport plan of the top token",
       HUBS.where(lambda draft, **_: len(draft) > 2))  # fmt: skip
def plan_as_displayed(draft, target):
    r"""The four displayed lines solve the simplified program and accept $a$ with mass $q(a)$: of
    each $(a, x)$ and then of each $(x, a)$ the hub takes its share of what is left, the last in
    proportion to $p(x) - \pi(x, a, x)$ over its sum for all $x \in V$.

    Printed: The sums run over all x of V, and with the first line x = a adds q(a) − min(p(a), q(a))
    (the paper's q is the draft) to the last one. The third line lacks a parenthesis; it is read
    like the fourth.
    """
    return solves(displayed_plan(draft, target, everywhere=True), draft, target)


@corrected("spechub.secB.1", Severity.MISPRINT, HUBS)
def plan_off_the_hub(draft, target):
    r"""They do if all sums run over $x \ne a$."""
    return solves(displayed_plan(draft, target), draft, target)


@claim("spechub.alg2", "Algorithm 2, GetResidual", HUBS)
def residual_of_a_column(draft, target):
    """GetResidual returns what rejection sampling of one column leaves of target and draft off the
    hub, and leaves the hub's target as it is.
    """
    a, wanted = hub_of(draft), target
    for column in hub_columns(draft):
        both = list(zip(wanted, column, strict=True))
        taken = [p * min(ONE, q / p) if p else ZERO for q, p in both]
        after, left = get_residual(wanted, column, a)
        equal((after[a], left[a]), (wanted[a], 0), "the hub's target and draft")
        same(after, [q - mass for (q, _), mass in zip(both, taken, strict=True)], "target")
        same(left, [p - mass for (_, p), mass in zip(both, taken, strict=True)], "draft")
        wanted = after
    return ZERO


@claim("spechub.alg3a", "Algorithm 3, with theorem 2", HUBS)
def literal_is_lossless(draft, target):
    """Algorithm 3 is lossless.

    Printed: p'(a) is reduced only inside “if $x^{(1)} = a$” and p''(a) only inside “if
    $x^{(2)} = a$”. So the second branch offers the hub the mass that the first has used, and the
    residual after the first still contains the hub. For a certain hub no pair is defined, and in
    the first loop i is printed for x.
    """
    return same(spechub(draft, target, literal=True).output(len(draft)), target, "output")


@corrected("spechub.alg3a", Severity.WRONG, HUBS)
def updated_is_lossless(draft, target):
    r"""It is if both updates are made before the branches,
    $q'(a) = (q(a) - \sum_x P'(a, x))_+$ and $q''(a) = (q'(a) - \sum_x P'(x, a))_+$, whatever the
    drafts are.

    Explained: The two kinds of pairs, $(a, x)$ and $(x, a)$, share the hub's mass q(a), but as
    printed neither hears of what the other has used, so that the top token comes out too often.
    Compute both updates first and use them for every pair of drafts.
    """
    return same(spechub(draft, target).output(len(draft)), target, "output")


def follows_the_plan(ran, draft, target):
    """Each token is accepted from each pair of drafts with the mass of the plan."""
    found = {
        (x, y): total(
            branch.mass
            for z, branch in ran.branches
            if z == x and branch.output == y and branch.accepted is not None
        )
        for x in ran.table
        for y in x
    }
    for (x, y), mass in displayed_plan(draft, target).items():
        equal(found[x, y], mass, f"accepted of {x} as token {y}")
    return equal(ran.among_drafts(), least_bound(hub_table(draft), target), "acceptance")


@claim("spechub.alg3b", "Algorithm 3, with section 4", HUBS)
def literal_follows_the_plan(draft, target):
    """Algorithm 3 accepts each draft with the masses of section 4's plan, and in all with the
    optimum for its drafts.
    """
    return follows_the_plan(spechub(draft, target, literal=True), draft, target)


@corrected("spechub.alg3b", Severity.WRONG, HUBS)
def updated_follows_the_plan(draft, target):
    """It does if both updates of the hub's residual are made before the branches.

    Explained: As printed the hub is accepted twice for the same mass, so that a measured acceptance
    rate can exceed what any lossless rule has. With the updates of alg3a it is the optimum.
    """
    return follows_the_plan(spechub(draft, target), draft, target)
