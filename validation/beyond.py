"""Facts beyond the papers: the cut formula, prefix rules, pooled selection, priority mixtures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import otspec
from otspec.drafts import DraftLaw
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement, PriorityMixture
from validation.checks import over, over_all, over_cases, over_pairs
from validation.claim import Claim, Corrected, above, at_least, equal, law_of
from validation.instances import Exact
from validation.notation import ONE, ZERO, mass_of, subsets, support, total
from validation.oracles import bound, flow, laws, least_bound, table_of


def cut_formula(draft: Exact, target: Exact, k: int) -> Fraction:
    """The maximum flow is the least bound, for every law."""
    worst = ZERO
    for law in laws(draft, target, k):
        table = table_of(law)
        worst = equal(flow(table, target), least_bound(table, target), type(law).__name__)
    return worst


def ascending(draft: Exact, target: Exact) -> list[int]:
    """Return the tokens by ascending target/draft, undrafted ones last."""
    return sorted(
        range(len(draft)), key=lambda y: target[y] / draft[y] if draft[y] else float("inf")
    )


def prefix_is_best(law: DraftLaw, target: Exact, order: list[int]) -> Fraction:
    """The least bound among the prefixes of an order is the least of all."""
    table = table_of(law)
    best = min(bound(table, target, order[:size]) for size in range(len(order) + 1))
    return equal(best, least_bound(table, target))


def prefix_of_iid(draft: Exact, target: Exact, k: int) -> Fraction:
    """The best cut of i.i.d. drafts is a prefix."""
    law = otspec.IID(draft, k)
    return prefix_is_best(law, target, ascending(draft, target))


def prefix_of_distinct(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """The best cut of distinct drafts is a prefix."""
    if support(draft) < k:
        return None
    law = otspec.WithoutReplacement(draft, k)
    return prefix_is_best(law, target, ascending(draft, target))


def prefix_of_hub(draft: Exact, target: Exact) -> Fraction | None:
    """The best cut of the hub law is a prefix of the plain order of ratios."""
    if support(draft) < 2:
        return None
    law = otspec.Hub(draft)
    return prefix_is_best(law, target, ascending(draft, target))


def prefix_after_hub(draft: Exact, target: Exact) -> Fraction | None:
    """The best cut of the hub law is a prefix once the hub comes first."""
    if support(draft) < 2:
        return None
    law = otspec.Hub(draft)
    order = [law.hub, *(y for y in ascending(draft, target) if y != law.hub)]
    return prefix_is_best(law, target, order)


def independent_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield two drafts and a target over four tokens: disjoint supports by size, then others."""
    disjoint = sorted(product(range(1, 4), repeat=7), key=sum)
    for x, y, a, b, *target in disjoint[:700]:
        yield {
            "first": law_of((0, 0, a, b)),
            "second": law_of((x, y, 0, 0)),
            "target": law_of((0, *target)),
        }
    rng = np.random.default_rng(seed)
    while True:
        weights = rng.integers(0, 7, (3, 4)) * rng.integers(0, 2, (3, 4))
        weights[np.arange(3), rng.integers(0, 4, 3)] += 1
        names = ("first", "second", "target")
        yield {name: law_of(tuple(row)) for name, row in zip(names, weights.tolist(), strict=True)}


def prefix_of_independent(first: Exact, second: Exact, target: Exact) -> Fraction:
    """The best cut of two independent drafts is a prefix of q over the mean draft."""
    law = otspec.Independent([first, second])
    mean = tuple((a + b) / 2 for a, b in zip(first, second, strict=True))
    return prefix_is_best(law, target, ascending(mean, target))


def halfplane_of_independent(first: Exact, second: Exact, target: Exact) -> Fraction:
    """The best cut of two independent drafts is {q ≤ u p₁ + v p₂} with u = p₂(A), v = p₁(A)."""
    law = otspec.Independent([first, second])
    table = table_of(law)
    best = least_bound(table, target)
    cut = next(tokens for tokens in subsets(law.n) if bound(table, target, tokens) == best)
    u, v = (mass_of(draft, cut) for draft in (second, first))
    halfplane = [y for y in range(law.n) if target[y] <= u * first[y] + v * second[y]]
    return equal(bound(table, target, halfplane), best, "bound of the half-plane")


