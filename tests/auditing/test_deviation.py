"""How far counts deviate by chance: exact moments, bounds of small laws, and rates of p-values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, chi2, multinomial, poisson

from otspec.auditing import deviation
from otspec.auditing.deviation import (
    BEYOND,
    ENOUGH,
    SIMULATIONS,
    cumulants,
    deviations,
    p_value,
    simulated,
    tail_bound,
)

CERTAINTY = 1e-6
"""How likely each simulation below is to fail for code that keeps its promises."""
LAWS = [
    ([1.0], 5),
    ([0.5, 0.5], 1),
    ([0.2, 0.8], 40),
    ([0.999, 0.001], 60),
    ([0.5, 0.3, 0.2, 0.0], 12),
    ([0.9, 0.09, 0.01], 15),
]


def all_counts(law, size):
    """Every array of counts with its probability."""
    ranges = itertools.product(range(size + 1), repeat=len(law) - 1)
    rows = np.array([(*head, size - sum(head)) for head in ranges if sum(head) <= size])
    return rows, multinomial.pmf(rows, size, law)


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 40.0])
def test_the_moments_of_one_count_are_those_of_its_law(mean):
    counts = np.arange(300)  # more have no chance that a float shows
    mass, values = poisson.pmf(counts, mean), (counts - mean) ** 2 / (mean + 1)
    first = mass @ values
    central = [float(mass @ (values - first) ** r) for r in range(7)]
    wanted = [
        first, central[2], central[3], central[4] - 3 * central[2] ** 2,
        central[5] - 10 * central[3] * central[2],
        central[6] - 15 * central[4] * central[2] - 10 * central[3] ** 2 + 30 * central[2] ** 3,
    ]  # fmt: skip
    found = cumulants(np.array([mean]))
    # A million roundings of what cancels, which is at most the sixth moment.
    assert np.abs(found[1:7] - wanted).max() <= 1e6 * np.finfo(float).eps * max(central)


def test_many_large_counts_deviate_by_the_law_of_chi_squared():
    found = cumulants(np.full(50, 1e7))
    orders = np.arange(1, len(found))
    exact = [50 * 2 ** (r - 1) * math.factorial(r - 1) for r in orders.tolist()]
    # Off by about r²/mean in relation.
    assert (np.abs(found[1:] / exact - 1) <= 1e-4).all()


@pytest.mark.parametrize(("law", "size"), LAWS)
def test_no_tail_is_heavier_than_its_bound(law, size):
    law = np.array(law)
    rows, mass = all_counts(law, size)
    found, known = deviations(rows, size * law), cumulants(size * law)
    for value in np.unique(found):
        # The chances themselves are off by some of their roundings.
        assert mass[found >= value].sum() <= tail_bound(value, known, size) * (1 + 1e-12)


def test_the_bound_of_a_large_sample_settles_what_is_thirteen_deviations_away():
    size, cells = 10**6, 32_000
    known = cumulants(np.full(cells, size / cells))
    near, far = (known[1] + z * math.sqrt(known[2]) for z in (1, 13.5))
    assert tail_bound(near, known, size) == 1
    assert chi2.sf(far, cells) < tail_bound(far, known, size) <= BEYOND


@pytest.mark.parametrize(
    ("law", "size"), [([0.3, 0.7], 25), ([0.3, 0.7, *[0.0] * 20], 25), ([0.02, *[0.49] * 2], 8)]
)
def test_simulated_counts_have_their_law(law, size):
    rng, law = np.random.default_rng(3), np.array(law)
    drawn = np.concatenate(list(simulated(law, size, rng)))
    assert drawn.shape == (SIMULATIONS, len(law))
    assert (drawn.sum(axis=1) == size).all()
    for cell, mass in enumerate(law[:3]):
        for count in range(size + 1):
            chance = binom.pmf(count, size, mass)
            seen = (drawn[:, cell] == count).sum()
            rate = CERTAINTY / 200
            low, high = binom.ppf(rate, SIMULATIONS, chance), binom.isf(rate, SIMULATIONS, chance)
            assert low <= seen <= high


def test_a_large_sample_of_many_cells_is_simulated_whole(monkeypatch):
    monkeypatch.setattr(deviation, "SIMULATIONS", 60)
    law = 1 / np.arange(1, 2_001)
    law /= law.sum()
    drawn = np.concatenate(list(simulated(law, 10**6, np.random.default_rng(4))))
    assert drawn.shape == (60, 2_000)
    assert (drawn.sum(axis=1) == 10**6).all()
    # The sum of 60 rows is multinomial; so is each of its cells binomial.
    sums, rate = drawn.sum(axis=0), CERTAINTY / 4_000
    assert (binom.ppf(rate, 60 * 10**6, law) <= sums).all()
    assert (sums <= binom.isf(rate, 60 * 10**6, law)).all()


@pytest.mark.parametrize(("law", "size"), [([0.2, 0.3, 0.5], 30), ([0.1] * 10, 50)])
def test_p_values_are_at_most_a_with_probability_a(law, size):
    rng, law, trials = np.random.default_rng(6), np.array(law), 1_000
    known = cumulants(size * law)
    found = deviations(rng.multinomial(size, law, trials), size * law)
    drawn = np.array([p_value(value, known, law, size, rng) for value in found])
    for level in (0.01, 0.05, 0.2, 0.5, 0.9):
        assert (drawn <= level).sum() <= binom.isf(CERTAINTY / 5, trials, level)
    assert (drawn <= 0.5).sum() >= binom.ppf(CERTAINTY, trials, 0.4)  # and not much less


def test_a_p_value_is_a_share_of_the_simulated_samples():
    law, size = np.array([0.5, 0.5]), 100
    known, rng = cumulants(size * law), np.random.default_rng(0)
    assert p_value(0.0, known, law, size, rng) == 1
    rows, mass = all_counts(law, size)
    found = deviations(rows, size * law)
    exact = mass[found >= found[62]].sum()  # about 0.02
    # ENOUGH of them were seen: relative to p that is off by 1/√ENOUGH, five times at most.
    assert abs(p_value(found[62], known, law, size, rng) / exact - 1) <= 5 / math.sqrt(ENOUGH)
    assert p_value(found[75], known, law, size, rng) == 1 / (SIMULATIONS + 1) + BEYOND
    assert p_value(found[100], known, law, size, rng) <= BEYOND
