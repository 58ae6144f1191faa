"""Pooled selection of distinct drafts whose masses are subnormal: what a group selects."""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations

import numpy as np
import pytest
from instances import EPS, extreme_pairs, shares

from otspec.rules import RULES, PairRule, PooledSelection, PooledSelectionWithoutReplacement
from otspec.rules.pooled.exponential_clocks import ClockedDrafts
from otspec.rules.pooled.partitions import Graded


def chance_of(x, draft):
    """The probability that these distinct drafts are drawn, in this order."""
    chance, left = Fraction(1), Fraction(1)
    for token in x:
        chance *= draft[token] / left
        left -= draft[token]
    return chance


def by_graded(rule, x, start, end):
    """What is selected by the pools start to end − 1, and the draft mass of each token there."""
    tokens, pools = np.array(x), rule._pools
    edges = (0, start), (start, end), (end, len(rule.knots) - 1)
    parts = [pools.between(tokens, *each) for each in edges]
    lefts = np.array([rule._left(x[:arrived]) for arrived in range(len(x) + 1)])
    arrived = ClockedDrafts(pools.tokens[tokens], pools.counted_once(tokens), lefts)
    return arrived.shares(*parts, *rule._above_and_in(start, end))


def by_pools(rule, x, start, end):
    if not start <= max(rule.pool[list(x)]) < end:
        return np.zeros(len(x))
    return rule._shares_in(x, start, end)


@pytest.mark.parametrize("pools", [Graded(2), Graded(6), Graded(3, heavy=1), "tokens", 2])
def test_a_group_selects_its_tokens_in_proportion_to_the_draft(pools):
    """Over all orders of the drafts, whatever the masses (Beyond, prop. 2 and 6).

    A share is rounded some k² times, so that what is selected of a token is wrong by that many
    roundings of the probability that it is drafted.
    """
    looked = 0
    for draft, target in extreme_pairs(930, 40, 4, fewest=3):
        n, k = len(draft), 2 + looked % 2
        if sum(mass > 0 for mass in draft) <= k:
            continue
        looked += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rule = PooledSelectionWithoutReplacement(draft, target, k, pools)
            exact = shares(rule.draft.tolist())
            graded = isinstance(pools, Graded)
            drawn = [y for y in range(n) if exact[y]]
            chances = {x: chance_of(x, exact) for x in permutations(drawn, k)}
            drafted = [sum(chances[x] for x in chances if y in x) for y in range(n)]
            for start, end in combinations(range(len(rule.knots)), 2):
                selected = [Fraction(0)] * n
                for x, chance in chances.items():
                    some = (by_graded if graded else by_pools)(rule, x, start, end)
                    for token, share in zip(x, some.tolist(), strict=True):
                        selected[token] += chance * Fraction(share)
                inside = [Fraction(0)] * n
                for y in drawn:
                    lower = Fraction(float(rule._pools.part[y])) if graded else Fraction(0)
                    places = (
                        (rule._pools.index[y], 1 - lower),
                        ((rule._pools.upper[y], lower) if graded else (0, 0)),
                    )
                    inside[y] = exact[y] * sum(part for at, part in places if start <= at < end)
                group = sum(inside)
                if not group:
                    continue
                total = sum(selected)
                for y in range(n):
                    allowed = 32 * k**2 * EPS * float(drafted[y] + inside[y] / group * k)
                    assert abs(float(selected[y] - total * inside[y] / group)) <= allowed
    assert looked > 5


GRADED = partial(PooledSelectionWithoutReplacement, pools=Graded(3))
RULES_FOR_PAIRS = {
    **{rule.name: rule for rule in RULES.values() if issubclass(rule, PairRule)},
    "graded pools, distinct drafts": GRADED,
    "graded pools": partial(PooledSelection, pools=Graded(3)),
}


@pytest.mark.parametrize("name", RULES_FOR_PAIRS)
def test_numbers_of_tokens_do_not_matter(name):
    """A draft and a target over tokens in another order: the same acceptance, without a warning."""
    rng, looked = np.random.default_rng(931), 0
    k = 1 if name == "maximal-coupling" else 2
    for draft, target in extreme_pairs(932, 30, 5):
        order, n = rng.permutation(len(draft)), len(draft)
        moved = [np.array(each)[order] for each in (draft, target)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                rule = RULES_FOR_PAIRS[name](draft, target, k=k)
            except ValueError:  # fewer tokens than distinct drafts
                continue
            found = [rule.acceptance(), RULES_FOR_PAIRS[name](*moved, k=k).acceptance()]
        looked += 1
        # Each is a sum of n masses for each of n² drafts, and a quadrature that is right to 1e-15.
        assert abs(found[0] - found[1]) <= 2 * (n**3 * EPS + 1e-15)
    assert looked > 5
