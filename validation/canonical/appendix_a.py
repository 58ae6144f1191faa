"""Appendix A: the proof of theorem 1, and theorem 4."""

from validation import notation as nt
from validation.canonical import section_3
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.domains import cases, laws
from validation.notation import ONE, ZERO, accepted, iid, some_coupling, total


@claim("canonical.eq17", "Appendix A, (16) and (17)", section_3.WITH_BETA)
def eq17(draft, target, k, order):
    r"""The law of the selected token is $b(y) = \sum_x P(x) \beta_y(x) 1\{y \in S(x)\} =
    \sum_{x : y \in S(x)} P(x) \beta_y(x)$."""
    table, n = iid(draft, k), len(target)
    kernel = section_3.kernel_of(table, order)
    within = [total(p * kernel[x][y] for x, p in table.items() if y in x) for y in range(n)]
    return nt.same(section_3.selected(table, kernel, n), within, "P(Y = y)")


claim("canonical.eq19", "Appendix A, (18) and (19)", cases(n=3).each(order=(0, 1)),
      "Speculative sampling on the selected token has the probability of acceptance "
      r"$\sum_y \min(q(y), b(y))$, for every $\beta$.",
      printed="Problem 1 defines the probability of acceptance as that of an output among the "
      "drafts, and this is the reading checked here. Read as the probability that the second step "
      "accepts, the formula is right.",
)(lambda **case: equal(*section_3.some_steps(**case), "output among the drafts"))  # fmt: skip
corrected("canonical.eq19", Severity.CONDITION, section_3.WITH_BETA,
          "The second step accepts with this probability. The output is among the drafts with "
          "at least this probability, since a residual token may be another draft, and with "
          r"exactly this for a best $\beta$.",
)(lambda draft, target, k, order: section_3.best_steps([draft] * k, target) + at_least(
    *section_3.some_steps(draft, target, k, order), "output among the drafts"))  # fmt: skip


def accepts(draft, target, k, order):
    """Each token accepts at most its target mass, and the coupling the sum of the minima."""
    plan = some_coupling(iid(draft, k), dict(enumerate(target)), order)
    inside = nt.collect((y, mass) for (x, y), mass in plan.items() if y in x)
    by_token = nt.as_row(inside, len(target))
    equal(nt.overlap(target, by_token), accepted(plan), "sum of min")
    return min(map(at_least, target, by_token))


claim("canonical.eq26", "Appendix A, (25), (26) and (31)", section_3.WITH_BETA,
      r"For every coupling $\pi$ of $P$ and $q$: $\sum_{x : y \in S(x)} \pi(x, y) \le q(y)$.",
)(accepts)  # fmt: skip
claim("canonical.eq30", "Appendix A, (27) to (30)", section_3.WITH_BETA,
      r"Every coupling accepts $\sum_y \min(q(y), \sum_{x : y \in S(x)} \pi(x, y))$.",
)(accepts)  # fmt: skip


@claim("canonical.eq37", "Appendix A, (32) to (37)", section_3.WITH_BETA)
def eq37(draft, target, k, order):
    r"""For a coupling $\pi$, $\beta_y(x) = \pi(y|x) + (1 - \sum_{z \in S(x)} \pi(z|x)) / |S(x)|$
    is at least $\pi(y|x)$, sums to 1 over $S(x)$, and followed by speculative sampling accepts at
    least as much as $\pi$."""
    plan, kernel = some_coupling(iid(draft, k), dict(enumerate(target)), order), {}
    for x, mass in iid(draft, k).items():
        kept = {y: plan.get((x, y), ZERO) / mass for y in set(x)}
        rest = at_least(ONE, total(kept.values()), f"1, against the plan at {x}") / len(kept)
        kernel[x] = {y: chance + rest for y, chance in kept.items()}
        equal(total(kernel[x].values()), ONE, f"sum of beta at {x}")
    found = section_3.two_steps(iid(draft, k), kernel, target)
    return at_least(found.accepted(), accepted(plan), "accepted, against the plan")


claim("canonical.thm4", "Theorem 4, appendix A.1", laws("first", "second", "target"),
      r"Theorem 1 with $P(x) = \prod_i p_i(x_i)$: the same maximum over $\beta$, attained by the "
      "same two steps.",
)(lambda first, second, target: section_3.best_steps([first, second], target))  # fmt: skip
