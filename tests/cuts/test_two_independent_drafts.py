"""Two independent, non-identical drafts: where sorting fails and half-planes do not.

Theory, 12 and 43.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from instances import EPS, KINDS, floats, fractions, pair, weights
from searching import NIGHTLY, enough

import otspec
from otspec.optimum.cuts import halfplanes, minimum
from otspec.optimum.cuts.halfplanes import _Search, bound_by_prices

# The two drafts and the target of the smallest instance found on which sorting fails.
FIRST = fractions(0, "1/3", "1/6", "1/2")
SECOND = fractions("4/5", "1/5", 0, 0)
TARGET = fractions(0, "3/8", "1/8", "1/2")


def cut_value(drafts, target, members):
    """q(A) + 1 − p₁(A) p₂(A), exactly for the numbers given."""
    first, second, cost = (sum(Fraction(law[y]) for y in members) for law in (*drafts, target))
    return cost + 1 - first * second


def least_cut(drafts, target):
    """The least cut over all 2^n token sets, exactly for the numbers given."""
    table = oracles.independent_table([[Fraction(mass) for mass in law] for law in drafts])
    return oracles.optimum(table, [Fraction(mass) for mass in target])


def triples(seed, count, most_tokens):
    """:func:`enough` of ``count`` drafts and targets of every kind; the second has every twist."""
    rng = np.random.default_rng(seed)
    for index in range(enough(count, 40)):  # of all kinds and twists
        n = int(rng.integers(1, most_tokens + 1))
        first, target = pair(rng, n, KINDS[index % len(KINDS)])
        second = {
            0: weights(rng, n, 12),
            1: weights(rng, n, 3, 0.4),
            2: first,
            3: target,
            4: first[::-1],
        }[index % 5]
        yield (first, second), target


def split_in_two(distribution, token):
    """Replace a token by two of half its mass: the same ratios twice."""
    half = distribution[token] / 2
    return (*distribution[:token], half, half, *distribution[token + 1 :])


def test_no_fixed_order_by_ratio_is_enough():
    table = oracles.independent_table([FIRST, SECOND])
    mean = tuple((a + b) / 2 for a, b in zip(FIRST, SECOND, strict=True))
    best = otspec.optimal_acceptance(otspec.Independent([FIRST, SECOND]), TARGET)
    assert best.acceptance == oracles.optimum(table, TARGET)
    for draft in (FIRST, SECOND, mean):
        drafted = [y for y in range(4) if draft[y] > 0]
        ratios = [TARGET[y] / draft[y] for y in drafted]
        assert len(set(ratios)) == len(ratios)  # ties would leave the order open
        order = oracles.by_ratio(draft, TARGET)
        assert oracles.best_prefix(table, TARGET, order) > best.acceptance


def test_exact_optimum_is_the_least_cut():
    for drafts, target in triples(30, 320, 8 if NIGHTLY else 6):
        best = otspec.optimal_acceptance(otspec.Independent(drafts), target)
        assert type(best.acceptance) is Fraction
        assert best.acceptance == least_cut(drafts, target)
        best.check()


def test_swapping_the_drafts_changes_nothing():
    for drafts, target in triples(31, 100, 7):
        best = otspec.optimal_acceptance(otspec.Independent(drafts), target)
        swapped = otspec.optimal_acceptance(otspec.Independent(drafts[::-1]), target)
        assert swapped.acceptance == best.acceptance


def test_identical_drafts_are_two_iid_drafts():
    for (draft, _), target in triples(32, 100, 7):
        best = otspec.optimal_acceptance(otspec.Independent([draft, draft]), target)
        iid = otspec.optimal_acceptance(otspec.IID(draft, 2), target)
        assert best.acceptance == iid.acceptance


def test_proportional_tokens_change_nothing():
    for drafts, target in triples(33, 60, 6):
        best = otspec.optimal_acceptance(otspec.Independent(drafts), target)
        token = len(target) // 2
        doubled = [split_in_two(law, token) for law in (*drafts, target)]
        again = otspec.optimal_acceptance(otspec.Independent(doubled[:2]), doubled[2])
        assert again.acceptance == best.acceptance


@pytest.mark.parametrize("seed", range(4))
def test_the_float_cut_is_minimal_for_the_floats_given(seed):
    for drafts, target in triples(34 + seed, 40, 7):
        n = len(target)
        law = otspec.Independent([floats(draft) for draft in drafts])
        best = otspec.optimal_acceptance(law, floats(target))
        # Three sums of n terms and one product: 3n + 2 roundings of at most eps/2 each, once when
        # the cut is chosen and once for each of the two values that are compared.
        allowed = 2 * (3 * n + 2) * EPS
        least = least_cut(law.drafts, best.target)
        assert cut_value(law.drafts, best.target, best.cut) - least <= allowed
        assert abs(best.acceptance - least) <= allowed
        by_flow = minimum.by_max_flow(law, best.target)
        assert abs(cut_value(law.drafts, best.target, by_flow) - least) <= allowed


def test_tokens_within_rounding_of_a_line_do_no_harm():
    rng = np.random.default_rng(38)
    for _ in range(100):
        n = int(rng.integers(2, 8))
        first, second = rng.dirichlet(np.ones(n), 2)
        slopes = rng.choice([0.3, 0.7, 1.0], 2)
        blurred = (slopes @ [first, second]) * (1 + EPS * rng.integers(-2, 3, n))
        law = otspec.Independent([first, second])
        best = otspec.optimal_acceptance(law, blurred, normalize=True)
        least = least_cut(law.drafts, best.target)
        assert cut_value(law.drafts, best.target, best.cut) - least <= 2 * (3 * n + 2) * EPS


def test_float_weights_over_many_decades():
    rng = np.random.default_rng(39)
    for _ in range(60):
        n = int(rng.integers(2, 8))
        laws = [10.0 ** rng.integers(-30, 1, n) for _ in range(3)]
        laws = [otspec.distributions.as_distribution(law, normalize=True) for law in laws]
        best = otspec.optimal_acceptance(otspec.Independent(laws[:2]), laws[2])
        least = least_cut(laws[:2], laws[2])
        assert cut_value(laws[:2], laws[2], best.cut) - least <= 2 * (3 * n + 2) * EPS
        best.check()


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_the_empty_set_and_everything_can_be_minimal(arithmetic):
    equal = arithmetic(fractions("1/2", "1/2"))
    best = otspec.optimal_acceptance(otspec.Independent([equal, equal]), equal)
    assert best.acceptance == 1
    elsewhere = arithmetic(fractions(1, 0))
    best = otspec.optimal_acceptance(
        otspec.Independent([elsewhere] * 2), arithmetic(fractions(0, 1))
    )
    assert (best.acceptance, best.cut) == (0, (0,))


def test_a_real_vocabulary_is_solved_to_local_optimality_between_the_bounds():
    rng, n = np.random.default_rng(40), 2000
    logits = rng.normal(size=(3, n)) * 2
    logits[1] += logits[0]
    logits[2] += logits[0] + logits[1] / 2
    first, second, target = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    best = otspec.optimal_acceptance(otspec.Independent([first, second]), target)
    best.check()
    # Two values of sums of n terms are compared below.
    slack = 2 * (3 * n + 2) * EPS
    single = max(np.minimum(draft, target).sum() for draft in (first, second))
    assert single - slack <= best.acceptance <= 1
    for slopes in rng.random((400, 2)):
        chosen = target <= slopes @ [first, second]
        bound = target[chosen].sum() + 1 - first[chosen].sum() * second[chosen].sum()
        assert best.acceptance <= bound + slack
    inside = np.isin(np.arange(n), best.cut)
    sign = np.where(inside, -1, 1)
    mass_first = first[inside].sum() + sign * first
    mass_second = second[inside].sum() + sign * second
    neighbors = target[inside].sum() + sign * target + 1 - mass_first * mass_second
    assert neighbors.min() >= best.acceptance - slack


def test_the_half_plane_search_returns_ascending_token_ids():
    cut = halfplanes.best_halfplane(*(np.array(law) for law in (FIRST, SECOND, TARGET)))
    assert cut.tolist() == sorted(cut.tolist())
    assert cut_value((FIRST, SECOND), TARGET, cut) == least_cut((FIRST, SECOND), TARGET)


def inner(first, second, target, sigma):
    """C(σ): the most over δ, at a break of the sum or where the derivative is 0 between two."""

    def value(delta):
        margins = (
            sigma * (one + other) / 2 - delta * (one - other) / 2 - cost
            for one, other, cost in zip(first, second, target, strict=True)
        )
        return -delta * delta / 4 - sum(max(0, margin) for margin in margins)

    lines = zip(first, second, target, strict=True)
    breaks = {(sigma * (a + b) - 2 * c) / (a - b) for a, b, c in lines if a != b}
    breaks = sorted({Fraction(-1), Fraction(1), *(each for each in breaks if abs(each) < 1)})
    found = [value(delta) for delta in breaks]
    for low, high in pairwise(breaks):
        # The derivative is linear in between: −δ/2 and a constant.
        slope = (value(high) - value(low)) / (high - low) + (high + low) / 4
        found.append(value(min(max(2 * slope, low), high)))
    return max(found)


def test_the_values_of_the_search_are_the_most_over_delta():
    for drafts, target in triples(41, 60, 6):
        pair = [np.array(law) for law in (*drafts, target)]
        for point in _Search(*pair).points:
            assert point.value == inner(*drafts, target, point.sigma)


def test_prices_alone_prove_that_no_cut_is_lower():
    tight = 0
    for drafts, target in triples(42, 80, 6):
        pair = [np.array(law) for law in (*drafts, target)]
        search = _Search(*pair)
        least = least_cut(drafts, target) - 1
        assert bound_by_prices(*pair, search.prices) <= least == search.least
        tight += search.proved
        if search.proved:
            assert bound_by_prices(*pair, search.prices) == least
    assert tight > enough(80, 40) / 2
    wrong = search.prices.copy()
    wrong[:, 0] = search.prices[:, 1]  # any prices are a bound, if not a good one
    assert bound_by_prices(*pair, wrong[np.argsort(wrong.sum(axis=1))]) <= least


def test_ties_all_over_an_interval_are_settled_along_their_lines(monkeypatch):
    monkeypatch.setattr(halfplanes, "MOST", 3)
    settled = 0
    for drafts, target in triples(43, 80, 6):
        search = _Search(*(np.array(law) for law in (*drafts, target)))
        assert search.least == least_cut(drafts, target) - 1
        settled += len(search.lines) > 0
    assert settled > enough(80, 40) / 4


def test_a_changed_cut_of_many_tokens_is_refused_by_prices():
    rng = np.random.default_rng(44)
    first, second, target = rng.dirichlet(np.full(150, 0.3), 3)
    best = otspec.optimal_acceptance(otspec.Independent([first, second]), target)
    assert best.selection is None
    best.check()
    cut = best.cut[1:]
    bound = otspec.optimum.Optimum(best.law, best.target, best.acceptance, cut).bound
    with pytest.raises(ValueError, match="prices show"):
        otspec.optimum.Optimum(best.law, best.target, bound, cut).check()


def test_a_full_vocabulary_takes_a_few_sorts():
    trace = otspec.datasets.load_smollm2()
    cold, warm = (list(trace.pairs(draft_temperature=t))[3] for t in (0.6, 1.5))
    law, target = otspec.Independent([cold[1], warm[1]]), cold[2]
    search = _Search(*law.drafts, target)
    assert (len(search.points) <= 20, len(search.lines)) == (True, 0)
    mixture = otspec.rules.PriorityMixture(law, target, gap=1e-3, pools=128).mixture
    assert mixture.accepted - 1e-9 <= 1 + search.least <= mixture.bound + 1e-9


def test_the_sets_of_rising_prices_are_no_chain():
    weights_of = (
        (28, 4, 17, 72, 7, 337, 40, 129, 46, 181, 141),
        (10, 32, 159, 5, 2, 32, 187, 520, 28, 19, 5),
        (3, 262, 9, 13, 18, 227, 10, 54, 110, 289, 3),
    )
    laws = [np.array([Fraction(w, sum(row)) for w in row]) for row in weights_of]
    search, found = _Search(*laws), []
    for sigma in (Fraction(213, 1000), Fraction(359, 1000)):
        reach = sigma * (laws[0] + laws[1]) - 2 * laws[2]
        (members,), _ = search._balance(reach, reach)
        found.append(np.flatnonzero(members).tolist())
    # Token 2 joins before token 3 does, and leaves when 3 and 7 come.
    assert found == [[0, 2, 6, 10], [0, 3, 6, 7, 10]]
