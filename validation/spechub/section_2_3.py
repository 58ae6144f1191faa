"""Sections 2 and 3: one draft, recursive rejection sampling, the linear programs, sampling."""

from fractions import Fraction
from itertools import combinations, count, pairwise, product
from math import prod

import otspec
from otspec.programs import formulate
from validation import notation as nt
from validation.algorithms import Ran, maximal_coupling, residuals
from validation.claim import Fails, Severity, above, at_least, claim, corrected, equal
from validation.domains import Domain, cases, drafts, exact, given, joints, pairs
from validation.notation import ONE, ZERO, distinct, iid, overlap, same, total
from validation.oracles import least_bound
from validation.spechub import algorithms as alg

DISTINCT = cases(random_k=(1, 2, 3, 4)).where(lambda draft, k, **_: nt.support(draft) >= k)
SEVERAL = cases(n=3, k=(2, 3), random_k=(2, 3, 4))
RATES = Domain(
    lambda: ({"rate": Fraction(m, d)} for d in range(1, 16) for m in range(d)),
    lambda rng: ({"rate": Fraction(int(rng.integers(999)), 999)} for _ in count()),
).one(depth=(1, 2, 3, 5, 8, 29))
SIZES = given(
    *({"n": n, "k": k} for n in range(1, 64) for k in range(1, 12) if n ** (k + 1) <= 4_000),
    note="all n, k with n^(k+1) <= 4,000",
)
TWO = joints(((1, 2), (2, 2), (3, 2)))
DRAFTS = drafts(4, random_n=5).each(k=(1, 2, 3))
EXAMPLE = given({"draft": exact("0.5", "0.3", "0.2"), "target": exact("0.1", "0.6", "0.3")})
ONE_PAIR = given({"draft": exact("1/3", "1/3", "1/3"), "target": exact("2/3", "1/3", 0)})
WITHOUT = "Section 2, Recursive Rejection Sampling without Replacement"
ORDERS = "Section 3.2, Unbalanced Tree and Asymmetric Verification"


def lossless(ran, target):
    """The output is distributed as the target."""
    return same(ran.output(len(target)), target, "output")


def one_draft(draft, target):
    """Speculative sampling of one draft: its output, its acceptance, and the most there can be."""
    ran = Ran(maximal_coupling(draft, target), iid(draft, 1))
    equal(ran.among_drafts(), overlap(draft, target), "acceptance")
    equal(ran.among_drafts(), least_bound(iid(draft, 1), target), "acceptance")
    return lossless(ran, target)


claim("spechub.sec2a", "Section 2, Speculative Sampling", pairs(n=5, random_n=6),
      r"One draft $x \sim p$, accepted with probability $\min(1, q(x)/p(x))$, else a token from "
      r"$(q - p)_+$ normalized: the output is distributed as the target.")(one_draft)  # fmt: skip
claim("spechub.sec2c", "Section 2, Rejection Sampling in Speculative Decoding", pairs(random_n=6),
      "Rejection sampling of one draft has the highest acceptance rate of all lossless rules, "
      r"$\sum \min(p, q)$: it is a maximal coupling.")(one_draft)  # fmt: skip
claim("spechub.alg1a", "Algorithm 1, with replacement", cases(n=3, random_k=(1, 2, 3, 4)),
      "Token-level RRS with independent drafts is lossless.",
)(lambda draft, target, k: lossless(alg.rrs(draft, target, k=k), target))  # fmt: skip
claim("spechub.alg1b", "Algorithm 1, without replacement", DISTINCT,
      "Token-level RRS with drafts without replacement is lossless: the changes of the draft after "
      "each rejection keep the marginal distribution.",
      printed="In the last round line 12 may normalize a draft of mass 0; the result is not used.",
)(lambda draft, target, k: lossless(alg.rrsw(draft, target, k=k), target))  # fmt: skip
claim("spechub.eq1", "Equation (1), section 3.1", cases(n=3, k=(1, 2), random_k=(1, 2, 3)),
      r"The optimum of the program (1), $\min_\pi \sum_{x, y \notin S(x)} \pi(x, y)$ over the "
      r"couplings of $p^{\otimes k}$ and $q$, is the least rejection rate of any lossless "
      r"verification, $1 - \alpha(p^{\otimes k}, q)$.",
)(lambda draft, target, k: equal(alg.transport(table := iid(draft, k), target)[0],
                                 1 - least_bound(table, target), "cost"))  # fmt: skip


