"""Appendix B.1: the displayed plan of the top token, and algorithms 2 and 3."""

from validation.claim import Severity, at_least, claim, corrected, equal
from validation.notation import ONE, ZERO, collect, same, total
from validation.oracles import least_bound
from validation.spechub.algorithms import HUBS, Hub, get_residual
from validation.spechub.section_2 import lossless
from validation.spechub.section_4 import printed_solution


def displayed_plan(hub, everywhere=False):
    """Return the plan displayed in appendix B.1.

    ``everywhere``: the sums run over all x of the vocabulary, as printed, so that the hub's own
    q(x) − π(x, a, x) is in the last one; else over x ≠ a.
    """
    as_first, as_second = printed_solution(hub)
    left_first = [mass - moved for mass, moved in zip(hub.first, as_second, strict=True)]
    left_last = [mass - moved for mass, moved in zip(hub.last, as_first, strict=True)]
    firsts = total(left_first)
    lasts = total(left_last) + (hub.p - min(hub.p, hub.q)) * everywhere
    of_first = min(hub.q, firsts)
    of_last = min(hub.q - of_first, lasts)
    plan, a = {}, hub.a
    for x in [x for x, mass, _ in hub.others if mass]:
        plan[(x, a), x], plan[(a, x), x] = as_first[x], as_second[x]
        plan[(a, x), a] = of_first * left_first[x] / firsts if firsts else ZERO
        plan[(x, a), a] = of_last * left_last[x] / lasts if lasts else ZERO
    return plan


@corrected("spechub.secB.1", Severity.MISPRINT, HUBS, everywhere=False)
@claim("spechub.secB.1", "Appendix B.1, the transport plan of the top token", HUBS)
def plan_serves_the_hub(draft, target, everywhere=True):
    r"""The four displayed lines solve the simplified program and accept $a$ with mass $q(a)$: of
    each $(a, x)$ and then of each $(x, a)$ the hub takes its share of what is left, the last in
    proportion to $p(x) - \pi(x, a, x)$ over its sum for all $x \in V$.
    Printed: The sums run over all x of V, and with the first line x = a adds q(a) − min(p(a), q(a))
    (the paper's q is the draft) to the last one. The third line lacks a parenthesis; it is read
    like the fourth.
    Corrected: They do if all sums run over $x \ne a$."""
    hub = Hub(draft, target)
    plan = displayed_plan(hub, everywhere)
    rows = collect((x, mass) for (x, _), mass in plan.items())
    for x, mass in hub.table.items():
        at_least(mass, rows.get(x, ZERO), f"P{x}, against what it accepts")
    equal(total(mass for (_, y), mass in plan.items() if y == hub.a), hub.q, "mass of the hub")
    return equal(total(plan.values()), least_bound(hub.table, target), "acceptance")


@claim("spechub.alg2", "Algorithm 2, GetResidual", HUBS)
def residual_of_a_column(draft, target):
    """GetResidual returns what rejection sampling of one column leaves of target and draft off the
    hub, and leaves the hub's target as it is."""
    hub, wanted = Hub(draft, target), target
    for column in (hub.last, hub.first):
        taken = [p and p * min(ONE, q / p) for q, p in zip(wanted, column, strict=True)]
        after, left = get_residual(wanted, column, hub.a)
        equal((after[hub.a], left[hub.a]), (hub.q, 0), "the hub's target and draft")
        same(after, [q - mass for q, mass in zip(wanted, taken, strict=True)], "target")
        same(left, [p - mass for p, mass in zip(column, taken, strict=True)], "draft")
        wanted = after
    return ZERO


@corrected("spechub.alg3a", Severity.WRONG, HUBS, literal=False)
@claim("spechub.alg3a", "Algorithm 3, with theorem 2", HUBS)
def is_lossless(draft, target, literal=True):
    r"""Algorithm 3 is lossless.
    Printed: p'(a) is reduced only inside “if $x^{(1)} = a$” and p''(a) only inside “if
    $x^{(2)} = a$”. So the second branch offers the hub the mass that the first has used, and the
    residual after the first still contains the hub. For a certain hub no pair is defined, and in
    the first loop i is printed for x.
    Corrected: It is if both updates are made before the branches,
    $q'(a) = (q(a) - \sum_x P'(a, x))_+$ and $q''(a) = (q'(a) - \sum_x P'(x, a))_+$, whatever the
    drafts are.
    Explained: The two kinds of pairs, $(a, x)$ and $(x, a)$, share the hub's mass $q(a)$, but as
    printed neither hears of what the other has used, so that the top token comes out too often.
    Compute both updates first and use them for every pair of drafts."""
    hub = Hub(draft, target)
    return lossless(hub.literal if literal else hub.ran, target)


@corrected("spechub.alg3b", Severity.WRONG, HUBS, literal=False)
@claim("spechub.alg3b", "Algorithm 3, with section 4", HUBS)
def follows_the_plan(draft, target, literal=True):
    """Algorithm 3 accepts each draft with the masses of section 4's plan, and in all with the
    optimum for its drafts.
    Corrected: It does if both updates of the hub's residual are made before the branches.
    Explained: As printed the hub is accepted twice for the same mass, so that a measured acceptance
    rate can exceed what any lossless rule has. With the updates of alg3a it is the optimum."""
    hub = Hub(draft, target)
    ran = hub.literal if literal else hub.ran
    found = collect(((x, b.output), b.mass) for x, b in ran.branches if b.accepted is not None)
    for (x, y), mass in displayed_plan(hub).items():
        equal(found.pop((x, y), ZERO), mass, f"accepted of {x} as token {y}")
    equal(total(found.values()), 0, "what else is accepted")
    return equal(ran.among_drafts(), least_bound(hub.table, target), "acceptance")
