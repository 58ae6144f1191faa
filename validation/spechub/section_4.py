"""Section 4, figure 6 and the limit in section 5.2: the drafts, the solution, its analysis."""

from fractions import Fraction
from itertools import permutations, product

import otspec
from otspec.programs import formulate
from validation.claim import Method, Severity, at_least, claim, corrected, equal
from validation.domains import Domain, drafts, exact, given, pairs
from validation.notation import ZERO, overlap, same, support, total
from validation.spechub.algorithms import (
    HUBS,
    hub_columns,
    hub_of,
    hub_table,
    odds,
    rrs,
    rrsw,
    spechub,
    uncertain,
)
from validation.spechub.programs import simplified
from validation.spechub.section_3 import EXAMPLE


def printed_mass(draft, x):
    """Return the printed P(x1, x2), its cases in their order; the hub must not be certain."""
    a = hub_of(draft)
    if x[1] == a:
        return draft[x[0]]
    return odds(draft) * draft[x[1]] if x[0] == a else ZERO


DRAFTS = drafts(5, random_n=7).where(uncertain)


@claim("spechub.sec4a", "Section 4, the joint draft distribution", DRAFTS)
def pairs_sum_to_one(draft):
    r"""$P(x_1, x_2) = p(x_1)$ if $x_2 = a$, $p(a) p(x_2)/(1 - p(a))$ if $x_1 = a$, and 0 otherwise
    is a probability distribution.

    Printed: The cases overlap at (a, a): the first gives it p(a). Appendix B.2 says that
    Q(a, a) = 0. If p(a) = 1 the second is 0/0.
    """
    everything = product(range(len(draft)), repeat=2)
    return equal(total(printed_mass(draft, x) for x in everything), 1, "sum of all P(x_1, x_2)")


@corrected("spechub.sec4a", Severity.MISPRINT, DRAFTS)
def two_steps(draft):
    r"""With $P(a, a) = 0$, for $p(a) < 1$, it is the law of these two steps: draw $x_1$ from $p$;
    then $x_2$ is $a$ if $x_1 \ne a$, and from $p$ off $a$ if $x_1 = a$.
    """
    a, table = hub_of(draft), hub_table(draft)
    for x in product(range(len(draft)), repeat=2):
        then = draft[x[1]] / (1 - draft[a]) if x[0] == a else Fraction(1)
        drawn = draft[x[0]] * then if (x[0] == a) != (x[1] == a) else ZERO
        equal(ZERO if x == (a, a) else printed_mass(draft, x), drawn, f"P{x}")
        equal(table.get(x, ZERO), drawn, f"law of the pairs at {x}")
    return equal(total(table.values()), 1, "sum")


@claim("spechub.sec4b", "Sections 3.3 and 4, sparsity", drafts(6, random_n=12).where(uncertain))
def sparse(draft):
    """Only the row and the column of $a$ are populated, at most $2(n - 1)$ pairs: the simplified
    program has at most $4(n - 1)$ variables and $3n - 2$ constraints, and the overhead is linear.
    """
    n, size, law = len(draft), support(draft), otspec.Hub(draft)
    equal(len(law.tuples()[0]), 2 * (size - 1), "pairs")
    rows, columns = formulate("reduced", law, draft, sets=False).build().shape
    equal(columns, 4 * (size - 1), "variables")
    return at_least(3 * n - 2, rows, "constraints") + equal(rows, 2 * (size - 1) + n, "constraints")


def printed_solution(draft, target):
    """Return π(x, a, x) and π(a, x, x) of section 4, 0 at x = a."""
    last, first = hub_columns(draft)
    as_first = [min(q, p) for q, p in zip(target, last, strict=True)]
    rest = zip(target, as_first, first, strict=True)
    return as_first, [min(q - taken, mass) for q, taken, mass in rest]


@claim("spechub.sec4c", "Section 4, the solution", HUBS)
def solution_is_optimal(draft, target):
    r"""$\pi(x, a, x) = \min(q(x), p(x))$ and $\pi(a, x, x) = \min(q(x) - \pi(x, a, x), P(a, x))$
    for $x \ne a$, and $a$ served out of what is left up to $q(a)$, solves the simplified program;
    it gives the tokens off the hub as much as possible.
    """
    a, others = hub_of(draft), total(map(total, printed_solution(draft, target)))
    offered = list(map(total, zip(*hub_columns(draft), strict=True)))
    equal(others, overlap(target, offered), "mass of the tokens off the hub, at most")
    value = simplified(hub_table(draft), target)[0]
    return equal(others + min(target[a], 1 - others), 1 - value, "acceptance")


