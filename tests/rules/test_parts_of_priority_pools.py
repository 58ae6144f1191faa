"""The parts of priority mixtures of pools, each with numbers that were worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import oracles
import pytest
from instances import fractions, pairs

import otspec
from otspec.rules.priority import cut_pools, order_search, pooled_mixtures
from otspec.rules.priority.cut_pools import CutPool

DRAFTS = np.array(
    [fractions("1/2", "1/4", "1/4", "0", "0"), fractions("1/4", "1/2", "0", "1/4", "0")]
)
TARGET = np.array(fractions("1/4", "3/8", "1/8", "1/8", "1/8"))
RATES = np.array(fractions("1/2", "1"))


def row(*texts):
    return list(fractions(*texts))


def pool(tokens, inside, rates=RATES):
    return CutPool(np.array(tokens), inside, DRAFTS, TARGET, rates)


def test_what_a_set_costs_and_what_it_rises_by():
    members = np.array([True, False, True, False, True])
    assert cut_pools.masses(DRAFTS, members).tolist() == row("3/4", "1/4")
    assert cut_pools.cut_value(DRAFTS, TARGET, members) == Fraction(1, 2) - Fraction(3, 16)
    three = np.array([[Fraction(1, i + 2)] for i in range(3)])
    low = np.array([[Fraction(i, 5)] for i in range(3)])
    # (0 + 1/2)(1/5 + 1/3)(2/5 + 1/4) − 0
    assert cut_pools.rises(low, three).tolist() == [
        Fraction(1, 2) * Fraction(8, 15) * Fraction(13, 20)
    ]
    # (1 + 1/2)(2 + 1/3)(3 + 1/4) − 6
    low = np.array([[Fraction(i + 1)] for i in range(3)])
    assert cut_pools.rises(low, three).tolist() == [Fraction(43, 8)]


def test_of_equal_cuts_the_first_is_taken():
    first, second = np.array([True, False]), np.array([False, True])
    half = np.array([fractions("1/2", "1/2")])
    for target, wanted in (("1/2 1/2", first), ("5/8 3/8", second), ("3/8 5/8", first)):
        law = np.array(fractions(*target.split()))
        assert cut_pools.lower_cut(half, law, first, second) is wanted


def test_a_set_settles_where_no_single_move_improves_it():
    """From every set: a token leaves, or joins, only where the cut gets lower."""
    moved = 0
    for draft, target in pairs(31, 30, 4):
        others = [draft[::-1], draft, target][: 1 + len(draft) % 3]
        drafts = [draft, *others]
        n = len(target)
        values = oracles.cut_values(oracles.independent_table(drafts), target)
        for members in product((False, True), repeat=n):
            start = sum(1 << y for y in range(n) if members[y])
            found = cut_pools.settled(np.array(drafts), np.array(target), np.array(members))
            end = sum(1 << y for y in range(n) if found[y])
            assert values[end] <= values[start]
            assert all(values[end] <= values[end ^ 1 << y] for y in range(n))
            if end != start:
                assert values[end] < values[start]
                moved += 1
    assert moved > 50


def test_a_pool_asks_for_what_its_neediest_or_fullest_token_does():
    # Σ c_i p_i is 1/2, 5/8, 1/8, 1/4, 0, and the target over it 1/2, 3/5, 1, 1/2, 0.
    assert pool([0, 1], inside=True).demand == Fraction(3, 5) * Fraction(9, 8)
    assert pool([0, 1], inside=False).demand == Fraction(1, 2) * Fraction(9, 8)
    assert pool([1, 2, 3], inside=True).demand == 1
    assert pool([1, 2, 3], inside=False).demand == Fraction(1, 2)
    # Nothing is served of token 4, whatever it wants.
    assert pool([2, 4], inside=True).demand == Fraction(1, 8)
    assert pool([2, 4], inside=False).demand == 0


def test_a_pool_loses_what_is_below_the_target_inside_and_above_it_outside():
    law = np.array(fractions("1/8", "5/8", "1/4", "0", "0"))
    assert pool([0, 1, 2], inside=True).loss(law) == Fraction(1, 8)
    assert pool([0, 1, 2], inside=False).loss(law) == Fraction(3, 8)


@pytest.mark.parametrize(
    ("tokens", "inside", "gain", "parts"),
    [
        # In order 0, 1, 2: (1 − 1/2)/2 or (1 − 3/5) 9/8.
        ([0, 1, 2], True, "9/20", ([0, 1], [2])),
        # (3/5 − 1/2) 3/4 or (1 − 1/2)/8.
        ([0, 1, 2], False, "3/40", ([0], [1, 2])),
        # In order 0, 3, 1: (3/5 − 1/2) of 1/2 or 3/4; nothing or (3/5 − 1/2) 5/8.
        ([0, 1, 3], True, "3/40", ([0, 3], [1])),
        ([0, 1, 3], False, "1/16", ([0, 3], [1])),
        ([0, 3], True, "0", ([0], [3])),
        ([3], True, "0", ()),
    ],
)
def test_a_pool_is_split_where_most_is_gained(tokens, inside, gain, parts):
    found, split = pool(tokens, inside).split
    assert found == Fraction(gain)
    assert tuple(part.tolist() for part in split) == parts


def test_pools_of_two_sides_hold_what_can_be_drafted():
    cut = np.array([True, False, True, False, True])
    inside, outside = cut_pools.sides(DRAFTS, TARGET, cut, np.array(fractions("0", "1/2")))
    assert (inside.tokens.tolist(), inside.inside) == ([0, 2], True)
    assert (outside.tokens.tolist(), outside.inside) == ([1, 3], False)
    # Nothing is known of a draft that is never selected: it counts fully.
    assert inside.rates.tolist() == outside.rates.tolist() == row("1", "1/2")
    (single,) = cut_pools.sides(DRAFTS, TARGET, np.arange(5) < 4, RATES)
    assert (single.tokens.tolist(), single.inside) == ([0, 1, 2, 3], True)


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (2, [[0, 1, 2], [3, 1]]),
        (3, [[0, 1], [3, 1], [2]]),  # 9/20 and not 1/16
        (4, [[0, 1], [3], [2], [1]]),  # 1/16 and not 1/20, of 0 and 1
        (5, [[0], [3], [2], [1], [1]]),
        (9, [[0], [3], [2], [1], [1]]),
    ],
)
def test_pools_are_split_by_descending_gain(most, wanted):
    found = cut_pools.refined([pool([0, 1, 2], True), pool([3, 1], False)], [0, 1], most)
    assert [each.tokens.tolist() for each in found] == wanted


def test_only_the_named_pools_are_split():
    given = [pool([0, 1, 2], True), pool([3, 1], False)]
    found = cut_pools.refined(given, [1], 9)
    assert [each.tokens.tolist() for each in found] == [[0, 1, 2], [3], [1]]
    assert cut_pools.refined(given, [], 9) == given


def test_levels_are_the_target_and_the_demand_of_each_side():
    found = pooled_mixtures.levels([pool([0, 1], True), pool([1, 3], False)])
    # Inside 5/8 is the target and 27/40 the demand; outside 1/2 and 7/16.
    assert found.tolist() == [row("5/8", "7/16"), row("27/40", "1/2")]


def test_finer_pools_of_one_come_together_in_its_place():
    pools = np.array([0, 0, 1, 1, 0])
    mixture = order_search.Mixture(np.array([[1, 0], [0, 1]]), *[None] * 5, pools)
    finer = [pool([0], True), pool([2, 3], False), pool([1], True)]
    assert pooled_mixtures._expanded(mixture, finer).tolist() == [[1, 0, 2], [0, 2, 1]]
    assert pooled_mixtures._labels(finer, 5).tolist() == [0, 2, 1, 1, 0]


def test_pools_that_lose_are_split_before_others():
    """Those that lose half of the mean or more; if none can be, all."""
    rates = np.array([RATES, RATES, RATES]).T
    given = [pool([0, 1, 2], True), pool([1, 3], False), pool([4], False)]

    def tokens(law, size):
        found = pooled_mixtures._finer(given, np.array(fractions(*law.split())), rates, size)
        return [each.tokens.tolist() for each in found]

    # Losses 0, 1/8 and 0.
    assert tokens("1/2 3/8 1/8 1/4 0", 9) == [[0, 1, 2], [3], [4], [1]]
    # Losses 1/16, 3/16, 1/8, whose half mean is 1/16; then 1/32, which is less.
    assert tokens("3/16 1/2 1/8 3/16 1/4", 9) == [[0], [3], [4], [2], [1], [1]]
    assert tokens("7/32 1/2 1/8 3/16 1/4", 9) == [[0, 1, 2], [3], [4], [1]]
    # Only the last loses, and it is a single token.
    assert tokens("1/4 3/8 1/8 0 1/4", 4) == [[0, 1], [1, 3], [4], [2]]


def test_the_first_order_puts_first_what_is_wanted_most():
    law, levels = otspec.Independent(DRAFTS[:, :4]), TARGET[None, [2, 0, 1, 3]]
    found, added = pooled_mixtures._round(law, levels, np.empty((0, 0), dtype=np.intp), 1)
    assert (found.orders.tolist(), found.weights.tolist(), added) == ([[2, 1, 0, 3]], [1], 1)
    # Known orders are no new ones; beside that of the prices one more is added.
    found, added = pooled_mixtures._round(law, levels, np.array([[2, 1, 0, 3]]), 2)
    assert added == 2


def test_prices_order_tokens_and_what_is_served_least_those_of_one_price():
    found = order_search._by_price(np.array([1, 2, 2, 3]), np.array([0, 3, 1, 9]))
    assert found.tolist() == [3, 2, 1, 0]


def test_an_order_that_is_added_has_a_law_and_a_cut():
    law = otspec.Independent(DRAFTS[:, :4])
    levels = np.array([row("1/8", "3/8", "1/8", "3/8"), row("1/2", "1/8", "1/8", "1/8")])
    search = order_search.OrderSearch(law, levels)
    assert search.wanted.tolist() == row("5/16", "1/4", "1/8", "1/4")
    # Both drafts are 3 with the chance 0, 1 or 3 with 3/16, none is 0 with 3/8.
    assert search.add(np.array([0, 2, 1, 3])).tolist() == row("5/8", "3/16", "3/16", "0")
    # The first level of these sets and the chance of a draft outside: 11/8, 25/16, 3/2, 1.
    assert (search.bound, search.cut.tolist()) == (1, [])
    # Now {0}, {0, 1}, {0, 1, 2} with 1/8, 9/16, 3/4, and sums 1, 15/16, 7/8.
    assert search.add(np.array([3, 2, 1, 0])).tolist() == row("1/8", "7/16", "3/16", "1/4")
    assert (search.bound, search.cut.tolist()) == (Fraction(7, 8), [0, 1, 2])


def test_orders_after_that_of_the_prices_follow_a_mean_of_laws():
    """The r-th order moves the mean to its law by 2/(r + 2): what is served least comes first."""
    law = otspec.IID(row("1/2", "1/2"), 2)
    search = order_search.OrderSearch(law, np.array([row("5/8", "3/8")]))
    first = search.add(np.array([0, 1]))
    assert first.tolist() == row("3/4", "1/4")
    search.explore(order_search.Weighed(None, None, first, np.array(row("1", "2"))), 5)
    # Means of token 0: 3/4, 11/20, 37/60, 55/84, 31/56; it is served less than it wants below 5/8.
    assert [order[0] for order in search.orders[1:]] == [1, 1, 0, 0, 1, 0]
