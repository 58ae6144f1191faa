"""The numbers of one race's integrals, each against what its docstring says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import polynomial

from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_counts import combined, enough, integrals, series
from otspec.rules.shared_noise.gumbel_panels import Sorted

ENTRIES = [(1, 1), (2, 2), (2, 1), (3, 3), (3, 2), (3, 1)]  # (j, i): t^j (s − 1)^i


@pytest.mark.parametrize("most", [1, 2, 5])
def test_coefficients_below_k_are_summed_after_powers_of_s_less_1(most):
    sums = np.random.default_rng(most).integers(-9, 10, (2, 3, 4, most)).astype(float)
    found = combined(sums)
    assert found.shape == (2, 3, 7, most)
    for row in np.ndindex(2, 3):
        assert found[row][0].tolist() == np.cumsum(sums[row][0]).tolist()
        for entry, (j, i) in zip(found[row][1:], ENTRIES, strict=True):
            # Coefficients of s^most and more do not matter for those below.
            product = polynomial.polymul(sums[row][j], polynomial.polypow([-1, 1], i))
            assert entry.tolist() == np.cumsum(product)[:most].tolist()


def test_powers_of_an_exponential_less_1():
    """(e^x − 1)^i = i! Σ S(m, i) x^m/m!, with Stirling's numbers of the second kind."""
    second = [[1]]
    for m in range(1, 15):
        row = [*second[-1], 0]
        second.append([0, *(row[i - 1] + i * row[i] for i in range(1, m + 1))])
    found = series(4)
    assert found.shape == (4, 14)
    for i in range(1, 5):
        for m in range(1, 15):
            count = second[m][i] if i <= m else 0
            wanted = (-1) ** (i - 1) * Fraction(math.factorial(i) * count, math.factorial(m))
            assert found[i - 1, m - 1] == pytest.approx(float(wanted), rel=1e-13, abs=0)


@pytest.mark.parametrize("level", range(2, 20))
def test_enough_powers_leave_next_to_nothing(level):
    """The m-th term is at most (3/2 · 4^{−level})^m."""
    ratio = 1.5 * 0.25**level
    assert ratio ** enough(level) <= 1e-14 * (1 + 1e-9)
    assert ratio ** (enough(level) - 1) > 1e-14


def test_integrals_at_a_node_are_those_of_all_sets_of_tokens():
    """Three tokens come before τ with 1 − e^{−wτ/V}, against a rule of 400 nodes."""
    draft, target = np.array([0.5, 0.25, 0.125, 0.125]), np.array([0.0625, 0.0625, 0.375, 0.5])
    pair = Pair(draft, target)
    rho, most = 0.25, 3
    found = integrals(Sorted(draft, target, pair.below), np.array([rho]), np.array([3]), most)[0]
    rates = draft[:3] - rho * target[:3]
    total = rho + rates.sum()
    points, weights = np.polynomial.legendre.leggauss(400)
    times = 100 * (points + 1)  # e^{−50} of a density is left
    density = rho / total * np.exp(-rho / total * times) * weights * 100
    counts = np.ones((1, len(times)))
    for rate in rates / total:
        stays = np.exp(-rate * times)
        counts = np.pad(counts * stays, [(0, 1), (0, 0)]) + np.pad(
            counts * (1 - stays), [(1, 0), (0, 0)]
        )
    assert found[0] == pytest.approx(np.cumsum(counts @ density)[:most], abs=1e-12)
    for entry, (j, i) in zip(found[1:], ENTRIES, strict=True):
        chances = counts @ (density * (times / total) ** j)
        product = polynomial.polymul(chances, polynomial.polypow([-1, 1], i))
        assert entry == pytest.approx(np.cumsum(product)[:most], abs=1e-9)
