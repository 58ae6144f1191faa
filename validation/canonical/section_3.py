"""Sections 2 and 3: the two steps (theorem 1), α for two drafts (theorems 2, 3), fig. 2."""

import random
from fractions import Fraction
from math import gcd

from otspec.rules import KSequential, RecursiveRejection
from validation import notation as nt
from validation.algorithms import Ran, selecting
from validation.claim import above, at_least, claim, equal
from validation.domains import cases, drafts, given, laws, pairs
from validation.notation import ONE, ZERO, collect, iid, mass_of, subsets, total
from validation.oracles import best_kernel, least_bound, optimum

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
ORDERS = range(61)
WITH_BETA = cases(n=3, random_n=4).one(order=ORDERS)


def nearer(draft, target, share, **more):
    """Return the instance whose target is mixed with so much of the draft."""
    mixed = tuple(share * p + (1 - share) * q for p, q in zip(draft, target, strict=True))
    return {"draft": draft, "target": mixed, **more}


def near(domain):
    """Return the domain in which the targets are as they are, halfway, or near to the draft."""
    return domain.one(share=(ZERO, HALF, Fraction(9, 10))).of(nearer)


def certain(draft, target, claimed, k=2):
    """Check whether α is 1."""
    best = optimum(draft, target, k)
    return equal(best == 1, claimed, f"alpha = {best}; alpha = 1")


def kernel_of(table, order, options=set):
    """Return one β of many, or laws over other options: even for order 0, else with this seed."""
    drawn, rows = random.Random(order), {}  # noqa: S311
    for x in table:
        weights = {y: drawn.randrange(5) if order else 1 for y in sorted(options(x))}
        weights[min(weights)] += not any(weights.values())
        rows[x] = {y: Fraction(weight, sum(weights.values())) for y, weight in weights.items()}
    return rows


def selected(table, kernel, n):
    """Return b(y) = Σ_x P(x) β_y(x)."""
    parts = ((y, mass * chance) for x, mass in table.items() for y, chance in kernel[x].items())
    return nt.as_row(collect(parts), n)


def two_steps(table, kernel, target, law=()):
    """Select a draft by β and verify it: losslessly, accepting Σ min(q, b), if it has this law."""
    chosen = selected(table, kernel, len(target))
    nt.same(chosen, law or chosen, "law of the selected token")
    found = Ran(selecting(kernel, target, chosen), table)
    nt.same(found.output(len(target)), target, "output")
    equal(found.accepted(), nt.overlap(chosen, target), "accepted by the second step")
    return found


def some_steps(draft, target, k, order):
    """Return how often an output is among the drafts and is accepted, with one β of many."""
    found = two_steps(iid(draft, k), kernel_of(iid(draft, k), order), target)
    return found.among_drafts(), found.accepted()


def best_steps(drafts, target):
    """The two steps with the best β accept what no rule can exceed."""
    table = nt.independent(drafts)
    found = two_steps(table, best_kernel(table, target), target)
    equal(found.accepted(), least_bound(table, target), "accepted by the second step")
    return equal(found.among_drafts(), found.accepted(), "output among the drafts")


claim("canonical.sec2a", "Section 2 and Theorem 1, step two", pairs(random_n=6),
      r"For $k = 1$ speculative sampling is lossless and optimal: it accepts $\alpha_1$.",
)(lambda draft, target: best_steps([draft], target))  # fmt: skip


@claim("canonical.def1", "After Definition 1", drafts(3).one(k=(1, 2, 3), order=ORDERS))
def def1(draft, k, order):
    r"""Selecting an index with some probability given the drafts maps to weights
    $\beta_y(x)$, $y \in S(x)$, that sum to 1, by summing over all indices $i$ with
    $x_i = y$; and all such weights arise so.

    Printed: Only the first half is asserted; the second is what makes (1) as general."""
    table = iid(draft, k)
    rows = kernel_of(table, order, lambda _: range(k))
    kernel = {x: collect((x[i], c) for i, c in row.items()) for x, row in rows.items()}
    for x, row in kernel.items():  # it arises where the first index of a token has all of it
        equal(total(row.values()), ONE, f"sum of beta at {x}")
        first = {x.index(y): c for y, c in row.items()}
        equal(collect((x[i], c) for i, c in first.items()), row, f"beta at {x}")
    law = collect((x[i], table[x] * c) for x, row in rows.items() for i, c in row.items())
    return nt.same(selected(table, kernel, len(draft)), nt.as_row(law, len(draft)), "law")


