"""Section 4, appendices E and G: fewer variables, fewer tokens, more and different drafts."""

from fractions import Fraction
from functools import partial
from itertools import permutations, product

from validation import notation as nt
from validation.algorithms import Ran, maximal_coupling
from validation.canonical.section_3 import ORDERS, kernel_of, selected, two_steps
from validation.claim import at_least, claim, equal
from validation.domains import cases, drafts, laws, pairs
from validation.notation import ONE, ZERO, collect, iid, independent, mass_of, subsets, total
from validation.oracles import best_kernel, flow, spread

TWO_LAWS = laws("first", "second", "target").one(free=lambda first, **_: range(len(first) + 1))
"""Two drafts, a target, and the number s of tokens in the program."""
ONE_LAW = pairs(random_n=5).of(lambda draft, target: {"first": draft, "second": draft,
                                                      "target": target})  # fmt: skip
TRUNCATED = ONE_LAW.one(free=lambda first, **_: range(len(first) + 1))
KEPT = pairs(random_n=5).one(
    kept=lambda target, **_: [s for s in subsets(len(target)) if mass_of(target, s)])  # fmt: skip
"""Pairs, and tokens that are kept, Ω₀."""


@claim("canonical.sec4a", "Example 2 and section 4: symmetry", cases(n=3, k=(2, 3)))
def sec4a(draft, target, k):
    r"""For i.i.d. drafts there is an optimal $\beta$ that does not depend on the order of the
    drafts.

    Printed: 'The optimal rule does not depend on the order', which can only mean that one such
    rule exists: others do."""
    table, average = iid(draft, k), {}
    kernel = best_kernel(table, target)
    for x in table:
        orders = [kernel[other] for other in permutations(x)]
        average[x] = {y: total(row[y] for row in orders) / len(orders) for y in set(x)}
    found = two_steps(table, average, target, selected(table, kernel, len(target)))
    return equal(found.accepted(), flow(table, target), "acceptance")


@claim("canonical.eq11", "Section 4, (10) and (11)", drafts(4, random_n=5).one(order=ORDERS))
def eq11(draft, order):
    r"""With $w_{i,j}$ the probability to select $i$ given the drafts $i$ and $j$ in any order,
    $P(Y = k) = p_k^2 + \sum_{i \ne k} 2 p_i p_k w_{k,i}$."""
    table, law = iid(draft, 2), [mass**2 for mass in draft]
    kernel = kernel_of(table, order)
    for i, j in [x for x in table if x[0] != x[1]]:
        both = (i, j), (j, i)
        w = total(table[x] * kernel[x][i] for x in both) / total(table[x] for x in both)
        law[i] += 2 * draft[i] * draft[j] * w
    return nt.same(selected(table, kernel, len(draft)), law, "P(Y = k)")


def program(first, second, target, free):
    """Solve the truncated program, algorithm 1 or that of appendix G: Ω₁, Ω₂ in order, and β.

    Of tokens in decreasing order of q − p₁ p₂ the earlier one is selected, (12), unless both are
    among the ``free`` first: these pairs, in any order if i.i.d., share what is left of q."""
    order = sorted(range(len(target)), key=lambda y: first[y] * second[y] - target[y])
    kernel = {x: {min(x, key=order.index): ONE} for x in product(order, repeat=2)}
    pairs = {x: tuple(sorted(x)) if first == second else x
             for x in product(order[:free], repeat=2) if x[0] != x[1]}  # fmt: skip
    supplies = collect((pair, first[i] * second[j]) for (i, j), pair in pairs.items())
    fixed = {x: m for x, m in independent([first, second]).items() if x not in pairs}
    moved = spread(supplies, nt.positive(target, selected(fixed, kernel, len(target))))
    for x, (i, j) in pairs.items():
        if mass := supplies.get((i, j)):
            kernel[x] = {i: 1 - moved[(i, j), j] / mass, j: moved[(i, j), j] / mass}
    return order[:free], order[free:], kernel


def printed_law(first, second, chosen):
    """Return (188) and (189), the law of the selected token; for equal drafts (13), P_I."""
    (inside, outside, w), law = chosen, [p * other for p, other in zip(first, second, strict=True)]
    for k in inside:
        law[k] += total(first[k] * second[i] + first[i] * second[k] for i in outside)
        law[k] += total(first[k] * second[i] * w[k, i].get(k, ZERO)
                        + first[i] * second[k] * (1 - w[i, k].get(i, ZERO))
                        for i in inside if i != k)  # fmt: skip
    for j, k in enumerate(outside):
        law[k] += total(first[k] * second[i] + first[i] * second[k] for i in outside[j + 1 :])
    return law


def truncated(first, second, target, free=9):
    """The printed law, other weights, the lossless two steps, and what truncation loses, (190)."""
    inside, outside, kernel = chosen = program(first, second, target, free)
    law, table = printed_law(first, second, chosen), independent([first, second])
    thirds = {x: {min(x): Fraction(1, 3), max(x): Fraction(2, 3)} for x in permutations(inside, 2)}
    other = selected(table, {**kernel, **thirds}, len(law))
    equal([other[y] for y in outside], [law[y] for y in outside], "with other weights")
    found, best = two_steps(table, kernel, target, law).accepted(), flow(table, target)
    at_least(found, nt.overlap(other, target), "objective, against other weights")
    at_least(best, found, "optimum")
    both = [p * other for p, other in zip(first, second, strict=True)]
    lost = mass_of(nt.positive(target, both), outside)
    return at_least(found, best - lost, "accepted by the truncated program")


