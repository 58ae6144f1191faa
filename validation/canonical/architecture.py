"""Sec. 2, Theorem 1, Theorem 4 and appendix A: the canonical two steps."""

from __future__ import annotations

from fractions import Fraction

from validation.canonical.instances import Digits, over_cases, over_digits, over_pairs, over_three
from validation.canonical.two_steps import (
    best_kernel,
    coupling_from,
    kernel_from,
    selected_law,
    two_steps,
)
from validation.claim import Claim, Corrected, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, accepted, iid, independent, overlap, total
from validation.oracles import flow, least_bound


def single_draft(draft: Exact, target: Exact) -> Fraction:
    """Speculative sampling is lossless and optimal for one draft."""
    table = iid(draft, 1)
    found = two_steps(table, {x: {x[0]: ONE} for x in table}, target)
    equal(found.output, target, "output")
    equal(found.among_drafts, found.accepted, "output is the draft, against accepted")
    return equal(found.accepted, least_bound(iid(draft, 1), target), "acceptance")


def index_selection(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """Choosing an index and summing over equal tokens gives a β, and each β arises so."""
    table = iid(draft, k)
    by_index = {}
    for number, x in enumerate(table):
        weights = [digits[(2 * number + i) % len(digits)] for i in range(k)]
        weights[0] += not any(weights)
        by_index[x] = [Fraction(weight, sum(weights)) for weight in weights]
    summed = {
        x: {y: total(row[i] for i in range(k) if x[i] == y) for y in set(x)}
        for x, row in by_index.items()
    }
    for x, row in summed.items():
        equal(total(row.values()), ONE, f"sum of beta at {x}")
    by_first = [ZERO] * len(target)
    for x, mass in table.items():
        for i, chance in enumerate(by_index[x]):
            by_first[x[i]] += mass * chance
    equal(selected_law(table, summed, len(target)), tuple(by_first), "law of the selected token")
    wanted = kernel_from(digits, table)
    for x, row in wanted.items():  # the index of the first occurrence has all of it
        chances = [row[y] if y not in x[:i] else ZERO for i, y in enumerate(x)]
        equal({y: total(chances[i] for i in range(k) if x[i] == y) for y in set(x)}, row)
    return ZERO


def canonical_steps(drafts: list[Exact], target: Exact) -> Fraction:
    """The two steps with the best β are lossless and accept what no rule can exceed."""
    table = independent(drafts)
    kernel = best_kernel(table, target)
    best = least_bound(independent(drafts), target)
    equal(overlap(selected_law(table, kernel, len(target)), target), best, "max of sum of min")
    found = two_steps(table, kernel, target)
    equal(found.output, target, "output")
    equal(found.accepted, best, "accepted by the second step")
    return equal(found.among_drafts, best, "output among the drafts")


def optimum_formula(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """The best β attains the bound on every rule; any other β stays below it."""
    table = iid(draft, k)
    law = selected_law(table, best_kernel(table, target), len(target))
    best = least_bound(iid(draft, k), target)
    equal(overlap(law, target), best, "max of sum of min")
    other = selected_law(table, kernel_from(digits, table), len(target))
    return at_least(best, overlap(other, target), "optimum, against another beta")


def architecture(draft: Exact, target: Exact, k: int) -> Fraction:
    """For i.i.d. drafts; the optimum is also the maximum flow."""
    canonical_steps([draft] * k, target)
    law = iid(draft, k)
    return equal(flow(law, target), least_bound(law, target), "maximum flow")


def different_drafts(first: Exact, second: Exact, target: Exact) -> Fraction:
    """Theorem 4 for two drafts of different laws."""
    return canonical_steps([first, second], target)


def three_different(first: Exact, second: Exact, target: Exact) -> Fraction:
    """Three drafts: two laws and their mean."""
    mean = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    return canonical_steps([first, second, mean], target)


def only_own_tokens(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(16) and (17): summing over all tuples, and over those that contain y, is the same."""
    table = iid(draft, k)
    kernel = kernel_from(digits, table)
    law = selected_law(table, kernel, len(target))
    for y, mass in enumerate(law):
        within = total(p * kernel[x].get(y, ZERO) for x, p in table.items() if y in x)
        equal(mass, within, f"P(Y = {y})")
    return equal(sum(law), ONE, "sum of b")


def accepted_is_overlap(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(19) as the probability that the output is one of the drafts."""
    table = iid(draft, k)
    kernel = kernel_from(digits, table)
    found = two_steps(table, kernel, target)
    claimed = overlap(selected_law(table, kernel, len(target)), target)
    return equal(found.among_drafts, claimed, "output among the drafts")


def accepted_by_second_step(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(19) is what the second step accepts; the output is a draft at least as often."""
    table = iid(draft, k)
    kernel = kernel_from(digits, table)
    found = two_steps(table, kernel, target)
    equal(found.output, target, "output")
    claimed = overlap(selected_law(table, kernel, len(target)), target)
    equal(found.accepted, claimed, "accepted by the second step")
    canonical_steps([draft] * k, target)  # equal for the best β
    return at_least(found.among_drafts, claimed, "output among the drafts")


def mass_within_target(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(26) and (31): a token accepts at most its target mass."""
    plan = coupling_from(digits, iid(draft, k), target)
    slacks = []
    for y, wanted in enumerate(target):
        inside = total(mass for (x, z), mass in plan.items() if z == y and y in x)
        outside = total(mass for (x, z), mass in plan.items() if z == y and y not in x)
        equal(inside + outside, wanted, f"law of the output at {y}")
        slacks.append(at_least(wanted, inside, f"q({y})"))
    return min(slacks)


def acceptance_of_plan(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(30): the acceptance is Σ_y min(q(y), mass of y among the drafts)."""
    plan = coupling_from(digits, iid(draft, k), target)
    inside = [
        total(mass for (x, z), mass in plan.items() if z == y and y in x)
        for y in range(len(target))
    ]
    return equal(overlap(target, inside), accepted(plan), "sum of min")


def projected(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(32) to (37): spread what a plan does not accept evenly over the distinct drafts."""
    table = iid(draft, k)
    plan = coupling_from(digits, table, target)
    kernel = {}
    for x, mass in table.items():
        kept = {y: plan[x, y] / mass for y in set(x)}
        rest = (1 - total(kept.values())) / len(set(x))
        kernel[x] = {y: chance + rest for y, chance in kept.items()}
        at_least(rest, ZERO, f"beta against the plan at {x}")
        equal(total(kernel[x].values()), ONE, f"sum of beta at {x}")
    law = selected_law(table, kernel, len(target))
    for y, mass in enumerate(law):
        inside = total(each for (x, z), each in plan.items() if z == y and y in x)
        at_least(mass, inside, f"b({y})")
    found = two_steps(table, kernel, target)
    equal(found.output, target, "output of the projected plan")
    equal(found.accepted, overlap(law, target), "acceptance of the projected plan")
    return at_least(found.accepted, accepted(plan), "acceptance of the projected plan")


CLAIMS = (
    Claim(
        "canonical.sec2a",
        "Section 2 and Theorem 1, step two",
        r"For $k = 1$ speculative sampling is lossless and optimal: it accepts $\alpha_1$.",
        over_pairs(single_draft),
    ),
    Claim(
        "canonical.def1",
        "After Definition 1",
        r"Selecting an index with some probability given the drafts maps to weights "
        r"$\beta_y(x)$, $y \in S(x)$, that sum to 1, by summing over all indices $i$ with "
        r"$x_i = y$; and all such weights arise so.",
        over_digits(index_selection),
        printed="Only the first half is asserted; the second is what makes (1) as general.",
    ),
    Claim(
        "canonical.thm1a",
        "Theorem 1, (2) to (4)",
        r"$\alpha(P, q) = \max_\beta \sum_y \min(q(y), \sum_x P(x) \beta_y(x))$ over "
        r"$0 \le \beta_y(x) \le 1$ with $\sum_{y \in S(x)} \beta_y(x) = 1$, for i.i.d. drafts.",
        over_digits(optimum_formula),
    ),
    Claim(
        "canonical.thm1b",
        "Theorem 1, the canonical architecture",
        r"Selecting a draft by the best $\beta$ and then verifying it by single-draft "
        r"speculative sampling is lossless and accepts $\alpha(P, q)$.",
        over_cases(architecture, (1, 2, 3)),
    ),
    Claim(
        "canonical.rem1",
        "Remark 1",
        r"Theorem 1 extends to drafts that are not identically distributed.",
        over_three(three_different),
        printed="Stated for any number of drafts; three are checked here and two in thm4.",
    ),
)

APPENDIX_A = (
    Claim(
        "canonical.eq17",
        "Appendix A, (16) and (17)",
        r"The law of the selected token is $b(y) = \sum_x P(x) \beta_y(x) 1\{y \in S(x)\} = "
        r"\sum_{x : y \in S(x)} P(x) \beta_y(x)$.",
        over_digits(only_own_tokens),
    ),
    Claim(
        "canonical.eq19",
        "Appendix A, (18) and (19)",
        r"Speculative sampling on the selected token has the probability of acceptance "
        r"$\sum_y \min(q(y), b(y))$, for every $\beta$.",
        over_digits(accepted_is_overlap),
        printed="Problem 1 defines the probability of acceptance as that of an output among the "
        "drafts, and this is the reading checked here. Read as the probability that the second "
        "step accepts, the formula is right.",
        corrected=Corrected(
            r"The second step accepts with probability $\sum_y \min(q(y), b(y))$. The output is "
            r"among the drafts with at least this probability, since a residual token may be "
            r"another draft, and with exactly this probability for a best $\beta$.",
            over_digits(accepted_by_second_step, ks=(1, 2)),
        ),
    ),
    Claim(
        "canonical.eq26",
        "Appendix A, (25), (26) and (31)",
        r"For every coupling $\pi$ of $P$ and $q$: $\sum_{x : y \in S(x)} \pi(x, y) \le q(y)$.",
        over_digits(mass_within_target),
    ),
    Claim(
        "canonical.eq30",
        "Appendix A, (27) to (30)",
        r"Every coupling accepts $\sum_y \min(q(y), \sum_{x : y \in S(x)} \pi(x, y))$.",
        over_digits(acceptance_of_plan),
    ),
    Claim(
        "canonical.eq37",
        "Appendix A, (32) to (37)",
        r"For a coupling $\pi$, $\beta_y(x) = \pi(y|x) + (1 - \sum_{z \in S(x)} \pi(z|x)) / "
        r"|S(x)|$ is at least $\pi(y|x)$, sums to 1 over $S(x)$, and followed by speculative "
        r"sampling accepts at least as much as $\pi$.",
        over_digits(projected),
    ),
    Claim(
        "canonical.thm4",
        "Theorem 4, appendix A.1",
        r"Theorem 1 with $P(x) = \prod_i p_i(x_i)$: the same maximum over $\beta$, attained by "
        r"the same two steps.",
        over_three(different_drafts),
    ),
)