@claim("spechub.sec2b", "Section 2, Speculative Sampling", RATES)
def tokens_per_call(rate, depth):
    r"""With a single draft of any length and acceptance rate $\alpha$ for each token, the expected
    number of tokens per iteration is at most $1/(1 - \alpha)$, its supremum."""
    stopped = [rate**j * (1 - rate) * (j + 1) for j in range(depth)]
    missing = at_least(1 / (1 - rate), total(stopped) + rate**depth * (depth + 1), "1/(1 − α)")
    return missing + equal(missing, rate ** (depth + 1) / (1 - rate), "what is missing")


@corrected("spechub.sec2d", Severity.DEGENERATE, compare=at_least)
@claim("spechub.sec2d", "Sections 1 and 2, Recursive Rejection Sampling", SEVERAL)
def later_rates(draft, target, k, compare=above):
    """In RRS the chance of draft i + 1, once i are rejected, is below that of draft i after i − 1
    (where that is positive).
    Printed: “later iterations use a residual distribution modified by previous acceptances, leading
    to misalignment with the original draft distribution and lower acceptance rates”
    Corrected: No later draft has a higher conditional acceptance rate; the rates can be equal."""
    ran, left, chances = alg.rrs(draft, target, k=k), ONE, []
    for i in range(k):
        if left:
            chances.append(ran.accepted(i) / left)
            left *= 1 - chances[-1]
    steps = [two for two in pairwise(chances) if two[0] or compare is at_least]
    return min((compare(*two, "a draft, against the next") for two in steps), default=None)


@claim("spechub.sec2e", WITHOUT, cases(random_n=6, random_k=(1, 2, 3, 5, 8)))
def rejected_again(draft, target, k):
    """A token that RRS has rejected has probability 0 in the residual from then on, so that it is
    rejected whenever it is drafted again."""
    laws = combinations(residuals(target, draft, k), 2)
    again = [m for old, new in laws for p, q, m in zip(draft, old, new, strict=True) if q < p]
    return equal(total(again), 0, "residual of the rejected tokens") if again else None


@claim("spechub.sec2f", WITHOUT, DISTINCT.where(lambda k, **_: k in (2, 3)))
def distinct_drafts_help(draft, target, k):
    """RRSw speeds up RRS by avoiding repetition but falls short of the optimum: RRSw accepts at
    least as much as RRS and at most the optimum for drafts without replacement."""
    found = alg.rrsw(draft, target, k=k).among_drafts()
    at_least(least_bound(distinct(draft, k), target), found, "optimum, against RRSw")
    return at_least(found, alg.rrs(draft, target, k=k).among_drafts(), "RRSw, against RRS")


def cost(joint, target, k, once=False, step=1):
    """The least cost of the simplified program, with the drafts as they are or turned round."""
    table = {x[::step]: mass for x, mass in alg.joint_table(joint, len(target), k).items()}
    return alg.simplified(table, target, once=once)[0]


def variables(program, n, k):
    """Return how many variables a program has for k drafts with all n tokens possible."""
    uniform = exact(*[f"1/{n}"] * n)
    return int(formulate(program, otspec.IID(uniform, k), uniform, sets=False).build().shape[1])


claim("spechub.sec3.1", "Section 3.1, after equation (1)", SIZES,
      "The program (1) has $O(n^{k+1})$ variables: $n^{k+1}$ where all tokens can be drafted.",
)(lambda n, k: equal(variables("membership", n, k), n ** (k + 1), "variables"))  # fmt: skip
claim("spechub.secC.2", "Appendix C.2", SIZES,
      "The number of variables of the program (1) is of the order $n^{k+1}$ and grows "
      "exponentially with k: n-fold with every draft.",
)(lambda n, k: equal(variables("membership", n, k), n * (variables("membership", n, k - 1)
                     if k > 1 else n), "variables, against one draft less"))  # fmt: skip
claim("spechub.sec3.2a", "Section 3.2", SIZES,
      r"The simplified program has $O(n^k)$ variables (for fixed k): $n\,(n^k - (n-1)^k) \le "
      r"k\,n^k$, one for each tuple and each of its distinct tokens.",
)(lambda n, k: at_least(k * n**k, found := variables("reduced", n, k), "k n^k")
  + equal(found, n * (n**k - (n - 1) ** k), "variables"))  # fmt: skip