claim("canonical.sec4b", "Section 4, the linear program", ONE_LAW,
      r"Maximizing $\sum_i \min(q_i, P(Y = i))$ over $0 \le w_{i,j} \le 1$, "
      r"$w_{i,j} + w_{j,i} = 1$ gives $\alpha_2$.")(truncated)  # fmt: skip
claim("canonical.eq13", "Section 4, (12) and (13), and the reduced objective", TRUNCATED,
      r"With $w_{i,j} = 1$ for $i \in \Omega_1, j \in \Omega_2$ and for $i < j$ in $\Omega_2$, "
      r"$P(Y = k)$ is $p_k^2 + \sum_{i \in \Omega_1} 2 p_i p_k w_{k,i} + \sum_{i \in \Omega_2} "
      r"2 p_i p_k$ on $\Omega_1$ and $p_k^2 + \sum_{i > k} 2 p_i p_k$ on $\Omega_2$; only the "
      r"terms of $\Omega_1$ are left to maximize.")(truncated)  # fmt: skip
claim("canonical.alg1", "Algorithm 1 and the second step", TRUNCATED,
      "The truncated program selects a token of the law it puts out; speculative sampling on it is "
      r"lossless and accepts $\sum \min(q, P_I)$.")(truncated)  # fmt: skip
claim("canonical.eq14", "Section 4, (14), appendix E", TRUNCATED,
      r"The truncated program accepts at least $\alpha_2 - \sum_{y \in \Omega_2} "
      r"(q(y) - p(y)^2)_+$.")(truncated)  # fmt: skip


def restricted(law, kept):
    """Return a law on the kept tokens, renormalized."""
    return nt.normalized([mass if y in kept else ZERO for y, mass in enumerate(law)])


def repaired(draft, target, kept, own=True):
    """The output for the truncated target, the drafts' own law truncated, too, or not."""
    n, inside, narrow = len(target), mass_of(target, kept), restricted(target, kept)
    law, share = (restricted(draft, kept), mass_of(draft, kept)) if own else (draft, ONE)
    parts = [(1 - inside, restricted(target, {*range(n)} - {*kept})),
             (inside * (1 - share) ** 2, narrow)]  # fmt: skip
    if share:
        one = Ran(maximal_coupling(law, narrow), iid(law, 1))
        two = two_steps(iid(law, 2), program(law, law, narrow, len(kept))[2], narrow)
        parts.append((inside * 2 * share * (1 - share), one.output(n)))
        parts.append((inside * share**2, two.output(n)))
    found = [total(chance * output[y] for chance, output in parts) for y in range(n)]
    return nt.same(found, target, "output")


claim("canonical.sec4c", "Section 4, the truncated alphabet", KEPT,
      r"Verifying against $q$ restricted to $\Omega_0$ and renormalized, keeping the output with "
      r"probability $q(\Omega_0)$ and otherwise drawing from $q$ outside is lossless.",
)(partial(repaired, own=False))  # fmt: skip
claim("canonical.rem3", "Remark 3, appendix G, (185) to (189)", TWO_LAWS,
      r"For $x_1 \sim p_1$, $x_2 \sim p_2$ the law of the selected token is (187), with the "
      r"truncation (188) and (189); speculative sampling on it is lossless, and the program over "
      r"all variables accepts $\alpha$.")(truncated)  # fmt: skip


def in_stages(drafts, target, free):
    """Select within twos, then among the selected (remark 4): the law, and β given all drafts."""
    if len(drafts) == 1:
        return drafts[0], {(y,): {y: ONE} for y in range(len(target))}
    half = 2 ** ((len(drafts) - 1).bit_length() - 1)
    (first, rows), (second, others) = (in_stages(some, target, free)
                                       for some in (drafts[:half], drafts[half:]))  # fmt: skip
    last = program(first, second, target, free)[2]
    kernel = {(*x, *z): collect((token, a * b * share)
                                for (y, a), (u, b) in product(rows[x].items(), others[z].items())
                                for token, share in last[y, u].items())
              for x, z in product(rows, others)}  # fmt: skip
    return selected(independent([first, second]), last, len(target)), kernel


@claim("canonical.rem4", "Remark 4", cases(n=3, k=(3, 4)).one(free=(0, 1, 2, 3)))
def rem4(draft, target, k, free):
    r"""For $k > 2$, selecting within groups of two and then among the selected tokens, whose laws
    are known, selects one of the drafts; speculative sampling on it is lossless."""
    law, kernel = in_stages([draft] * k, target, free)
    two_steps(iid(draft, k), kernel, target, law)
    return equal({y in x for x, row in kernel.items() for y in row}, {True}, "one of the drafts")


claim("canonical.eq190", "Appendix G, (190)", TWO_LAWS,
      r"For different drafts the truncated program accepts at least "
      r"$\alpha - \sum_{y \in \Omega_2} (q(y) - p_1(y) p_2(y))_+$.")(truncated)  # fmt: skip
claim("canonical.secG", "Appendix G, the truncated alphabet", KEPT,
      r"Keeping only the drafts within $\Omega_0$, with their law and the target truncated and "
      "renormalized, and the same repair of the output, is lossless.",
      printed="Not said what happens if fewer than two drafts are kept: one is verified alone, and "
      "for none the truncated target is drawn.")(repaired)  # fmt: skip
