"""Section 3: the linear programs, theorem 1, figure 5, and the design of sampling."""

from itertools import product
from math import prod

import otspec
from otspec.programs import formulate
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import cases, drafts, exact, given, joints
from validation.notation import ONE, ZERO, accepted, distinct, iid, overlap, same, support, total
from validation.oracles import least_bound
from validation.spechub import programs as lp
from validation.spechub.algorithms import rrs, rrsw

SIZES = given(
    *({"n": n, "k": k} for n in range(1, 64) for k in range(1, 12) if n ** (k + 1) <= 4_000),
    note="all n, k with n^(k+1) <= 4,000",
)
TWO = joints(((1, 2), (2, 2), (3, 2)))
DRAFTS = drafts(4, random_n=5).each(k=(1, 2, 3))
EXAMPLE = given({"draft": exact("0.5", "0.3", "0.2"), "target": exact("0.1", "0.6", "0.3")})
ONE_PAIR = given({"draft": exact("1/3", "1/3", "1/3"), "target": exact("2/3", "1/3", 0)})
ORDERS = "Section 3.2, Unbalanced Tree and Asymmetric Verification"


def variables(program: str, n: int, k: int) -> int:
    """Return how many variables a program has for k drafts with all n tokens possible."""
    uniform = exact(*[f"1/{n}"] * n)
    return int(formulate(program, otspec.IID(uniform, k), uniform, sets=False).build().shape[1])


claim("spechub.eq1", "Equation (1), section 3.1", cases(n=3, k=(1, 2), random_k=(1, 2, 3)),
      r"The optimum of the program (1), $\min_\pi \sum_{x, y \notin S(x)} \pi(x, y)$ over the "
      r"couplings of $p^{\otimes k}$ and $q$, is the least rejection rate of any lossless "
      r"verification, $1 - \alpha(p^{\otimes k}, q)$.",
)(lambda draft, target, k: equal(lp.transport(table := iid(draft, k), target)[0],
                                 1 - least_bound(table, target), "cost"))  # fmt: skip
claim("spechub.sec3.1", "Section 3.1, after equation (1)", SIZES,
      "The program (1) has $O(n^{k+1})$ variables: $n^{k+1}$ where all tokens can be drafted.",
)(lambda n, k: equal(variables("membership", n, k), n ** (k + 1), "variables"))  # fmt: skip


@claim("spechub.sec3.2a", "Section 3.2", SIZES)
def simplified_size(n, k):
    r"""The simplified program has $O(n^k)$ variables (for fixed k):
    $n\,(n^k - (n-1)^k) \le k\,n^k$, one for each tuple and each of its distinct tokens."""
    found = variables("reduced", n, k)
    return at_least(k * n**k, found, "k n^k") + equal(found, n * (n**k - (n - 1) ** k), "variables")


@corrected("spechub.sec3.2b", Severity.CONDITION, joints(), once=True)
@claim("spechub.sec3.2b", "Section 3.2, the reconstruction", joints())
def reconstruction(joint, target, k, once=False):
    r"""An optimal solution of the simplified program becomes a coupling of $P$ and $q$ with
    $\pi(x, y) = \frac{q(y) - \alpha(y)}{\sum_y (q(y) - \alpha(y))}
    \bigl(P(x) - \sum_{i=1}^k \pi(x, x_i)\bigr)$ for $y \notin S(x)$, where
    $\alpha(y) = \sum_{i=1}^k \sum_{x : x_i = y} \pi(x, y)$.
    Printed: The sums run over i = 1..k, so that the entry of a token that occurs twice among the
    drafts counts twice; the coupling has it once (appendix A: π(x, y) = π(x, x_i)). The normalising
    sum is printed without parentheses in section 3.2 and with them in appendix A; where nothing is
    left (0/0) nothing is added.
    Corrected: If the program's sums run over the distinct tokens of x, each optimal solution
    becomes a coupling, and its transport cost is the program's value."""
    table = lp.joint_table(joint, len(target), k)
    value, plan = lp.simplified(table, target, once=once)
    coupling = lp.completed(plan, table, target, once=once)
    lp.couples(coupling, table, target)
    return equal(1 - accepted(coupling), value, "cost")


