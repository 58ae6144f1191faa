"""Section 4, appendices E and G: fewer variables, fewer tokens, more and different drafts."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations

from validation import notation as nt
from validation.algorithms import Ran, maximal_coupling
from validation.canonical import algorithms
from validation.canonical.algorithms import algorithm_1, for_two_laws, selected, two_steps
from validation.claim import at_least, claim, equal
from validation.domains import cases, drafts, laws, pairs
from validation.instances import Exact
from validation.notation import ONE, ZERO, iid, independent, mass_of, subsets, total
from validation.oracles import best_kernel, flow

FREE = pairs(random_n=5).one(free=lambda draft, **_: range(len(draft) + 1))
"""Pairs, and the number s of tokens in the program."""
TWO_LAWS = laws("first", "second", "target").one(free=lambda first, **_: range(len(first) + 1))
KEPT = pairs(random_n=5).one(
    kept=lambda target, **_: [some for some in subsets(len(target)) if mass_of(target, some)]
)
"""Pairs, and tokens that are kept, Ω₀."""


@claim("canonical.sec4a", "Example 2 and section 4: symmetry", cases(n=3, k=(2, 3)))
def sec4a(draft, target, k):
    r"""For i.i.d. drafts there is an optimal $\beta$ that does not depend on the order of the
    drafts.

    Printed: 'The optimal rule does not depend on the order', which can only mean that one such
    rule exists: others do.
    """
    table, average = iid(draft, k), {}
    kernel = best_kernel(table, target)
    for x in table:
        orders = [kernel[other] for other in permutations(x)]
        average[x] = {y: total(row[y] for row in orders) / len(orders) for y in set(x)}
    found = two_steps(table, average, target, selected(table, kernel, len(target)))
    return equal(found.accepted(), flow(table, target), "acceptance")


@claim("canonical.eq11", "Section 4, (10) and (11)", drafts(4, random_n=5).one(order=range(40)))
def eq11(draft, order):
    r"""With $w_{i,j}$ the probability to select $i$ given the drafts $i$ and $j$ in any order,
    $P(Y = k) = p_k^2 + \sum_{i \ne k} 2 p_i p_k w_{k,i}$.
    """
    table, n = iid(draft, 2), len(draft)
    kernel, law = algorithms.kernel_of(table, order), [mass**2 for mass in draft]
    for i, j in table:
        if i != j:
            both = (i, j), (j, i)
            w = total(table[x] * kernel[x][i] for x in both) / total(table[x] for x in both)
            law[i] += 2 * draft[i] * draft[j] * w
    return nt.same(selected(table, kernel, n), law, "P(Y = k)")


def printed_law(first: Exact, second: Exact, chosen: algorithms.Chosen) -> Exact:
    """Return (188) and (189), the law of the selected token; for equal drafts (13), P_I."""
    inside, outside, w = chosen

    def either(k: int, others: Iterable[int]) -> Fraction:
        return total(first[k] * second[i] + first[i] * second[k] for i in others)

    law = {k: first[k] * second[k] + either(k, outside) for k in inside}
    for k in inside:
        law[k] += total(
            first[k] * second[i] * w[k, i].get(k, ZERO)
            + first[i] * second[k] * (1 - w[i, k].get(i, ZERO))
            for i in inside
            if i != k
        )
    for j, k in enumerate(outside):
        law[k] = first[k] * second[k] + either(k, outside[j + 1 :])
    return nt.as_row(law, len(first))


def truncated(first: Exact, second: Exact, target: Exact, chosen: algorithms.Chosen) -> Fraction:
    """The token has the printed law, the two steps are lossless, and lose no more than (190)."""
    table = independent([first, second])
    found = two_steps(table, chosen[2], target, printed_law(first, second, chosen)).accepted()
    both = [p * other for p, other in zip(first, second, strict=True)]
    lost = mass_of(nt.positive(target, both), chosen[1])
    best = flow(table, target)
    at_least(best, found, "optimum")
    return at_least(found, best - lost, "accepted by the truncated program")


def truncated_iid(draft, target, free=9):
    """The same for two i.i.d. drafts."""
    return truncated(draft, draft, target, algorithm_1(draft, target, free))


claim("canonical.sec4b", "Section 4, the linear program", pairs(random_n=5),
      r"Maximising $\sum_i \min(q_i, P(Y = i))$ over $0 \le w_{i,j} \le 1$, "
      r"$w_{i,j} + w_{j,i} = 1$ gives $\alpha_2$.")(truncated_iid)  # fmt: skip


@claim("canonical.eq13", "Section 4, (12) and (13), and the reduced objective", FREE)
def eq13(draft, target, free):
    r"""With $w_{i,j} = 1$ for $i \in \Omega_1, j \in \Omega_2$ and for $i < j$ in $\Omega_2$,
    $P(Y = k)$ is $p_k^2 + \sum_{i \in \Omega_1} 2 p_i p_k w_{k,i} + \sum_{i \in \Omega_2}
    2 p_i p_k$ on $\Omega_1$ and $p_k^2 + \sum_{i > k} 2 p_i p_k$ on $\Omega_2$; only the terms of
    $\Omega_1$ are left to maximise.
    """
    inside, outside, kernel = algorithm_1(draft, target, free)
    table, n = iid(draft, 2), len(target)
    law = printed_law(draft, draft, (inside, outside, kernel))
    nt.same(selected(table, kernel, n), law, "law of the selected token")
    thirds = {x: {min(x): Fraction(1, 3), max(x): Fraction(2, 3)}
              for x in permutations(inside, 2)}  # fmt: skip
    other = selected(table, {**kernel, **thirds}, n)
    equal([other[y] for y in outside], [law[y] for y in outside], "with other weights")
    best, less = (total(min(each[y], target[y]) for y in inside) for each in (law, other))
    return at_least(best, less, "objective on the first tokens")


claim("canonical.alg1", "Algorithm 1 and the second step", FREE,
      "The truncated program selects a token of the law it puts out; speculative sampling on it is "
      r"lossless and accepts $\sum \min(q, P_I)$.")(truncated_iid)  # fmt: skip
claim("canonical.eq14", "Section 4, (14), appendix E", FREE,
      r"The truncated program accepts at least $\alpha_2 - \sum_{y \in \Omega_2} "
      r"(q(y) - p(y)^2)_+$.")(truncated_iid)  # fmt: skip


def restricted(law: Exact, kept: Iterable[int]) -> Exact:
    """Return a law on the kept tokens, renormalised."""
    return nt.normalised([mass if y in kept else ZERO for y, mass in enumerate(law)])


def repaired(
    outputs: Iterable[tuple[Fraction, Exact]], target: Exact, kept: Iterable[int]
) -> Fraction:
    """Keep the output, of some law, with probability q(Ω₀), else draw outside: the target."""
    inside, rest = mass_of(target, kept), restricted(target, {*range(len(target))} - {*kept})
    parts = [(1 - inside, rest), *((inside * chance, law) for chance, law in outputs)]
    found = [total(chance * law[y] for chance, law in parts) for y in range(len(target))]
    return nt.same(found, target, "output")


@claim("canonical.sec4c", "Section 4, the truncated alphabet", KEPT)
def sec4c(draft, target, kept):
    r"""Verifying against $q$ restricted to $\Omega_0$ and renormalised, keeping the output with
    probability $q(\Omega_0)$ and otherwise drawing from $q$ outside is lossless.
    """
    narrow = restricted(target, kept)
    found = two_steps(iid(draft, 2), algorithm_1(draft, narrow, len(kept))[2], narrow)
    return repaired([(ONE, found.output(len(target)))], target, kept)


def truncated_two(first, second, target, free):
    """The same for drafts of two laws."""
    return truncated(first, second, target, for_two_laws(first, second, target, free))


claim("canonical.rem3", "Remark 3, appendix G, (185) to (189)", TWO_LAWS,
      r"For $x_1 \sim p_1$, $x_2 \sim p_2$ the law of the selected token is (187), with the "
      r"truncation (188) and (189); speculative sampling on it is lossless, and the program over "
      r"all variables accepts $\alpha$.")(truncated_two)  # fmt: skip


@claim("canonical.rem4", "Remark 4",
       cases(n=3, k=(3, 4)).one(free=lambda draft, **_: range(len(draft) + 1)))  # fmt: skip
def rem4(draft, target, k, free):
    r"""For $k > 2$, selecting within groups of two and then among the selected tokens, whose laws
    are known, selects one of the drafts; speculative sampling on it is lossless.
    """
    law, kernel = algorithms.in_stages([draft] * k, target, free)
    equal({y in x for x, row in kernel.items() for y in row}, {True}, "one of the drafts")
    return at_least(two_steps(iid(draft, k), kernel, target, law).accepted(), ZERO)


claim("canonical.eq190", "Appendix G, (190)", TWO_LAWS,
      r"For different drafts the truncated program accepts at least "
      r"$\alpha - \sum_{y \in \Omega_2} (q(y) - p_1(y) p_2(y))_+$.")(truncated_two)  # fmt: skip


@claim("canonical.secG", "Appendix G, the truncated alphabet", KEPT)
def sec_g(draft, target, kept):
    r"""Keeping only the drafts within $\Omega_0$, with their law and the target truncated and
    renormalised, and the same repair of the output, is lossless.

    Printed: Not said what happens if fewer than two drafts are kept: one is verified alone, and
    for none the truncated target is drawn.
    """
    n, share = len(target), mass_of(draft, kept)
    narrow, own = restricted(target, kept), restricted(draft, kept)
    outputs = [((1 - share) ** 2, narrow)]
    if share:
        one = Ran(maximal_coupling(own, narrow), iid(own, 1))
        two = two_steps(iid(own, 2), algorithm_1(own, narrow, len(kept))[2], narrow)
        outputs += [(2 * share * (1 - share), one.output(n)), (share**2, two.output(n))]
    return repaired(outputs, target, kept)
