"""Section 4, figure 6 and the limit in section 5.2: the drafts, the solution, its analysis."""

from fractions import Fraction
from itertools import pairwise, product

import otspec
from otspec.programs import formulate
from validation.claim import Method, Severity, at_least, claim, corrected, equal
from validation.domains import exact, pairs
from validation.notation import ZERO, normalized, overlap, same, support, total
from validation.spechub.algorithms import HUBS, UNCERTAIN, Hub, rrs, rrsw, simplified, spechub
from validation.spechub.section_2_3 import EXAMPLE

ANALYSIS = "Section 4, Analysis"


@corrected("spechub.sec4a", Severity.MISPRINT, of_hub=False)
@claim("spechub.sec4a", "Section 4, the joint draft distribution", UNCERTAIN)
def law_of_pairs(draft, of_hub=True):
    r"""$P(x_1, x_2) = p(x_1)$ if $x_2 = a$, $p(a) p(x_2)/(1 - p(a))$ if $x_1 = a$, else 0 is a law.
    Printed: The first case gives (a, a) p(a), appendix B.2 0. If p(a) = 1 the second is 0/0.
    Corrected: With $P(a, a) = 0$, for $p(a) < 1$, it is the law of these two steps: draw $x_1$ from
    $p$; then $x_2$ is $a$ if $x_1 \ne a$, and from $p$ off $a$ if $x_1 = a$."""
    hub = Hub(draft, draft)
    law = {(x, y): draft[x] if y == hub.a else hub.odds * draft[y] * (x == hub.a)
           for x, y in product(range(len(draft)), repeat=2)
           if of_hub or not x == y == hub.a}  # fmt: skip
    equal(total(law.values()), 1, "sum of all P(x_1, x_2)")
    for (x, y), mass in law.items():
        then = hub.last[y] / (1 - hub.p) if x == hub.a else Fraction(y == hub.a)
        equal(mass, draft[x] * then, f"P({x}, {y})")
        equal(hub.table.get((x, y), ZERO), mass, f"law of the pairs at ({x}, {y})")
    return ZERO


@claim("spechub.sec4b", "Sections 3.3 and 4, sparsity", UNCERTAIN)
def sparse(draft):
    """Only the row and the column of $a$ are populated, at most $2(n - 1)$ pairs: the simplified
    program has at most $4(n - 1)$ variables and $3n - 2$ constraints; the overhead is linear."""
    n, size, law = len(draft), support(draft), otspec.Hub(draft)
    rows, columns = formulate("reduced", law, draft, sets=False).build().shape
    equal((len(law.tuples()[0]), columns), (2 * (size - 1), 4 * (size - 1)), "pairs and variables")
    return at_least(3 * n - 2, rows, "constraints") + equal(rows, 2 * (size - 1) + n, "constraints")


def printed_solution(hub):
    """Return π(x, a, x) and π(a, x, x) of section 4, 0 at x = a."""
    as_first = [min(q, p) for q, p in zip(hub.target, hub.last, strict=True)]
    rest = zip(hub.target, as_first, hub.first, strict=True)
    return as_first, [min(q - taken, mass) for q, taken, mass in rest]


@claim("spechub.sec4c", "Section 4, the solution", HUBS)
def solution_is_optimal(draft, target):
    r"""$\pi(x, a, x) = \min(q(x), p(x))$ and $\pi(a, x, x) = \min(q(x) - \pi(x, a, x), P(a, x))$
    for $x \ne a$, and $a$ served out of what is left up to $q(a)$, solves the simplified program;
    it gives the tokens off the hub as much as possible."""
    others = total(map(total, printed_solution(hub := Hub(draft, target))))
    offered = list(map(sum, zip(hub.last, hub.first, strict=True)))
    equal(others, overlap(target, offered), "mass of the tokens off the hub, at most")
    best = 1 - simplified(hub.table, target)[0]
    return equal(others + min(hub.q, 1 - others), best, "acceptance")


@claim("spechub.fig6", "Figure 6, section 4", EXAMPLE)
def figure_6(draft, target):
    r"""For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), SpecHub samples $(x, a)$ and
    $(a, x)$ with $p(x)$ and $p(a) p(x)/(1 - p(a))$: 0.3, 0.2, 0.3, 0.2. It accepts always."""
    hub = Hub(draft, target)
    found = [hub.table[x] for x in ((1, 0), (2, 0), (0, 1), (0, 2))]
    same(found, exact("0.3", "0.2", "0.3", "0.2"), "mass of a pair")
    as_first, as_second = printed_solution(hub)
    same(as_first, exact("0", "0.3", "0.2"), "π(x, a, x)")
    same(as_second, exact("0", "0.3", "0.1"), "π(a, x, x)")
    return equal(hub.ran.among_drafts(), 1, "acceptance")


@corrected("spechub.sec4d", Severity.MISPRINT, alpha=min)
@claim("spechub.sec4d", ANALYSIS, pairs(random_n=6))
def rate_of_rejection(draft, target, alpha=max):
    r"""Rejection sampling accepts the first draft at the rate $\alpha = \sum_x \max(p(x), q(x))$.
    Corrected: It is $\alpha = \sum_x \min(p(x), q(x))$, as theorem 3 has it."""
    return equal(rrs(draft, target).accepted(0), total(map(alpha, draft, target)), "first draft")


@corrected("spechub.sec4e", Severity.MISPRINT, alpha=min)
@claim("spechub.sec4e", ANALYSIS, HUBS)
def better_than_rejection(draft, target, alpha=max):
    r"""SpecHub accepts at least as much as RRS if $p(a)/(1 - p(a)) > 1 - \alpha$, with
    $\alpha = \sum_x \max(p(x), q(x))$.
    Printed: “a higher acceptance rate”; since that α is at least 1, the condition is always met.
    Read strictly it also fails where p = q.
    Corrected: SpecHub does, in all, if that holds with $\alpha = \sum_x \min(p(x), q(x))$."""
    found, other = (run(draft, target).among_drafts() for run in (spechub, rrs))
    meant = Hub(draft, target).odds > 1 - total(map(alpha, draft, target))
    return at_least(found, other, "SpecHub, against RRS") if meant else None


COOLED = pairs(n=3, least=2, random_n=4).where(lambda draft, target: all(
    0 < 5 * a <= 4 * b for law in (draft, target) for a, b in pairwise(sorted(law))
)).each(temperature=(Fraction(1, 60),))  # fmt: skip
"""Pairs in which all masses are positive and differ by a quarter at least, and are cooled."""


@claim("spechub.sec5.2b", "Section 5.2, Second Draft Acceptance Rate", COOLED, method=Method.FLOAT)
def zero_temperature(draft, target, temperature):
    """At zero temperature SpecHub equals RRS without replacement: both are top-2 greedy decoding.
    Printed: With three or more logits tied at the top of the draft they differ: uniform over three
    tokens, SpecHub drafts each token off the hub half the time, RRSw two thirds."""
    draft, target = (normalized([m ** int(1 / temperature) for m in p]) for p in (draft, target))
    top = sorted(range(len(draft)), key=lambda y: -draft[y])[:2]
    limit = target.index(max(target)) in top
    worst = max(abs(run(draft, target).among_drafts() - limit) for run in (spechub, rrsw))
    return float(at_least(Fraction(1, 10**4), worst, "distance from top-2 greedy decoding"))