@claim("spechub.thm1", "Theorem 1, section 3.2", joints())
def equivalence(joint, target, k):
    r"""For any draft law $P$ and target $q$, $1 - \sum_x \sum_{i=1}^k \pi(x, x_i)$ at an optimal
    solution of the simplified program is the optimal transport cost $C(\pi^*)$.
    Printed: Both readings of the sums over i have this value: where they count a token that occurs
    twice among the drafts twice, the solution has half its mass."""
    table = lp.joint_table(joint, len(target), k)
    best = lp.transport(table, target)[0]
    equal(lp.simplified(table, target, once=True)[0], best, "optimum, distinct tokens")
    return equal(lp.simplified(table, target)[0], best, "optimum")


@claim("spechub.fig5", "Figure 5, section 3.2", EXAMPLE)
def figure_5(draft, target):
    """For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), RRSw has transport cost 0.06,
    because token b is accepted 0.06 too rarely; an optimal solution has a lower cost."""
    ran = rrsw(draft, target)
    lacking = [q - ran.accepted(token=y) for y, q in enumerate(target)]
    same(lacking, exact("0", "0.06", "0"), "what is accepted too rarely")
    cost = 1 - ran.among_drafts()
    return above(cost, lp.transport(distinct(draft, 2), target)[0]) + equal(cost, lacking[1])


@claim("spechub.sec3.2c", ORDERS, TWO)
def order(joint, target, k):
    """In a single step the order in which the drafts are selected does not matter: $(x_1, x_2)$ and
    $(x_2, x_1)$ have the same optimal acceptance.
    Printed: “appears inconsequential”"""
    table = lp.joint_table(joint, len(target), k)
    turned = {x[::-1]: mass for x, mass in table.items()}
    return equal(lp.simplified(turned, target)[0], lp.simplified(table, target)[0], "optimum")


@claim("spechub.sec3.2d", ORDERS, ONE_PAIR)
def lower_first_draft(draft, target):
    """Optimal algorithms may accept the first draft less often than RRS, to accept more in all:
    for some p and q every optimal rule does.
    Printed: “may decrease the first few drafts' acceptance rate slightly”"""
    table = iid(draft, 2)
    best = 1 - lp.simplified(table, target)[0]
    above(best, rrs(draft, target).among_drafts(), "optimum")
    keys = [(x, y, 1, int(y == x[0])) for x in table for y in set(x)]
    of_first = lp.program_of(table, target, keys)
    of_first.add([(v, 1) for v in range(len(keys))], best, equal=True)
    return above(overlap(draft, target), of_first.solve()[0], "RRS's first draft")


@corrected("spechub.sec3.3", Severity.MISPRINT, DRAFTS, of_distinct=True)
@claim("spechub.sec3.3", "Section 3.3", DRAFTS)
def without_replacement(draft, k, of_distinct=False):
    r"""Drafts without replacement have the law
    $P(x) = \prod_{i=1}^k p(x_i) \big/ \prod_{i=1}^{k-1} (1 - \sum_{j=1}^i p(x_j))$.
    Printed: Nothing says that the $x_i$ are distinct.
    Corrected: That is their law for distinct $x_i$; all other tuples have probability 0."""
    if support(draft) < k:
        return None
    table = distinct(draft, k)
    for x in product(range(len(draft)), repeat=k):
        if not of_distinct or (len(set(x)) == k and all(draft[y] for y in x[:-1])):
            left = [1 - total(draft[y] for y in x[: i + 1]) for i in range(k - 1)]
            if not all(left):
                raise Fails(f"P{x} divides by zero")
            mass = prod((draft[y] for y in x), start=ONE) / prod(left, start=ONE)
            equal(mass, table.pop(x, ZERO), f"P{x}")
    return equal(total(table.values()), 0, "probability of other tuples")