claim("canonical.thm1a", "Theorem 1, (2) to (4)", WITH_BETA,
      r"$\alpha(P, q) = \max_\beta \sum_y \min(q(y), \sum_x P(x) \beta_y(x))$ over "
      r"$0 \le \beta_y(x) \le 1$ with $\sum_{y \in S(x)} \beta_y(x) = 1$, for i.i.d. drafts.",
)(lambda draft, target, k, order: best_steps([draft] * k, target) + at_least(
    optimum(draft, target, k), some_steps(draft, target, k, order)[1], "another beta"))  # fmt: skip
claim("canonical.thm1b", "Theorem 1, the canonical architecture", cases(n=3, random_n=4),
      r"Selecting a draft by the best $\beta$ and then verifying it by single-draft speculative "
      r"sampling is lossless and accepts $\alpha(P, q)$.",
)(lambda draft, target, k: best_steps([draft] * k, target))  # fmt: skip
claim("canonical.rem1", "Remark 1", laws("first", "second", "third", "target"),
      "Theorem 1 extends to drafts that are not identically distributed.",
      printed="Stated for any number of drafts; three are checked here and two in thm4.",
)(lambda first, second, third, target: best_steps([first, second, third], target))  # fmt: skip


def fits(draft, target):
    """Whether q(S) ≥ p(S)² for all token sets, (5)."""
    return all(mass_of(target, s) >= mass_of(draft, s) ** 2 for s in subsets(len(draft)))


claim("canonical.thm2", "Theorem 2", near(pairs(random_n=5)),
      r"For $k = 2$: $\alpha = 1$ if and only if $q(S) \ge p(S)^2$ for all $S \subseteq V$.",
)(lambda draft, target: certain(draft, target, fits(draft, target)))  # fmt: skip


@claim("canonical.sec3a", "After Theorem 2", pairs(least=2))
def sec3a(draft, target):
    r"""For $k = 2$ the acceptance can be 1 although $p \ne q$, if $p$ is close to $q$; for
    $k = 1$ it is then below 1.

    Printed: 'Close' is read as: within m(1 − m) in total variation, m the least mass of p."""
    m, far = min(draft), nt.total_variation(draft, target)
    if far == 0 or m == 0:
        return None
    close = nearer(draft, target, 1 - min(ONE, m * (1 - m) / far))["target"]
    equal(optimum(draft, close), ONE, "two drafts")
    return above(ONE, optimum(draft, close, 1), "1, against one draft")


claim("canonical.sec3b", "After Theorem 2", pairs(random_n=6),
      r"For $k = 1$: $\alpha = 1$ if and only if $p = q$.",
)(lambda draft, target: certain(draft, target, draft == target, 1))  # fmt: skip


def baselines(draft, target, k=2):
    """Return the acceptance of each baseline; a residual draw that is a draft is accepted."""
    rules = {"SpecTr": KSequential, "SpecInfer": RecursiveRejection}
    return {name: rule(draft, target, k).acceptance() for name, rule in rules.items()}


@claim("canonical.sec3c", "After Theorem 2", near(cases(n=3, k=(2, 3), random_k=(2, 3, 5))))
def sec3c(draft, target, k=2):
    """SpecTr's and SpecInfer's rules accept with probability 1 only if $p = q$.

    Printed: To the best of the authors' knowledge. SpecTr's rule is k-Seq at the smallest valid
    factor (just above it where it is irrational); a residual draw that is a draft counts as
    accepted."""
    for name, found in baselines(draft, target, k).items():
        equal(found == 1, draft == target, f"{name} accepts {found}; all accepted")
    return ZERO


SHARES = [Fraction(i, d) for d in range(1, 60) for i in range(d + 1) if gcd(i, d) == 1]
"""The fractions from 0 to 1, by denominator."""

claim("canonical.sec3d", "Before Example 1", near(cases(n=3)).where(lambda **x: optimum(**x) == 1),
      r"If $\alpha = 1$, the token selected by an optimal $\beta$ has the law $q$, and the second "
      "step never rejects.", printed="Of 'Theorem 1' where Theorem 2 is meant.",
)(lambda draft, target, k: equal(two_steps(
    iid(draft, k), best_kernel(iid(draft, k), target), target, law=target
).accepted(), ONE, "accepted"))  # fmt: skip
claim("canonical.ex1a", "Example 1", near(pairs(2, least=2)),
      r"For two tokens and $k = 2$, (5) reduces to $q_1 \ge p_1^2$ and $q_2 \ge p_2^2$.",
)(lambda draft, target: certain(draft, target, all(
    q >= p**2 for p, q in zip(draft, target, strict=True))))  # fmt: skip
