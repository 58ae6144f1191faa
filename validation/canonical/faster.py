"""Section 4, appendices E and G: fewer variables, other alphabets, more drafts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

from validation.canonical.instances import (
    Digits,
    over,
    over_digits,
    over_pairs,
    three_with_free,
    with_free,
)
from validation.canonical.printed import (
    algorithm_1,
    for_two_laws,
    in_stages,
    truncated_alphabet,
    truncated_drafts,
)
from validation.canonical.two_steps import best_kernel, kernel_from, selected_law, two_steps
from validation.checks import FEW
from validation.claim import Claim, at_least, equal
from validation.instances import Exact, cases
from validation.notation import ONE, ZERO, iid, independent, overlap, total
from validation.oracles import flow, least_bound


def order_is_irrelevant(draft: Exact, target: Exact, k: int) -> Fraction:
    """Averaging an optimal β over the orders of the drafts changes neither law nor acceptance."""
    table = iid(draft, k)
    kernel = best_kernel(table, target)
    average = {}
    for x in table:
        orders = [kernel[other] for other in permutations(x)]
        average[x] = {y: total(row[y] for row in orders) / len(orders) for y in set(x)}
    law = selected_law(table, average, len(target))
    equal(law, selected_law(table, kernel, len(target)), "law of the selected token")
    best = flow(iid(draft, k), target)
    return equal(two_steps(table, average, target).accepted, best, "acceptance")


def pair_weights(draft: Exact, target: Exact, k: int, digits: Digits) -> Fraction:
    """(11): the law of the selected token from the weights of unordered pairs."""
    n = len(draft)
    table = iid(draft, k)
    kernel = kernel_from(digits, table)
    seen: dict[tuple[int, int], Fraction] = {}
    for (i, j), mass in table.items():  # w_{i,j}: i given the pair in any order
        for y in {i, j}:
            other = j if y == i else i
            share = mass / (draft[i] * draft[j] * (2 if i != j else 1))
            seen[y, other] = seen.get((y, other), ZERO) + share * kernel[i, j][y]
    for k_, chance in enumerate(selected_law(table, kernel, n)):
        claimed = draft[k_] ** 2 + total(
            2 * draft[i] * draft[k_] * seen.get((k_, i), ZERO) for i in range(n) if i != k_
        )
        equal(claimed, chance, f"P(Y = {k_})")
    return equal(sum(selected_law(table, kernel, n)), ONE, f"sum, target {len(target)} tokens")


def full_program(draft: Exact, target: Exact) -> Fraction:
    """The linear program over all w_{i,j} gives the optimum."""
    law = algorithm_1(draft, target, len(draft)).law
    best = least_bound(iid(draft, 2), target)
    return equal(overlap(law, target), best, "value of the program")


def law_of_algorithm(draft: Exact, target: Exact, free: int) -> Fraction:
    """(13) is the law of the token that algorithm 1 selects, and Ω₂ is not affected by w."""
    found = algorithm_1(draft, target, free)
    table = iid(draft, 2)
    equal(found.law, selected_law(table, found.kernel, len(target)), "(13)")
    # The objective reduces to Ω₁: other weights there change nothing on Ω₂.
    altered = dict(found.kernel)
    for x in found.kernel:
        if x[0] < x[1] and all(found.order.index(y) < free for y in x):
            altered[x] = altered[x[::-1]] = {x[0]: Fraction(1, 3), x[1]: Fraction(2, 3)}
    other = selected_law(table, altered, len(target))
    for y in found.order[free:]:
        equal(other[y], found.law[y], f"law of {y} with other weights")
    first = found.order[:free]
    return at_least(
        total(min(found.law[y], target[y]) for y in first),
        total(min(other[y], target[y]) for y in first),
        "objective on the first tokens",
    )


def algorithm_is_lossless(draft: Exact, target: Exact, free: int) -> Fraction:
    """Algorithm 1 and speculative sampling: the target, with its acceptance."""
    chosen = algorithm_1(draft, target, free)
    found = two_steps(iid(draft, 2), chosen.kernel, target)
    equal(found.output, target, "output")
    return equal(found.accepted, overlap(chosen.law, target), "accepted")


def penalty(draft: Exact, target: Exact, free: int) -> Fraction:
    """(14): what truncation loses."""
    chosen = algorithm_1(draft, target, free)
    best = flow(iid(draft, 2), target)
    lost = total(max(target[y] - draft[y] ** 2, ZERO) for y in chosen.order[free:])
    at_least(best, overlap(chosen.law, target), "optimum")
    return at_least(overlap(chosen.law, target), best - lost, "acceptance of the truncated program")


def sets_kept(seed: int) -> Iterator[dict[str, Any]]:
    """Yield pairs and the number of likeliest tokens that are kept: 1 to all."""
    for pair in cases(seed, (2,), 4, enumerated=FEW):
        draft, target = pair["draft"], pair["target"]
        for kept in range(1, len(draft) + 1):
            yield {"draft": draft, "target": target, "kept": kept}


def likeliest(target: Exact, kept: int) -> list[int]:
    """Return the likeliest tokens."""
    return sorted(range(len(target)), key=lambda y: -target[y])[:kept]


def alphabet_is_lossless(draft: Exact, target: Exact, kept: int) -> Fraction:
    """Truncating the target and repairing the output: the target comes out."""
    return equal(truncated_alphabet(draft, target, likeliest(target, kept)), target, "output")


def kept_drafts_are_lossless(draft: Exact, target: Exact, kept: int) -> Fraction:
    """Also when only drafts within the kept tokens are used, with renormalised laws."""
    return equal(truncated_drafts(draft, target, likeliest(target, kept)), target, "output")


def law_of_two(first: Exact, second: Exact, target: Exact, free: int) -> Fraction:
    """(187) to (189): the law of the selected token for different drafts; lossless."""
    chosen = for_two_laws(first, second, target, free)
    table = independent([first, second])
    equal(chosen.law, selected_law(table, chosen.kernel, len(target)), "(188), (189)")
    found = two_steps(table, chosen.kernel, target)
    equal(found.output, target, "output")
    equal(found.accepted, overlap(chosen.law, target), "accepted")
    if free == len(target):
        best = flow(independent([first, second]), target)
        equal(found.accepted, best, "value of the program over all variables")
    return ZERO


def penalty_of_two(first: Exact, second: Exact, target: Exact, free: int) -> Fraction:
    """(190): what truncation loses for different drafts."""
    chosen = for_two_laws(first, second, target, free)
    best = flow(independent([first, second]), target)
    lost = total(max(target[y] - first[y] * second[y], ZERO) for y in chosen.order[free:])
    at_least(best, overlap(chosen.law, target), "optimum")
    return at_least(overlap(chosen.law, target), best - lost, "acceptance of the truncated program")


def stage_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield pairs, 3 or 4 drafts, and the number of tokens in the programs."""
    for case in cases(seed, (3, 4), 3, enumerated=FEW):
        for free in (0, len(case["draft"])):
            yield {**case, "free": free}


