"""The order of target/draft, where floats cannot hold the ratios either."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from each_case import each
from instances import EPS, extreme_pairs, floats, pairs
from searching import of_all

from otspec import ratios
from otspec.distributions import as_pair
from otspec.optimum.pools.pools import by_token

SMALLEST = 5e-324

# Each list of (draft, target) ascends by target/draft, strictly.
ASCENDING = {
    "beyond the largest float": [(6e-310, 0.1), (3e-310, 0.2), (1e-310, 0.6)],
    "one target mass": [(3 * SMALLEST, 0.5), (2 * SMALLEST, 0.5), (SMALLEST, 0.5)],
    "one subnormal draft mass": [(1e-310, 0.25), (1e-310, 0.5), (1e-310, 1.0)],
    "drafted before undrafted": [(SMALLEST, 1.0), (0.0, 0.5)],
    "quotients round to the smallest float": [(1.0, SMALLEST), (0.75, SMALLEST), (0.7, SMALLEST)],
    "a zero before an underflow": [(1.0, 0.0), (1.0, SMALLEST), (0.5, SMALLEST)],
    "both subnormal": [(4e-310, 1e-310), (3e-310, 1e-310), (3e-310, 2e-310), (1e-310, 1e-310)],
    "both ends": [
        (1.0, 0.0),
        (0.9, SMALLEST),
        (0.6, SMALLEST),
        (0.5, 2.0**-1022),
        (0.5, 0.1),
        (2.0**-1023, 0.5),
        (2.0**-1024, 0.5),  # 2^1023, the largest power of two among floats
        (2.0**-1024, 0.625),
        (SMALLEST, 0.625),
        (0.0, 0.0),
    ],
}


@each("shuffle", range(5))
@each("name", ASCENDING)
def test_ratios_are_told_apart_wherever_they_lie(name, shuffle):
    known = np.array(ASCENDING[name])
    moved = np.random.default_rng(shuffle).permutation(len(known))
    draft, target = known[moved].T.copy()
    order, _, first = ratios.ranked(draft, target)
    assert moved[order].tolist() == list(range(len(known)))
    assert first.all()
    assert ratios.order(draft, target).tolist() == order.tolist()


def test_the_order_of_floats_is_that_of_the_fractions_that_they_are():
    beyond = 0
    for draft, target in extreme_pairs(800, 1_000, 9):
        p, q = as_pair(draft, target)
        order, _, first = ratios.ranked(p, q)
        assert sorted(order.tolist()) == list(range(len(p)))
        drafted = int((p > 0).sum())
        assert (p[order[drafted:]] == 0).all()
        exact = [Fraction(q[token]) / Fraction(p[token]) for token in order[:drafted].tolist()]
        beyond += sum(ratio > Fraction(np.finfo(float).max) for ratio in exact) > 1
        for j in range(1, drafted):
            # Two quotients are each rounded by at most eps/2, in proportion.
            assert exact[j - 1] <= exact[j] * (1 + Fraction(EPS))
            if first[j]:
                assert exact[j - 1] < exact[j]
            else:
                assert exact[j] - exact[j - 1] <= exact[j] * Fraction(EPS)
    assert beyond > of_all(100)


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_common_ratios_are_ordered_and_tied_as_they_are(arithmetic):
    for draft, target in pairs(801, 160, 8):
        p, q = as_pair(arithmetic(draft), arithmetic(target))
        order, found, first = ratios.ranked(p, q)
        keys = [np.inf if p[y] == 0 else q[y] / p[y] for y in order.tolist()]
        assert keys == sorted(keys) == found.tolist()
        assert first.tolist() == [j == 0 or keys[j] != keys[j - 1] for j in range(len(keys))]


def test_tokens_of_different_ratios_beyond_the_floats_are_different_pools():
    draft = np.array([1.0, 1e-310, 2e-310, 3e-310, 0.0])
    target = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    pools = by_token(draft, target)
    assert pools.index[:4].tolist() == [0, 2, 2, 1]  # 0.2 / 1e-310 ties with 0.4 / 2e-310
    assert pools.draft.tolist() == [1.0, 3e-310, 1e-310 + 2e-310]
