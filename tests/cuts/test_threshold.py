"""The optimum of one number of drafts from a histogram, against every prefix (Theory, 32)."""

from fractions import Fraction

import numpy as np
import pytest
from instances import EPS, extreme_pairs, floats, pairs
from prefix_cuts import least, touching

import otspec
from otspec.distributions import as_pair
from otspec.optimum.cuts.prefix import histogram_serves, iid_acceptance_by_histogram

KS = [1, 2, 3, 17, 2**53]


def check(draft, target, k):
    pair = as_pair(draft, target, normalize=True)
    # Cumulative sums of n masses, twice, and the power.
    bound = (2 * len(pair[0]) + 10) * EPS
    assert abs(iid_acceptance_by_histogram(*pair, k) - least(*pair, k)) <= bound


@pytest.mark.parametrize("k", KS)
def test_few_tokens_of_every_kind(k):
    for draft, target in [*pairs(31, 60, 6), *extreme_pairs(32, 60, 9)]:
        check(floats(draft), floats(target), k)


@pytest.mark.parametrize("k", KS)
def test_many_tokens_in_a_bin_and_many_minima(k):
    rng = np.random.default_rng(k % 1000)
    draft = rng.dirichlet(np.full(300, 0.5))
    check(draft, draft * (1 + 1e-3 * rng.random(300)), k)
    check(draft, rng.dirichlet(np.full(300, 0.1)), k)
    for scale in (0.03, 0.3, 1):
        check(draft, draft * np.exp(scale * rng.normal(size=300)), k)
    for dents in (0.0, 1e-10, 1e-5):
        check(draft, touching(draft, k, 0.2, dents * rng.random(300) / 300), k)


def test_one_number_of_drafts_at_full_vocabulary():
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    for k in (2, 1000):
        (found,) = otspec.optimal_acceptances(draft, target, [k])
        best = otspec.optimal_acceptance(otspec.IID(draft, k), target)
        assert found == pytest.approx(best.acceptance, abs=2 * len(draft) * EPS)


def test_what_is_sorted_all_the_same():
    even = np.full(5000, 1 / 5000)
    assert histogram_serves(even, 2**53)
    assert not histogram_serves(even, 2**53 + 1)
    assert not histogram_serves(even[:100] * 50, 2)
    assert not histogram_serves(np.full(5000, Fraction(1, 5000)), 2)
