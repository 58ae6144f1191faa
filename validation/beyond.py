"""Facts beyond the papers: the cut formula, prefix rules, pooled selection, priority mixtures."""

from fractions import Fraction
from itertools import product

import numpy as np

import otspec
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement, PriorityMixture
from validation import domains
from validation.claim import above, at_least, claim, equal
from validation.domains import Domain, cases, law_of, pairs
from validation.notation import ONE, iid, mass_of, subsets, support, total
from validation.oracles import bound, flow, laws, least_bound, table_of

SMALL = cases(n=3, random_n=4, random_k=(1, 2, 3, 4))


claim("beyond.cut", "the cut formula", cases(n=3),
      r"$\alpha(P, q) = \min_A q(A) + 1 - P(\text{all drafts inside } A)$ for every draft law.")(
    lambda draft, target, k: min(
        equal(flow(table, target), least_bound(table, target), name)
        for name, table in ((type(law).__name__, table_of(law)) for law in laws(draft, target, k)))
)  # fmt: skip


@claim("beyond.lemma3", "SpecTr's lemma 3", SMALL)
def lemma_3_is_attained(draft, target, k):
    r"""The upper bound $\bar\alpha_k$ of SpecTr's lemma 3 equals $\alpha_k$ for all p, q and k."""
    table = iid(draft, k)
    least = min(total(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
                + total(min(m, mass_of(target, {*x} - {*chosen})) for x, m in table.items())
                for chosen in subsets(len(draft)))  # fmt: skip
    return equal(least, flow(table, target))


def ascending(draft, target):
    """Return the tokens by ascending target/draft, undrafted ones last."""
    ratios = [q / p if p else float("inf") for p, q in zip(draft, target, strict=True)]
    return sorted(range(len(draft)), key=ratios.__getitem__)


def prefix_is_best(law, target, order):
    """The least bound among the prefixes of an order is the least of all."""
    table = table_of(law)
    best = min(bound(table, target, order[:size]) for size in range(len(order) + 1))
    return equal(best, least_bound(table, target))


claim("beyond.prefix_iid", "the prefix rule, i.i.d. drafts", cases(random_k=(1, 2, 3, 5)),
      "The best cut of i.i.d. drafts is a prefix of the tokens in ascending order of q/p.")(
    lambda draft, target, k: prefix_is_best(
        otspec.IID(draft, k), target, ascending(draft, target)))  # fmt: skip
claim("beyond.prefix_distinct", "the prefix rule, distinct drafts",
      cases(n=5).where(lambda draft, k, **_: support(draft) >= k),
      "The best cut of distinct drafts is a prefix of the tokens in ascending order of q/p.")(
    lambda draft, target, k: prefix_is_best(
        otspec.WithoutReplacement(draft, k), target, ascending(draft, target)))  # fmt: skip


def many_ties():
    """Yield pairs over four tokens by the sum of small weights."""
    drafts = [w for w in product(range(1, 4), repeat=4) if list(w) == sorted(w, reverse=True)]
    targets = [w for w in product(range(5), repeat=4) if any(w)]
    for first, second in sorted(product(drafts, targets), key=lambda two: sum(map(sum, two))):
        yield {"draft": law_of(first), "target": law_of(second)}


TWO_DISTINCT = pairs(least=2, random_n=5).where(lambda draft, **_: support(draft) >= 2)


@claim("beyond.prefix_hub", "the prefix rule, hub drafts",
       domains.mixed(Domain(many_ties), TWO_DISTINCT))  # fmt: skip
def prefix_of_hub(draft, target):
    """The best cut of SpecHub's drafts is a prefix of the order in which the hub comes first, then
    the others in ascending order of q/p; without the hub at the front it need not be."""
    law = otspec.Hub(draft)
    order = [law.hub, *(y for y in ascending(draft, target) if y != law.hub)]
    return prefix_is_best(law, target, order)


def disjoint_drafts():
    """Yield two drafts with disjoint supports and a target, the smallest first."""
    for x, y, a, b, *target in sorted(product(range(1, 4), repeat=7), key=sum):
        yield {"first": law_of((0, 0, a, b)), "second": law_of((x, y, 0, 0)),
               "target": law_of((0, *target))}  # fmt: skip


def sparse_drafts(rng):
    """Yield random drafts and targets, about half of whose tokens are impossible."""
    for largest in domains.growing():
        weights = rng.integers(0, largest, (3, 4)) * rng.integers(0, 2, (3, 4))
        weights[np.arange(3), rng.integers(0, 4, 3)] += 1
        rows = (law_of(tuple(row)) for row in weights.tolist())
        yield dict(zip(("first", "second", "target"), rows, strict=True))


@claim("beyond.prefix_independent", "the prefix rule, independent drafts",
       Domain(disjoint_drafts, sparse_drafts))  # fmt: skip
def half_plane_of_independent(first, second, target):
    r"""The best cut of two independent drafts is a half-plane: $\{q \le u p_1 + v p_2\}$ with
    $u = p_2(A)$, $v = p_1(A)$ of any best cut A; no prefix in the order of $q/(p_1 + p_2)$ need be
    best."""
    law = otspec.Independent([first, second])
    table = table_of(law)
    best = least_bound(table, target)
    cut = next(tokens for tokens in subsets(law.n) if bound(table, target, tokens) == best)
    u, v = (mass_of(draft, cut) for draft in (second, first))
    halfplane = [y for y in range(law.n) if target[y] <= u * first[y] + v * second[y]]
    return equal(bound(table, target, halfplane), best, "bound of the half-plane")


def optimal(rule, best):
    """The rule is exactly lossless and accepts the optimum."""
    report = otspec.audit(rule)
    equal(report.total_variation, 0, "error of the output")
    return equal(report.acceptance, best, "acceptance")


claim("beyond.pooled", "pooled selection", SMALL,
      "Pooled selection is exactly lossless and accepts the optimum, with a pool for every ratio "
      "and with the fewest pools.")(lambda draft, target, k: min(
          optimal(PooledSelection(draft, target, k, pools), flow(iid(draft, k), target))
          for pools in ("tokens", "fewest")))  # fmt: skip
claim("beyond.distinct", "two distinct drafts", TWO_DISTINCT,
      "Pooled selection of two distinct drafts is exactly lossless and accepts the optimum.")(
    lambda draft, target: optimal(PooledSelectionWithoutReplacement(draft, target),
                                  flow(table_of(otspec.WithoutReplacement(draft, 2)), target))
)  # fmt: skip
claim("beyond.lifetimes", "pooled selection, the barriers' process", cases(k=(2, 3)),
      "Of the knots that are not tight all die strictly before time 1.")(
    lambda draft, target, k: min(
        (above(ONE, life, "1, against a lifetime")
         for life in PooledSelection(draft, target, k).lifetimes if life != np.inf),
        default=None))  # fmt: skip


@claim("beyond.pooled_any", "pooled selection, any pools", SMALL)
def any_pools_are_lossless(draft, target, k):
    """With any thresholds it is exactly lossless and loses at most its bound."""
    rule = PooledSelection(draft, target, k, (Fraction(1, 2), ONE, Fraction(7, 4)))
    report = otspec.audit(rule)
    equal(report.total_variation, 0, "error of the output")
    lost = flow(iid(draft, k), target) - report.acceptance
    return at_least(rule.loss_bound(), lost, "bound on the loss")


@claim("beyond.priorities", "mixtures of priority orders", cases(n=3, k=(1, 2)))
def any_law_mixture(draft, target, k):
    """A mixture of priority orders is exactly lossless for any draft law, and its bound and its
    acceptance enclose the optimum."""
    worst = ONE
    for law in laws(draft, target, k):
        rule = PriorityMixture(law, target, gap=0, most=2)
        equal(otspec.audit(rule).total_variation, 0, "error of the output")
        best = flow(table_of(law), target)
        worst = min(worst, at_least(rule.bound, best), at_least(best, rule.mixture.accepted))
    return worst