def stages_are_lossless(draft: Exact, target: Exact, k: int, free: int) -> Fraction:
    """Grouping in twos: the law of the selected token is known, and the target comes out."""
    law, kernel = in_stages([draft] * k, target, free)
    table = iid(draft, k)
    equal(selected_law(table, kernel, len(target)), law, "law of the selected token")
    for x in table:
        outside = total(chance for y, chance in kernel[x].items() if y not in x)
        equal(outside, ZERO, f"selected outside of the drafts {x}")
    found = two_steps(table, kernel, target)
    equal(found.output, target, "output")
    return equal(found.accepted, overlap(law, target), "accepted")


CLAIMS = (
    Claim(
        "canonical.sec4a",
        "Example 2 and section 4: symmetry",
        r"For i.i.d. drafts there is an optimal $\beta$ that does not depend on the order of the "
        r"drafts.",
        over(
            lambda seed: cases(seed, (2, 3), 3, enumerated=FEW),
            order_is_irrelevant,
            "n <= 3, 2 <= k <= 3",
        ),
        printed="'The optimal rule does not depend on the order', which can only mean that one "
        "such rule exists: others do.",
    ),
    Claim(
        "canonical.eq11",
        "Section 4, (10) and (11)",
        r"With $w_{i,j}$ the probability to select $i$ given the drafts $i$ and $j$ in any order, "
        r"$P(Y = k) = p_k^2 + \sum_{i \ne k} 2 p_i p_k w_{k,i}$.",
        over_digits(pair_weights, (2,), 4),
    ),
    Claim(
        "canonical.sec4b",
        "Section 4, the linear program",
        r"Maximising $\sum_i \min(q_i, P(Y = i))$ over $0 \le w_{i,j} \le 1$, "
        r"$w_{i,j} + w_{j,i} = 1$ gives $\alpha_2$.",
        over_pairs(full_program),
    ),
    Claim(
        "canonical.eq13",
        "Section 4, (12) and (13), and the reduced objective",
        r"With $w_{i,j} = 1$ for $i \in \Omega_1, j \in \Omega_2$ and for $i < j$ in $\Omega_2$, "
        r"$P(Y = k)$ is $p_k^2 + \sum_{i \in \Omega_1} 2 p_i p_k w_{k,i} + \sum_{i \in \Omega_2} "
        r"2 p_i p_k$ on $\Omega_1$ and $p_k^2 + \sum_{i > k} 2 p_i p_k$ on $\Omega_2$; only the "
        r"terms of $\Omega_1$ are left to maximise.",
        with_free(law_of_algorithm),
    ),
    Claim(
        "canonical.alg1",
        "Algorithm 1 and the second step",
        r"The truncated program selects a token of the law it puts out; speculative sampling on "
        r"it is lossless and accepts $\sum \min(q, P_I)$.",
        with_free(algorithm_is_lossless),
    ),
    Claim(
        "canonical.eq14",
        "Section 4, (14), appendix E",
        r"The truncated program accepts at least $\alpha_2 - \sum_{y \in \Omega_2} "
        r"(q(y) - p(y)^2)_+$.",
        with_free(penalty),
    ),
    Claim(
        "canonical.sec4c",
        "Section 4, the truncated alphabet",
        r"Verifying against $q$ restricted to $\Omega_0$ and renormalised, keeping the output "
        r"with probability $q(\Omega_0)$ and otherwise drawing from $q$ outside is lossless.",
        over(sets_kept, alphabet_is_lossless, "n <= 4, k = 2, the likeliest tokens kept"),
    ),
    Claim(
        "canonical.rem3",
        "Remark 3, appendix G, (185) to (189)",
        r"For $x_1 \sim p_1$, $x_2 \sim p_2$ the law of the selected token is (187), with the "
        r"truncation (188) and (189); speculative sampling on it is lossless, and the program "
        r"over all variables accepts $\alpha$.",
        three_with_free(law_of_two),
    ),
    Claim(
        "canonical.rem4",
        "Remark 4",
        r"For $k > 2$, selecting within groups of two and then among the selected tokens, whose "
        r"laws are known, selects one of the drafts; speculative sampling on it is lossless.",
        over(stage_cases, stages_are_lossless, "n <= 3, 3 <= k <= 4, s in {0, n}"),
    ),
)

APPENDIX_G = (
    Claim(
        "canonical.eq190",
        "Appendix G, (190)",
        r"For different drafts the truncated program accepts at least "
        r"$\alpha - \sum_{y \in \Omega_2} (q(y) - p_1(y) p_2(y))_+$.",
        three_with_free(penalty_of_two),
    ),
    Claim(
        "canonical.secG",
        "Appendix G, the truncated alphabet",
        r"Keeping only the drafts within $\Omega_0$, with their law and the target truncated and "
        r"renormalised, and the same repair of the output, is lossless.",
        over(sets_kept, kept_drafts_are_lossless, "n <= 4, k = 2, the likeliest tokens kept"),
        printed="Not said what happens if fewer than two drafts are kept: one is verified alone, "
        "and for none the truncated target is drawn.",
    ),
)