claim("canonical.ex1b", "Example 1",
      given(*({"draft": (HALF, HALF), "target": (q1, 1 - q1)} for q1 in SHARES)),
      r"For $p = (1/2, 1/2)$: $\alpha_2 = 1$ if and only if $1/4 \le q_1 \le 3/4$, and "
      r"$\alpha_1 = 1$ only for $q_1 = 1/2$.",
)(lambda draft, target: certain(draft, target, target == draft, 1) + certain(
    draft, target, Fraction(1, 4) <= target[0] <= Fraction(3, 4)))  # fmt: skip


def term(draft, target, s):
    """Return q(S) + p(Sᶜ)² + 2 p(S) p(Sᶜ) of (6)."""
    inside, outside = mass_of(draft, s), mass_of(draft, {*range(len(draft))} - {*s})
    return mass_of(target, s) + outside**2 + 2 * inside * outside


def rewritten(draft, target, s, k=2):
    """Return q(S) + 1 − p(S)^k of (9)."""
    return mass_of(target, s) + 1 - mass_of(draft, s) ** k


def least(draft, target):
    """Return the minimum (6)."""
    return min(term(draft, target, s) for s in subsets(len(draft)))


claim("canonical.thm3", "Theorem 3, (6)", pairs(random_n=5),
      r"For $k = 2$: $\alpha = \min_{S \subseteq V} q(S) + p(S^c)^2 + 2 p(S) p(S^c)$.",
)(lambda draft, target: equal(least(draft, target), optimum(draft, target)))  # fmt: skip
claim("canonical.sec3e", "After Theorem 3", near(pairs(random_n=5)),
      "Theorem 3 implies Theorem 2: the minimum (6) is 1 if and only if (5) holds.",
      printed="Only the direction from (5) to (6) is spelled out.",
)(lambda draft, target: equal(least(draft, target) == 1, fits(draft, target)))  # fmt: skip
claim("canonical.eq8", "After Theorem 3, (7) and (8)", near(pairs(random_n=5)).where(fits),
      r"If $q(S) \ge p(S)^2$ for all $S$, then $q(S) + p(S^c)^2 + 2 p(S) p(S^c) \ge 1$ for all "
      r"$S$, with equality for the empty set.",
      printed="Equality is checked for both trivial sets, the empty one and V.",
)(lambda draft, target: max(
    *(equal(term(draft, target, s), ONE, f"S = {s}") for s in ((), range(len(draft)))),
    at_least(least(draft, target), ONE, "the least term")))  # fmt: skip
claim("canonical.eq9", "Remark 2, (9)", pairs(random_n=5),
      "The terms of (6) are $q(S) + 1 - p(S)^2$.",
      printed="The second term is the one with the exponent, $-p(S)^2$.",
)(lambda draft, target: max(equal(term(draft, target, s), rewritten(draft, target, s))
                            for s in subsets(len(draft))))  # fmt: skip
claim("canonical.rem2", "Remark 2, the conjecture; also appendix H.1",
      cases(n=3, k=(3, 4, 5), random_k=(3, 4, 5, 6)),
      r"For $k > 2$: $\alpha = \min_{S \subseteq V} q(S) + 1 - p(S)^k$.",
      printed="As a conjecture; it is true: the maximum flow is the minimum cut.",
)(lambda draft, target, k: equal(min(rewritten(draft, target, s, k)
    for s in subsets(len(draft))), optimum(draft, target, k)))  # fmt: skip

PANELS = given(*({"draft": (THIRD,) * 3, "target": (q1, q2, 1 - q1 - q2)}
                 for q2 in SHARES for q1 in (THIRD, THIRD / 2) if q1 + q2 <= 1))  # fmt: skip
"""The points of fig. 2, by the denominator of q₂."""

claim("canonical.fig2a", "Fig. 2 and the text on it", PANELS,
      r"For $p = (1/3, 1/3, 1/3)$, $k = 2$ the optimum is 1 in a wide range of $q_2$: for "
      r"$1/9 \le q_2 \le 5/9$ if $q_1 = 1/3$, for $5/18 \le q_2 \le 5/9$ if $q_1 = 1/6$.",
      printed="The range is drawn, not given in numbers; the ends are those of Theorem 2.",
)(lambda draft, target: certain(draft, target,
    Fraction(2 if target[0] == THIRD else 5, 18) <= target[1] <= Fraction(5, 9)))  # fmt: skip
claim("canonical.fig2b", "Fig. 2 and the text on it", PANELS,
      "There SpecTr and SpecInfer accept with probability 1 only at $q_1 = q_2 = 1/3$.",
)(sec3c)  # fmt: skip
claim("canonical.fig2c", "Fig. 2", PANELS,
      "There the optimum, as given by Theorem 3, is at least as large as both baselines.",
)(lambda draft, target: min(at_least(least(draft, target), found, name)
                            for name, found in baselines(draft, target).items()))  # fmt: skip
