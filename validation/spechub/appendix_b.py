"""Appendices B.1 and B.2: the top token's plan, algorithms 2 and 3, theorem 2 and its proof."""

from math import log, sqrt

import numpy as np

import otspec
from validation.claim import Method, Severity, above, at_least, claim, corrected, equal
from validation.notation import ONE, ZERO, collect, positive, same, total
from validation.oracles import least_bound
from validation.spechub.algorithms import HUBS, UNCERTAIN, Hub, completed, couples, get_residual
from validation.spechub.section_2_3 import lossless
from validation.spechub.section_4 import printed_solution

MISPRINT = Severity.MISPRINT
DRAWS, DOUBT = 4_000, 1e-9
"""Pairs sampled per instance, and the probability that any of its frequencies is too far off."""
SAMPLED = UNCERTAIN.where(lambda draft: len(draft) > 1).one(seed=range(20))


def displayed_plan(hub, everywhere=False):
    """Return the plan displayed in appendix B.1.
    ``everywhere``: the sums run over all x of the vocabulary, as printed, so that the hub's own
    q(x) − π(x, a, x) is in the last one; else over x ≠ a."""
    as_first, as_second = printed_solution(hub)
    left_first, left_last = positive(hub.first, as_second), positive(hub.last, as_first)
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


@corrected("spechub.secB.1", MISPRINT, everywhere=False)
@claim("spechub.secB.1", "Appendix B.1, the transport plan of the top token", HUBS)
def plan_serves_the_hub(draft, target, everywhere=True):
    r"""The four displayed lines solve the simplified program and accept $a$ with mass $q(a)$: of
    each $(a, x)$ and then of each $(x, a)$ the hub takes its share of what is left, the last in
    proportion to $p(x) - \pi(x, a, x)$ over its sum for all $x \in V$.
    Printed: The sums run over all x of V, and with the first line x = a adds q(a) − min(p(a), q(a))
    (its q is the draft) to the fourth. The third, which lacks a parenthesis, is read like that.
    Corrected: They do if all sums run over $x \ne a$."""
    plan = displayed_plan(hub := Hub(draft, target), everywhere)
    rows = collect((x, mass) for (x, _), mass in plan.items())
    for x, mass in hub.table.items():
        at_least(mass, rows.get(x, ZERO), f"P{x}, against what it accepts")
    equal(total(mass for (_, y), mass in plan.items() if y == hub.a), hub.q, "mass of the hub")
    return equal(total(plan.values()), least_bound(hub.table, target), "acceptance")


@claim("spechub.alg2", "Algorithm 2, GetResidual", HUBS)
def residual_of_a_column(draft, target):
    """GetResidual returns what rejection sampling of one column leaves of target and draft off the
    hub, and leaves the hub's target as it is."""
    hub = Hub(draft, target)
    for wanted, column in ((target, hub.last), (hub.once, hub.first)):
        taken = [p and p * min(ONE, q / p) for q, p in zip(wanted, column, strict=True)]
        after, left = get_residual(wanted, column, hub.a)
        equal((after[hub.a], left[hub.a]), (hub.q, 0), "the hub's target and draft")
        same(after, positive(wanted, taken), "target")
        same(left, positive(column, taken), "draft")
    return ZERO


@corrected("spechub.alg3a", Severity.WRONG, run="ran")
@claim("spechub.alg3a", "Algorithm 3, with theorem 2", HUBS)
def is_lossless(draft, target, run="literal"):
    r"""Algorithm 3 is lossless.
    Printed: p'(a) is reduced only inside “if $x^{(1)} = a$” and p''(a) only inside “if
    $x^{(2)} = a$”. So the second branch offers the hub the mass that the first has used, and the
    residual after the first still contains the hub. No pair is defined for a certain hub; the
    first loop has i for x.
    Corrected: It is if both updates are made before the branches, for all drafts:
    $q'(a) = (q(a) - \sum_x P'(a, x))_+$ and $q''(a) = (q'(a) - \sum_x P'(x, a))_+$.
    Explained: The pairs $(a, x)$ and $(x, a)$ share the hub's mass $q(a)$, but each is printed as
    if the other used none, so the top token comes out too often."""
    return lossless(getattr(Hub(draft, target), run), target)


