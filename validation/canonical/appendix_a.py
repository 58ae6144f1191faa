"""Appendix A: the proof of theorem 1, and theorem 4."""

from __future__ import annotations

from fractions import Fraction

from validation import notation as nt
from validation.algorithms import Ran
from validation.canonical.algorithms import best_steps, kernel_of, selected, two_steps
from validation.canonical.section_3 import WITH_BETA
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases, laws
from validation.instances import Exact
from validation.notation import ONE, ZERO, accepted, iid, total


@claim("canonical.eq17", "Appendix A, (16) and (17)", WITH_BETA)
def eq17(draft, target, k, order):
    r"""The law of the selected token is $b(y) = \sum_x P(x) \beta_y(x) 1\{y \in S(x)\} =
    \sum_{x : y \in S(x)} P(x) \beta_y(x)$.
    """
    table, n = iid(draft, k), len(target)
    kernel = kernel_of(table, order)
    within = [total(p * kernel[x][y] for x, p in table.items() if y in x) for y in range(n)]
    equal(sum(within), ONE, "sum of b")
    return nt.same(selected(table, kernel, n), within, "P(Y = y)")


def some_steps(draft: Exact, target: Exact, k: int, order: int) -> Ran:
    """Return what the two steps do with one β of many; the second accepts Σ min(q, b)."""
    return two_steps(iid(draft, k), kernel_of(iid(draft, k), order), target)


@claim("canonical.eq19", "Appendix A, (18) and (19)", cases(n=3).each(order=(0, 1)))
def eq19(draft, target, k, order):
    r"""Speculative sampling on the selected token has the probability of acceptance
    $\sum_y \min(q(y), b(y))$, for every $\beta$.

    Printed: Problem 1 defines the probability of acceptance as that of an output among the
    drafts, and this is the reading checked here. Read as the probability that the second step
    accepts, the formula is right.
    """
    found = some_steps(draft, target, k, order)
    return equal(found.among_drafts(), found.accepted(), "output among the drafts")


@corrected("canonical.eq19", Severity.CONDITION, WITH_BETA)
def eq19_of_the_second_step(draft, target, k, order):
    r"""The second step accepts with probability $\sum_y \min(q(y), b(y))$. The output is among the
    drafts with at least this probability, since a residual token may be another draft, and with
    exactly this probability for a best $\beta$.
    """
    best_steps([draft] * k, target)
    found = some_steps(draft, target, k, order)
    return at_least(found.among_drafts(), found.accepted(), "output among the drafts")


def plan_of(draft: Exact, target: Exact, k: int, order: int) -> tuple[nt.Coupling, list[Fraction]]:
    """Return one coupling π of many, and how much of each output is among the drafts."""
    plan = nt.some_coupling(iid(draft, k), dict(enumerate(target)), order)
    inside = nt.collect((y, mass) for (x, y), mass in plan.items() if y in x)
    return plan, nt.as_row(inside, len(target))


claim("canonical.eq26", "Appendix A, (25), (26) and (31)", WITH_BETA,
      r"For every coupling $\pi$ of $P$ and $q$: $\sum_{x : y \in S(x)} \pi(x, y) \le q(y)$.",
)(lambda draft, target, k, order:
  min(map(at_least, target, plan_of(draft, target, k, order)[1])))  # fmt: skip


@claim("canonical.eq30", "Appendix A, (27) to (30)", WITH_BETA)
def eq30(draft, target, k, order):
    r"""Every coupling accepts $\sum_y \min(q(y), \sum_{x : y \in S(x)} \pi(x, y))$."""
    plan, inside = plan_of(draft, target, k, order)
    return equal(nt.overlap(target, inside), accepted(plan), "sum of min")


@claim("canonical.eq37", "Appendix A, (32) to (37)", WITH_BETA)
def eq37(draft, target, k, order):
    r"""For a coupling $\pi$, $\beta_y(x) = \pi(y|x) + (1 - \sum_{z \in S(x)} \pi(z|x)) / |S(x)|$
    is at least $\pi(y|x)$, sums to 1 over $S(x)$, and followed by speculative sampling accepts at
    least as much as $\pi$.
    """
    plan, kernel = plan_of(draft, target, k, order)[0], {}
    for x, mass in iid(draft, k).items():
        kept = {y: plan.get((x, y), ZERO) / mass for y in set(x)}
        rest = at_least(ONE, total(kept.values()), f"1, against the plan at {x}") / len(kept)
        kernel[x] = {y: chance + rest for y, chance in kept.items()}
        equal(total(kernel[x].values()), ONE, f"sum of beta at {x}")
    found = two_steps(iid(draft, k), kernel, target)
    return at_least(found.accepted(), accepted(plan), "accepted, against the plan")


claim("canonical.thm4", "Theorem 4, appendix A.1", laws("first", "second", "target"),
      r"Theorem 1 with $P(x) = \prod_i p_i(x_i)$: the same maximum over $\beta$, attained by the "
      "same two steps.",
)(lambda first, second, target: best_steps([first, second], target))  # fmt: skip
