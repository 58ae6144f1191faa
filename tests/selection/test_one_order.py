"""One order of the tokens and random groups of it give every law of a selection.

Different, prop. 7.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from instances import fractions, weights
from numpy.random import default_rng
from one_order import groupings, in_first_group

import otspec

# The example of the page, on which q/(p₁ + p₂) gives no order that will do.
PAGE = (
    otspec.Independent([["24/32", "6/32", "1/32", "1/32"], ["4/34", "18/34", "2/34", "10/34"]]),
    fractions("212/272", "27/272", "8/272", "25/272"),
)


def selected(law, found):
    """The law of the selected token, by the definition."""
    total = [Fraction(0)] * law.n
    for x, mass in zip(*law.tuples(), strict=True):
        for weight, groups in found:
            first = in_first_group(x.tolist(), groups)
            for position in first:
                total[x[position]] += weight * mass / len(first)
    return total


def check(law, wanted):
    found = groupings(law, np.array(wanted))
    assert selected(law, found) == list(wanted)
    assert all(weight >= 0 for weight, _ in found)
    assert len(found) <= law.n
    order = [token for group in found[-1][1] for token in group]
    for _, groups in found:  # each joins neighbors of the last order
        joined = [sorted(group) for group in groups]
        ends = np.cumsum([0, *map(len, groups)])
        pieces = [sorted(order[start:end]) for start, end in pairwise(ends)]
        assert joined == pieces
    return found


def laws(seed):
    """Laws of two or three drafts over up to five tokens, from zeros to any joint law."""
    rng = default_rng(seed)
    n, k = int(rng.integers(1, 5)), int(rng.integers(2, 4))
    drafts = [weights(rng, n, 9, 0.3) for _ in range(k)]
    yield otspec.Independent(drafts)
    yield otspec.IID(drafts[0], k)
    joint = np.array(weights(rng, n * n, 5, 0.5)).reshape(n, n)
    yield otspec.Joint(joint)


@pytest.mark.parametrize("seed", range(12))
def test_one_order_gives_an_optimal_selection_for_every_law(seed):
    for law in laws(seed):
        target = weights(default_rng(100 + seed), law.n, 9, 0.2)
        best = otspec.optimal_acceptance(law, target)
        check(law, best.selection)


@pytest.mark.parametrize("seed", range(6))
def test_one_order_gives_any_selection(seed):
    for law in laws(50 + seed):
        rng = default_rng(seed)
        shares = weights(rng, 5, 9)  # a mixture of priority orders is any selection
        wanted = [Fraction(0)] * law.n
        for share in shares:
            order = rng.permutation(law.n)
            inside = oracles.inside_prefixes(
                dict(zip(map(tuple, law.tuples()[0].tolist()), law.tuples()[1], strict=True)), order
            )
            for token, mass in zip(order, np.diff(inside), strict=True):
                wanted[token] += share * mass
        check(law, wanted)


def test_the_example_of_the_page_is_accepted_in_full():
    law, target = PAGE
    assert otspec.optimal_acceptance(law, target).acceptance == 1
    found = check(law, target)

    def verify(drafts, chance):
        groups = found[chance.choose([weight for weight, _ in found])][1]
        first = in_first_group(drafts, groups)
        return first[chance.choose([1] * len(first))]

    report = otspec.audit(verify, law=law, target=target)
    assert (report.lossless, report.acceptance) == (True, 1)