def lemma3_bound(draft: Exact, target: Exact, k: int) -> Fraction:
    """SpecTr's upper bound is attained: its minimum over all sets is the maximum flow."""
    table = table_of(otspec.IID(draft, k))
    least = min(
        total(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
        + total(min(mass, mass_of(target, set(x) - set(chosen))) for x, mass in table.items())
        for chosen in subsets(len(draft))
    )
    return equal(least, flow(table, target))


def pooled_is_optimal(draft: Exact, target: Exact, k: int) -> Fraction:
    """Pooled selection is lossless and accepts the maximum flow, with both kinds of pools."""
    best = flow(table_of(otspec.IID(draft, k)), target)
    for pools in ("tokens", "fewest"):
        report = otspec.audit(PooledSelection(draft, target, k, pools))
        equal(report.total_variation, 0, f"error of the output, pools={pools}")
        equal(report.acceptance, best, f"acceptance, pools={pools}")
    return ZERO


def any_pools_are_lossless(draft: Exact, target: Exact, k: int) -> Fraction:
    """Any thresholds give a lossless rule, and a bound on what it loses."""
    thresholds = (Fraction(1, 2), ONE, Fraction(7, 4))
    rule = PooledSelection(draft, target, k, thresholds)
    report = otspec.audit(rule)
    equal(report.total_variation, 0, "error of the output")
    lost = flow(table_of(rule.law), target) - report.acceptance
    return at_least(rule.loss_bound(), lost, "bound on the loss")


def lifetimes_end_before_one(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Knots that are not tight die strictly before 1."""
    finite = [life for life in PooledSelection(draft, target, k).lifetimes if life != np.inf]
    if k == 1 or not finite:
        return None
    return above(ONE, max(finite), "1, against the last lifetime")


def lifetimes_end_at_one(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """The last of the knots that are not tight dies exactly at 1."""
    finite = [life for life in PooledSelection(draft, target, k).lifetimes if life != np.inf]
    return equal(max(finite), 1, "last lifetime") if k > 1 and finite else None


def two_distinct_drafts(draft: Exact, target: Exact) -> Fraction | None:
    """Pooled selection of two distinct drafts is lossless and accepts the maximum flow."""
    if support(draft) < 2:
        return None
    report = otspec.audit(PooledSelectionWithoutReplacement(draft, target))
    equal(report.total_variation, 0, "error of the output")
    return equal(report.acceptance, flow(table_of(otspec.WithoutReplacement(draft, 2)), target))


def any_law_mixture(draft: Exact, target: Exact, k: int) -> Fraction:
    """Two priority orders make a lossless rule between a known acceptance and a known bound."""
    worst = ONE
    for law in laws(draft, target, k):
        rule = PriorityMixture(law, target, gap=0, most=2)
        equal(otspec.audit(rule).total_variation, 0, "error of the output")
        best = flow(table_of(law), target)
        worst = min(worst, at_least(rule.bound, best), at_least(best, rule.mixture.accepted))
    return worst


def four_tokens() -> Iterator[dict[str, Any]]:
    """Yield drafts and targets of four tokens, by the sum of their weights."""
    drafts = [w for w in product(range(1, 4), repeat=4) if list(w) == sorted(w, reverse=True)]
    targets = [w for w in product(range(5), repeat=4) if any(w)]
    for first, second in sorted(
        product(drafts, targets), key=lambda pair: sum(pair[0]) + sum(pair[1])
    ):
        yield {"draft": law_of(first), "target": law_of(second)}


FOUR, TWO_DRAFTS = "n = 4, small weights", "n <= 4, two independent drafts"

CLAIMS = (
    Claim(
        "beyond.cut",
        "the cut formula",
        r"$\alpha(P, q) = \min_A q(A) + 1 - P(\text{all drafts inside } A)$ for every draft law.",
        over_cases(cut_formula, most_tokens=3),
    ),
    Claim(
        "beyond.lemma3",
        "SpecTr's lemma 3",
        r"The upper bound $\bar\alpha_k$ of SpecTr's lemma 3 equals $\alpha_k$ for all p, q and k.",
        over_cases(lemma3_bound, most_tokens=3),
    ),
    Claim(
        "beyond.prefix_iid",
        "the prefix rule, i.i.d. drafts",
        "The best cut of i.i.d. drafts is a prefix of the tokens in ascending order of q/p.",
        over_cases(prefix_of_iid),
    ),
    Claim(
        "beyond.prefix_distinct",
        "the prefix rule, distinct drafts",
        "The best cut of distinct drafts is a prefix of the tokens in ascending order of q/p.",
        over_cases(prefix_of_distinct, most_tokens=5),
    ),
    Claim(
        "beyond.prefix_hub",
        "the prefix rule, hub drafts",
        "The best cut of SpecHub's drafts is a prefix of the tokens in ascending order of q/p.",
        over_all(four_tokens, prefix_of_hub, FOUR),
        corrected=Corrected(
            "It is a prefix of the order in which the hub comes first, then the others by q/p.",
            over_all(four_tokens, prefix_after_hub, FOUR),
        ),
    ),
    Claim(
        "beyond.prefix_independent",
        "the prefix rule, independent drafts",
        "The best cut of two independent drafts is a prefix in the order of $q/(p_1 + p_2)$.",
        over(independent_pairs, prefix_of_independent, TWO_DRAFTS),
        corrected=Corrected(
            r"It is a half-plane: $\{q \le u p_1 + v p_2\}$ with $u = p_2(A)$, $v = p_1(A)$ "
            "of any best cut A.",
            over(independent_pairs, halfplane_of_independent, TWO_DRAFTS),
        ),
    ),
    Claim(
        "beyond.pooled",
        "pooled selection",
        "Pooled selection is exactly lossless and accepts the optimum, with a pool for every ratio "
        "and with the fewest pools.",
        over_cases(pooled_is_optimal, most_tokens=3),
    ),
    Claim(
        "beyond.pooled_any",
        "pooled selection, any pools",
        "With any thresholds it is exactly lossless and loses at most its bound.",
        over_cases(any_pools_are_lossless, most_tokens=3),
    ),
    Claim(
        "beyond.lifetimes",
        "pooled selection, the barriers' process",
        "The last of the knots that are not tight dies exactly at time 1.",
        over_cases(lifetimes_end_at_one, ks=(2, 3)),
        corrected=Corrected(
            "All of them die strictly before time 1.",
            over_cases(lifetimes_end_before_one, ks=(2, 3)),
        ),
    ),
    Claim(
        "beyond.distinct",
        "two distinct drafts",
        "Pooled selection of two distinct drafts is exactly lossless and accepts the optimum.",
        over_pairs(two_distinct_drafts, enumerated=400),
    ),
    Claim(
        "beyond.priorities",
        "mixtures of priority orders",
        "A mixture of priority orders is exactly lossless for any draft law, and its bound and its "
        "acceptance enclose the optimum.",
        over_cases(any_law_mixture, ks=(1, 2), most_tokens=3),
    ),
)