@corrected("spechub.alg3b", Severity.WRONG, run="ran")
@claim("spechub.alg3b", "Algorithm 3, with section 4", HUBS)
def follows_the_plan(draft, target, run="literal"):
    """Algorithm 3 accepts each draft with the masses of section 4's plan, in all the optimum.
    Corrected: It does if both updates of the hub's residual are made before the branches.
    Explained: As printed, the hub is accepted twice for the same mass, so a measured acceptance
    rate can exceed the optimum."""
    hub = Hub(draft, target)
    ran = getattr(hub, run)
    found = collect(((x, b.output), b.mass) for x, b in ran.branches if b.accepted is not None)
    for (x, y), mass in displayed_plan(hub).items():
        equal(found.pop((x, y), ZERO), mass, f"accepted of {x} as token {y}")
    equal(total(found.values()), 0, "what else is accepted")
    return equal(ran.among_drafts(), least_bound(hub.table, target), "acceptance")


claim("spechub.thm2", "Theorem 2, appendix B.2", HUBS,
      "SpecHub generates each token x with probability q(x): both the completed transport plan and "
      "the verification that the proof describes.",
      printed="Algorithm 3 as printed is another matter: see alg3a.",
)(lambda draft, target: couples(completed(displayed_plan(hub := Hub(draft, target)), hub.table,
  target), hub.table, target) + lossless(hub.ran, target))  # fmt: skip
claim("spechub.secB.2f", "Proof of theorem 2, the sum of Q", HUBS,
      r"$\sum_{x \ne a} P(a, x) + P(x, a) = 1$.",
)(lambda draft, target: equal(total(Hub(draft, target).table.values()), 1, "sum"))  # fmt: skip


@claim("spechub.secB.2a", "Proof of theorem 2 and figure 6", SAMPLED, method=Method.SIMULATION)
def sampled_pairs(draft, seed):
    r"""The pairs $(x, a)$ and $(a, x)$, $x \ne a$, are sampled with probabilities $p(x)$ and
    $p(a) p(x)/(1 - p(a))$, and no others."""
    n, hub, stated = len(draft), Hub(draft, draft), np.zeros((len(draft), len(draft)))
    stated[hub.a] = [hub.p * mass / (1 - hub.p) for mass in hub.last]
    stated[:, hub.a] = hub.last  # both have 0 at (a, a)
    drawn = otspec.Hub(draft).sample(DRAWS, np.random.default_rng(seed))
    seen = np.bincount(n * drawn[:, 0] + drawn[:, 1], minlength=n * n).reshape(n, n) / DRAWS
    equal(int((seen[stated == 0] > 0).sum()), 0, "pairs that should not occur")
    margin = sqrt(log(4 * (n - 1) / DOUBT) / (2 * DRAWS))  # Hoeffding's, the doubt shared
    return at_least(margin, float(np.abs(seen - stated).max()), "margin, against a deviation")


@claim("spechub.secB.2b", "Proof of theorem 2, x ≠ a", HUBS)
def off_the_hub(draft, target):
    r"""For $x \ne a$, $X = x = x^{(1)}$ has probability $\min(q, p)$, $X = x = x^{(2)}$ has
    $\min(q - \min(q, p), p(a) p(x)/(1 - p(a)))$, the residual is
    $(q(x) - p(x) - p(a) p(x)/(1 - p(a)))_+$, and the three add up to $q(x)$."""
    hub = Hub(draft, target)
    for x, p, q in hub.others:
        pair, of_x = hub.odds * p, [hub.ran.accepted(0, x), hub.ran.accepted(1, x)]
        three = min(q, p), min(q - min(q, p), pair), max(q - p - pair, ZERO)
        drawn = hub.ran.output(len(draft))[x] - total(of_x)
        same((*of_x, drawn), three, f"{x} as draft, or drawn,")
        equal((hub.once[x], hub.twice[x]), (q - three[0], three[2]), f"q'({x}), q''({x})")
        equal(total(three), q, f"sum at {x}")
    return ZERO


@claim("spechub.cor1", "Corollary 1, appendix B.2; section 4, Analysis", HUBS,
       "SpecHub generates the top token a with probability q(a), and always as an accepted draft: "
       "it is never undersampled.",
       printed="The proof of theorem 3 calls this “Lemma 1”; there is none.")  # fmt: skip
