"""What the page on different drafts says of them, exactly (Different, prop. 2, 4, 5 and 8)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import oracles
import pytest
from instances import fractions, weights

from otspec.rules.priority.order_search import _weighing
from otspec.solvers import SOLVERS

HALF = Fraction(1, 2)


def instances(count, seed, n=4, k=2):
    """Drafts and a target of positive masses."""
    rng = np.random.default_rng(seed)
    return [
        ([weights(rng, n, 9) for _ in range(k)], weights(rng, n, 9)) for _ in range(count)
    ]  # fmt: skip


def subsets(n):
    return [tuple(y for y in range(n) if mask >> y & 1) for mask in range(2**n)]


def inside(drafts, tokens):
    return prod(sum((draft[y] for y in tokens), Fraction(0)) for draft in drafts)


def rise(drafts, before, tokens):
    return inside(drafts, tokens) - inside(drafts, before)


def mass(law, tokens):
    return sum((law[y] for y in tokens), Fraction(0))


def law_of(drafts, groups, choices):
    """The law of groups, the last of them first, and which draft of a group goes first."""
    law, low = [Fraction(0)] * len(drafts[0]), [Fraction(0)] * len(drafts)
    for group, choice in zip(groups, choices, strict=True):
        high = [below + mass(draft, group) for below, draft in zip(low, drafts, strict=True)]
        for place, i in enumerate(choice):
            rate = prod(low[j] for j in choice[:place]) * prod(high[j] for j in choice[place + 1 :])
            for y in group:
                law[y] += rate * drafts[i][y]
        low = high
    return law


def groupings(order):
    """All ways to cut an order into groups."""
    for cuts in product([False, True], repeat=len(order) - 1):
        groups = [[order[0]]]
        for cut, y in zip(cuts, order[1:], strict=True):
            groups.append([y]) if cut else groups[-1].append(y)
        yield groups


def laws_of_order(drafts, order, alike=False):
    """The laws of all groupings of an order: of all choices, or with all drafts alike."""
    orders = list(permutations(range(len(drafts))))
    for groups in groupings(order):
        found = [law_of(drafts, groups, choice) for choice in product(orders, repeat=len(groups))]
        if not alike:
            yield from found
        else:
            yield [sum(masses) / len(found) for masses in zip(*found, strict=True)]


def best_mixture(laws, target):
    """The largest Σ min(b, q) over mixtures of laws, by a rational linear program."""
    array = np.array([list(map(Fraction, law)) for law in laws], dtype=object)
    return SOLVERS["rational"](_weighing(array, np.array(target, dtype=object))).value


def levels(drafts, target):
    """The levels of f/q, by looking at all sets: (c, tokens) in turn."""
    n, found, before = len(target), [], ()
    while len(before) < n:
        bigger = [tokens for tokens in subsets(n) if set(tokens) > set(before)]
        slopes = [
            rise(drafts, before, tokens) / mass(target, set(tokens) - set(before))
            for tokens in bigger
        ]
        c, _, best = max(zip(slopes, map(len, bigger), bigger, strict=True))
        found.append((c, sorted(set(best) - set(before))))
        before = best
    return found


def test_the_gap_is_in_three_places():
    for drafts, target in instances(6, seed=1):
        for order in permutations(range(4)):
            b = law_of(drafts, [[y] for y in order], [(0, 1)] * 4)
            for cut in subsets(4):
                off = set(range(4)) - set(cut)
                parts = (
                    sum(max(target[y] - b[y], 0) for y in cut),
                    sum(max(b[y] - target[y], 0) for y in off),
                    mass(b, cut) - inside(drafts, cut),
                )
                gap = mass(target, cut) + 1 - inside(drafts, cut) - sum(map(min, b, target))
                assert min(parts) >= 0
                assert gap == sum(parts)


def test_the_law_of_the_levels_is_feasible_and_optimal():
    """And that of one order where all levels are single tokens (Different, prop. 4)."""
    single = 0
    for drafts, target in instances(40, seed=2):
        found = levels(drafts, target)
        steps = [c for c, _ in found]
        assert steps == sorted(set(steps), reverse=True)
        b = [next(c for c, tokens in found if y in tokens) * target[y] for y in range(4)]
        assert sum(b) == 1
        assert all(mass(b, A) >= inside(drafts, A) for A in subsets(4))
        table = oracles.independent_table(drafts)
        assert sum(map(min, b, target)) == oracles.optimum(table, target)
        if len(found) == 4:
            groups = [tokens for _, tokens in found]
            assert b == law_of(drafts, groups, [(0, 1)] * 4)
            single += 1
    assert single >= 1


def test_pools_of_similar_ratios_lose_little():
    """A rule that looks at the pools only accepts α/κ at least (Different, prop. 5)."""
    lossless = 0
    pools = [(0, 1), (2, 3)]
    pairs = [(i, pool) for i in range(2) for pool in pools]
    for drafts, target in instances(12, seed=3):
        ratios = [[draft[y] / target[y] for y in range(4)] for draft in drafts]
        spread = max(max(row[y] / row[z] for y, z in (p, p[::-1])) for row in ratios for p in pools)
        laws = []
        for order in permutations(pairs):  # of the pairs of a draft and its pool, the last first
            law = [Fraction(0)] * 4
            for place, (i, pool) in enumerate(order):
                rate = sum(mass(drafts[1 - i], D) for j, D in order[:place] if j != i)
                for y in pool:
                    law[y] += rate * drafts[i][y]
            laws.append(law)
        alpha = oracles.optimum(oracles.independent_table(drafts), target)
        found = best_mixture(laws, target)
        assert alpha / spread <= found <= alpha
        top = levels(drafts, target)[0]
        if spread <= top[0] and len(top[1]) == 4:
            assert found == alpha
        lossless += found == alpha
    assert lossless >= 1


# One order of the tokens


def test_the_order_of_the_ratios_is_not_always_enough():
    drafts = [
        fractions("24/32", "6/32", "1/32", "1/32"),
        fractions("4/34", "18/34", "2/34", "10/34"),
    ]
    order = [1, 2, 3, 0]
    target = law_of(drafts, [[y] for y in order], [(0, 1)] * 4)
    assert target == [Fraction(mass, 272) for mass in (212, 27, 8, 25)]
    both = [sum(masses) for masses in zip(*drafts, strict=True)]
    by_ratio = sorted(range(4), key=lambda y: target[y] / both[y])
    assert by_ratio == [1, 3, 2, 0]
    assert oracles.optimum(oracles.independent_table(drafts), target) == 1
    assert best_mixture(laws_of_order(drafts, by_ratio), target) == Fraction(543, 544)
    assert best_mixture(laws_of_order(drafts, order), target) == 1


def test_equal_chances_need_another_order():
    drafts = [fractions("6/18", "1/18", "8/18", "3/18"), fractions("8/17", "2/17", 0, "7/17")]
    target = fractions("5/24", "3/24", "8/24", "8/24")
    both = [sum(masses) for masses in zip(*drafts, strict=True)]
    order = sorted(range(4), key=lambda y: target[y] / both[y])
    assert order == [0, 3, 1, 2]
    assert best_mixture(laws_of_order(drafts, order), target) == 1
    missed = 1 - best_mixture(laws_of_order(drafts, order, alike=True), target)
    assert round(float(missed), 3) == 0.004
    assert best_mixture(laws_of_order(drafts, [0, 3, 2, 1], alike=True), target) == 1


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_the_levels_is_enough_in_random_instances(k):
    n = 5 - k
    for drafts, target in instances(12, seed=4, n=n, k=k):
        order, below = [], []
        for _, tokens in levels(drafts, target):
            below += tokens
            rates = [prod(mass(d, below) for j, d in enumerate(drafts) if j != i) for i in range(k)]
            served = [sum(map(lambda r, d: r * d[y], rates, drafts)) for y in range(n)]
            order += sorted(tokens, key=lambda y: target[y] / served[y])
        optimum = oracles.optimum(oracles.independent_table(drafts), target)
        assert best_mixture(laws_of_order(drafts, order), target) == optimum


def best_of_pools(drafts, target, pools):
    """What the best mixture of priority orders of pools accepts."""
    laws = []
    for order in permutations(range(len(pools))):
        law = [Fraction(0)] * len(target)
        for x in product(range(len(target)), repeat=len(drafts)):
            places = [next(i for i, pool in enumerate(order) if y in pools[pool]) for y in x]
            first = [y for y, place in zip(x, places, strict=True) if place == min(places)]
            for y in first:
                chance = prod(draft[token] for draft, token in zip(drafts, x, strict=True))
                law[y] += chance / len(first)
        laws.append(law)
    solved = SOLVERS["rational"](_weighing(np.array(laws), np.array(target)))
    return solved.value


def test_the_best_mixture_of_pools_loses_no_more_than_the_ratios_vary():
    sharp = 0
    for drafts, target in instances(25, 911, n=4):
        best = min(mass(target, some) + 1 - inside(drafts, some) for some in subsets(4))
        pools = ([0, 1], [2], [3]), ([0, 2], [1, 3]), ([0, 1, 2, 3],)
        for each in pools:
            ratios = [[draft[y] / target[y] for y in pool] for pool in each for draft in drafts]
            varies = max(max(row) / min(row) for row in ratios)
            found = best_of_pools(drafts, target, each)
            assert best >= found >= best / varies
            sharp += found < best
    assert sharp > 20  # pools do cost something