claim("spechub.thm1", "Theorem 1, section 3.2", joints(),
      r"For any draft law $P$ and target $q$, $1 - \sum_x \sum_{i=1}^k \pi(x, x_i)$ at an optimal "
      r"solution of the simplified program is the optimal transport cost $C(\pi^*)$.",
      printed="Both readings of the sums over i have this value: where they count a token that "
      "occurs twice among the drafts twice, the solution has half its mass.",
)(lambda joint, target, k: equal([cost(joint, target, k, once=once) for once in (False, True)],
  [alg.transport(alg.joint_table(joint, len(target), k), target)[0]] * 2, "cost"))  # fmt: skip
claim("spechub.sec3.2c", ORDERS, TWO,
      "In a single step the order in which the drafts are selected does not matter: $(x_1, x_2)$ "
      "and $(x_2, x_1)$ have the same optimal acceptance.", printed="“appears inconsequential”",
)(lambda **at: equal(cost(**at, step=-1), cost(**at), "cost"))  # fmt: skip


@corrected("spechub.sec3.2b", Severity.CONDITION, once=True)
@claim("spechub.sec3.2b", "Section 3.2, the reconstruction", joints())
def reconstruction(joint, target, k, once=False):
    r"""An optimal solution of the simplified program becomes a coupling of $P$ and $q$ with
    $\pi(x, y) = \frac{q(y) - \alpha(y)}{\sum_y (q(y) - \alpha(y))}
    \bigl(P(x) - \sum_{i=1}^k \pi(x, x_i)\bigr)$ for $y \notin S(x)$, where
    $\alpha(y) = \sum_{i=1}^k \sum_{x : x_i = y} \pi(x, y)$.
    Printed: The sums run over i = 1..k, so that the entry of a token that occurs twice among the
    drafts counts twice; the coupling has it once (appendix A: π(x, y) = π(x, x_i)). Section 3.2
    has no parentheses in the normalizing sum, appendix A has; 0/0, nothing left, adds nothing.
    Corrected: If the program's sums run over the distinct tokens of x, each optimal solution
    becomes a coupling, and its transport cost is the program's value."""
    table = alg.joint_table(joint, len(target), k)
    value, plan = alg.simplified(table, target, once=once)
    coupling = alg.completed(plan, table, target, once=once)
    alg.couples(coupling, table, target)
    return equal(1 - nt.accepted(coupling), value, "cost")


@claim("spechub.fig5", "Figure 5, section 3.2", EXAMPLE)
def figure_5(draft, target):
    """For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), RRSw has transport cost 0.06,
    because token b is accepted 0.06 too rarely; an optimal solution has a lower cost."""
    ran = alg.rrsw(draft, target)
    lacking = [q - ran.accepted(token=y) for y, q in enumerate(target)]
    same(lacking, exact("0", "0.06", "0"), "what is accepted too rarely")
    lost = 1 - ran.among_drafts()
    return above(lost, alg.transport(distinct(draft, 2), target)[0]) + equal(lost, lacking[1])


@claim("spechub.sec3.2d", ORDERS, ONE_PAIR)
def lower_first_draft(draft, target):
    """Optimal algorithms may accept the first draft less often than RRS, to accept more in all:
    for some p and q every optimal rule does.
    Printed: “may decrease the first few drafts' acceptance rate slightly”"""
    table = iid(draft, 2)
    best = 1 - alg.simplified(table, target)[0]
    above(best, alg.rrs(draft, target).among_drafts(), "optimum")
    keys = [(x, y, 1, int(y == x[0])) for x in table for y in set(x)]
    of_first = alg.program_of(table, target, keys)
    of_first.add([(v, 1) for v in range(len(keys))], best, equal=True)
    return above(overlap(draft, target), of_first.solve()[0], "RRS's first draft")


@corrected("spechub.sec3.3", Severity.MISPRINT, of_distinct=True)
@claim("spechub.sec3.3", "Section 3.3", DRAFTS)
def without_replacement(draft, k, of_distinct=False):
    r"""Drafts without replacement have the law
    $P(x) = \prod_{i=1}^k p(x_i) \big/ \prod_{i=1}^{k-1} (1 - \sum_{j=1}^i p(x_j))$.
    Printed: Nothing says that the $x_i$ are distinct.
    Corrected: That is their law for distinct $x_i$; all other tuples have probability 0."""
    if nt.support(draft) < k:
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