@claim("spechub.secB.2c", "Proof of theorem 2, the drafts of a", HUBS)
def hub_by_draft(draft, target):
    r"""The hub is generated as first draft with probability $\min(q(a), \sum_x P'(a, x))$, as
    second with $\min((q(a) - \sum_x P'(a, x))_+, \sum_x P'(x, a))$, and in all with
    $\min(q(a), \sum_x P'(a, x) + P'(x, a))$."""
    hub = Hub(draft, target)
    claimed = min(hub.q, hub.firsts), min(max(hub.q - hub.firsts, ZERO), hub.lasts)
    equal(tuple(hub.ran.accepted(i, hub.a) for i in (0, 1)), claimed, "hub as a draft")
    generated = hub.ran.output(len(draft))[hub.a], hub.ran.accepted(token=hub.a)
    equal(generated, (min(hub.q, hub.firsts + hub.lasts),) * 2, "hub")
    return equal(generated, (hub.q, hub.q), "hub")


@corrected("spechub.secB.2d", MISPRINT, quotients=False)
@claim("spechub.secB.2d", "Proof of theorem 2, the total probability of a", HUBS)
def middle_line(draft, target, quotients=True):
    r"""$\min(q(a), \frac{q(a)}{\sum_x P'(a, x)}) + \min((q(a) - \sum_x P'(a, x))_+,
    \frac{q(a)}{\sum_x P'(x, a)}) = \min(q(a), \sum_x P'(a, x) + P'(x, a))$.
    Printed: The middle line of three; what is divided by 0 is above any bound.
    Corrected: With $\sum_x P'(a, x)$ and $\sum_x P'(x, a)$ for the two quotients."""
    hub = Hub(draft, target)
    sums = hub.firsts, hub.lasts
    one, other = [hub.q / by if by else hub.q for by in sums] if quotients else sums
    found = min(hub.q, one) + min(max(hub.q - hub.firsts, ZERO), other)
    return equal(found, min(hub.q, hub.firsts + hub.lasts), "middle line")


@corrected("spechub.secB.2e", Severity.DEGENERATE, compare=at_least)
@claim("spechub.secB.2e", "Proof of theorem 2, “it can be shown”", HUBS)
def enough_for_the_hub(draft, target, compare=above):
    r"""$q(a) < \sum_x P'(a, x) + P'(x, a)$.
    Corrected: $q(a) \le \sum_x P'(a, x) + P'(x, a)$; they are equal where all pairs are
    accepted."""
    hub = Hub(draft, target)
    slack = compare(hub.firsts + hub.lasts, hub.q, "what is left of the pairs")
    equal(slack, 1 - hub.ran.accepted(), "what the hub leaves, against what is drawn")
    return slack + equal(slack, total(hub.twice) - hub.q, "what the hub leaves")


@corrected("spechub.secB.2g", MISPRINT, swapped=False)
@claim("spechub.secB.2g", "Proof of theorem 2, the last chain", HUBS)
def last_chain(draft, target, swapped=True):
    r"""$\sum_{x \ne a} P'(a, x) + P'(x, a) = \sum_{x \ne a} (P(a, x) - q(x))_+ +
    (P(x, a) - q'(x))_+ = \sum_{x \ne a} (P(a, x) + P(x, a) - q(x))_+ \ge \sum_{x \ne a}
    P(a, x) + P(x, a) - q(x) = q(a)$.
    Printed: q and q' have changed places: algorithm 3 takes (x, a) first.
    Corrected: The second expression is
    $\sum_{x \ne a} (P(a, x) - q'(x))_+ + (P(x, a) - q(x))_+$."""
    hub = Hub(draft, target)
    by_first, by_last = (target, hub.once) if swapped else (hub.once, target)
    both = [p + r for p, r in zip(hub.first, hub.last, strict=True)]
    line = total((*positive(hub.first, by_first), *positive(hub.last, by_last)))
    equal(line, hub.firsts + hub.lasts, "first line")
    equal(total(positive(both, target)), line, "second line")
    equal(total(both[x] - q for x, _, q in hub.others), hub.q, "last line")
    return at_least(line, hub.q, "second line")