@claim("spechub.fig6", "Figure 6, section 4", given(EXAMPLE, note="the worked example"))
def figure_6(draft, target):
    r"""For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), SpecHub samples $(x, a)$ and
    $(a, x)$ with probabilities $p(x)$ and $p(a) p(x)/(1 - p(a))$: 0.3, 0.2, 0.3, 0.2. It accepts
    always.
    """
    table = hub_table(draft)
    found = [table[x] for x in ((1, 0), (2, 0), (0, 1), (0, 2))]
    same(found, exact("0.3", "0.2", "0.3", "0.2"), "mass of a pair")
    as_first, as_second = printed_solution(draft, target)
    same(as_first, exact("0", "0.3", "0.2"), "π(x, a, x)")
    same(as_second, exact("0", "0.3", "0.1"), "π(a, x, x)")
    return equal(spechub(draft, target).among_drafts(), 1, "acceptance")


@claim("spechub.sec4d", "Section 4, Analysis", pairs(random_n=6))
def maximum_rate(draft, target):
    r"""The acceptance rate of the first draft of rejection sampling is
    $\alpha = \sum_x \max(p(x), q(x))$.
    """
    return equal(rrs(draft, target).accepted(0), total(map(max, draft, target)), "first draft")


@corrected("spechub.sec4d", Severity.MISPRINT, pairs(random_n=6))
def minimum_rate(draft, target):
    r"""It is $\alpha = \sum_x \min(p(x), q(x))$, as theorem 3 has it."""
    return equal(rrs(draft, target).accepted(0), total(map(min, draft, target)), "first draft")


def better_than_rejection(draft, target, rate):
    """SpecHub accepts at least as much as RRS if p(a)/(1 − p(a)) > 1 − α."""
    if odds(draft) <= 1 - rate:
        return None
    found, other = (run(draft, target).among_drafts() for run in (spechub, rrs))
    return at_least(found, other, "SpecHub, against RRS")


@claim("spechub.sec4e", "Section 4, Analysis", HUBS)
def better_with_maximum(draft, target):
    r"""SpecHub accepts at least as much as RRS if $p(a)/(1 - p(a)) > 1 - \alpha$, with
    $\alpha = \sum_x \max(p(x), q(x))$.

    Printed: “a higher acceptance rate”; since that α is at least 1, the condition is always met.
    Read strictly it also fails where p = q.
    """
    return better_than_rejection(draft, target, total(map(max, draft, target)))


@corrected("spechub.sec4e", Severity.MISPRINT, HUBS)
def better_with_minimum(draft, target):
    r"""SpecHub accepts at least as much as RRS, in all, if $p(a)/(1 - p(a)) > 1 - \alpha$ with
    $\alpha = \sum_x \min(p(x), q(x))$.
    """
    return better_than_rejection(draft, target, total(map(min, draft, target)))


def weights(rng):
    """Yield random exponentials of logits at temperature 1: different whole numbers."""
    while True:
        n = int(rng.integers(3, 6))
        drawn = [tuple(map(int, rng.permutation(range(1, 8))[:n])) for _ in range(2)]
        yield {"of_draft": drawn[0], "of_target": drawn[1]}


WEIGHTS = Domain(
    lambda: ({"of_draft": p, "of_target": q} for n in (2, 3)
             for p, q in product(permutations(range(1, n + 2), n), repeat=2)),
    weights,
    "temperature 1/80, logits log 1, …, log 7; distances below 1e-4",
)  # fmt: skip


@claim("spechub.sec5.2b", "Section 5.2, Second Draft Acceptance Rate", WEIGHTS, method=Method.FLOAT)
def zero_temperature(of_draft, of_target):
    """At zero temperature SpecHub is equivalent to RRS without replacement: both are top-2 greedy
    decoding.

    Printed: With three or more logits tied at the top of the draft they differ: uniform over three
    tokens, SpecHub drafts each token off the hub half the time, RRSw two thirds.
    """
    powers = [[weight**80 for weight in some] for some in (of_draft, of_target)]
    draft, target = (tuple(Fraction(each, sum(some)) for each in some) for some in powers)
    top = sorted(range(len(draft)), key=lambda y: -of_draft[y])[:2]
    limit = of_target.index(max(of_target)) in top
    worst = max(abs(run(draft, target).among_drafts() - limit) for run in (spechub, rrsw))
    return float(at_least(Fraction(1, 10**4), worst, "distance from top-2 greedy decoding"))
