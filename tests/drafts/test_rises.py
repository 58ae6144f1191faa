"""P(all distinct drafts inside a prefix), against fractions, a closed form, another integral."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from instances import EPS, HEAVY_DRAFTS, weights
from searching import NIGHTLY

import otspec
from otspec._base import compiling
from otspec.drafts.race import inside as race
from otspec.drafts.race.increments import inside_of_prefixes, inside_rises

ERROR = 1e-13
"""The documented error of a quadrature, relative to each rise."""
N = 49_152

PASSES = sorted({compiling.HAS_NUMBA, False})
"""Whether Numba is used."""


def by_enumeration(draft, k):
    prefixes = oracles.inside_prefixes(
        oracles.without_replacement_table(draft, k), range(len(draft))
    )
    return [after - before for before, after in pairwise(prefixes)]


def exactly(draft):
    """The fractions that floats are, over their sum: rates tell no more than ratios."""
    whole = [Fraction(mass) for mass in draft]
    return np.array([mass / sum(whole) for mass in whole], dtype=object)


def close(found, exact, error=ERROR):
    """Whether floats are within a relative error, of rises that are far above the least floats."""
    return all(
        abs(Fraction(each) - wanted) <= Fraction(error) * wanted + Fraction(1e-290)
        for each, wanted in zip(found.tolist(), exact, strict=True)
    )


@pytest.mark.parametrize("n", range(1, 7))
def test_fractions_are_those_of_the_table(n):
    rng = np.random.default_rng(n)
    for _ in range(20 if NIGHTLY else 8):
        draft = weights(rng, n, 9)
        for k in range(1, np.count_nonzero(draft) + 1):
            exact = np.array(draft, dtype=object)
            assert inside_rises(exact, k).tolist() == by_enumeration(draft, k)


def hard_drafts():
    rng = np.random.default_rng(1)
    for n in (3, 5, 7, 9) if NIGHTLY else (3, 5, 7):
        yield rng.exponential(size=n) ** 3
        yield 10.0 ** rng.uniform(-20, 0, n)
        yield 10.0 ** rng.uniform(-300, 0, min(n, 7))  # more take seconds: fractions grow long
        yield np.append(1.0, 10.0 ** rng.uniform(-12, -8, n - 1))[rng.permutation(n)]
        yield np.where(np.arange(n) % 3 == 1, 0, rng.exponential(size=n))
    yield np.ones(9)
    yield np.append(np.full(8, 5e-324), 1.0)
    yield np.array([1.0, 5e-324, 3e-310, 1e-308, 2e-16, 0.0])
    yield from (np.array(draft) for draft in HEAVY_DRAFTS)


def test_floats_are_those_of_the_fractions_with_all_their_digits(monkeypatch):
    for draft in hard_drafts():
        floats = draft / draft.sum()
        exact = exactly(floats)
        for k in range(1, min(6, np.count_nonzero(draft)) + 1):
            wanted = inside_rises(exact, k)
            for numba in PASSES:
                monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
                assert close(race.rises(floats, [k])[0], wanted), (draft, k, numba)


@pytest.mark.parametrize("n", [3, 8, 12])
def test_as_many_drafts_as_tokens_are_complete_with_the_last_one(n):
    draft = np.random.default_rng(n).exponential(size=n) ** 8
    found = race.rises(draft / draft.sum(), [n])[0]
    assert found[:-1].tolist() == [0] * (n - 1)
    assert abs(found[-1] - 1) <= ERROR


@pytest.mark.parametrize("k", [3, 4, 16, 64])
def test_equal_tokens_are_a_hypergeometric_law(k):
    found = race.rises(np.full(N, 1 / N), [k])[0]
    for j in (k - 1, k, 100, 1_000, 20_000, N - 1):
        exact = Fraction(math.comb(j, k - 1), math.comb(N, k))
        assert abs(Fraction(found[j]) - exact) <= ERROR * exact
    assert abs(math.fsum(found) - 1) <= ERROR


def grouped_draft(rng):
    """Rates of few kinds: heavy ones, and thousands alike."""
    kinds = np.concatenate([rng.exponential(size=40) ** 4, [1e-3, 1e-4, 1e-6]])
    tokens = np.concatenate([np.arange(40), rng.choice([40, 41, 42], N - 40)])
    kind = rng.permutation(tokens)
    return kinds / kinds[kind].sum(), kind


def escape(rates, counts, left, k):
    """1 − P(all inside) = c ∫ e^{−ct} Pr(N < k) dt, with Pr(N < k) by Fourier's transform.

    The integrand is analytic in |arg t| < 1, where it is below cos(1)^{−k} times the real one, and
    the substitution by twice as many nodes as that asks for.
    """
    step = math.pi / (38 + 0.616 * k)
    s = np.arange(-3.7, math.log(40 / left), step)
    times = np.exp(s - np.exp(-s))
    roots = np.exp(2j * np.pi * np.arange(257) / 512)  # at the others it is the conjugate
    below = np.empty(len(times))
    for i, t in enumerate(times):
        arrived = -np.expm1(-rates * t)
        if arrived @ counts < 1e-5:  # Pr(N > 2) < 2e-16
            below[i] = 1
            continue
        if arrived @ counts > 300:  # Pr(N < 64) < e^{−130}; and else Pr(N ≥ 512) < e^{−60}
            below[i] = 0
            continue
        transform = np.exp(np.log1p(np.multiply.outer(roots - 1, arrived)) @ counts)
        below[i] = (np.fft.hfft(transform, 512) / 512)[:k].sum()
    return step * (left * np.exp(-left * times) * times * (1 + np.exp(-s))) @ below


@pytest.mark.parametrize("k", [3, *(pytest.param(k, marks=pytest.mark.nightly) for k in (16, 64))])
def test_another_integral_gives_the_same_at_full_vocabulary(k):
    kinds, kind = grouped_draft(np.random.default_rng(k))
    found = np.append(0, np.cumsum(race.rises(kinds[kind], [k])[0], dtype=np.longdouble))
    for j in (20_000, N - 100) if NIGHTLY else (N - 100,):
        counts = np.bincount(kind[:j], minlength=len(kinds))
        left = kinds @ np.bincount(kind[j:], minlength=len(kinds))
        assert abs(1 - found[j] - escape(kinds, counts, left, k)) <= ERROR


def test_the_trace_with_and_without_numba_and_all_k_at_once(monkeypatch):
    draft = next(iter(otspec.datasets.load_smollm2().pairs()))[1]
    ks = [3, 4, 16] if NIGHTLY else [3, 16]
    together = race.rises(draft, ks)
    assert (np.abs(together.sum(axis=1) - 1) <= ERROR).all()
    for found, k in zip(together, ks, strict=True):
        np.testing.assert_allclose(found, race.rises(draft, [k])[0], rtol=ERROR, atol=0)
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    np.testing.assert_allclose(together, race.rises(draft, ks), rtol=ERROR, atol=0)


def test_late_tokens_need_no_place_in_the_order():
    rng = np.random.default_rng(2)
    draft = shares_of(rng.exponential(size=40) ** 5)
    whole = race.rises(draft, [3, 5])
    part = race.rises(draft[:25], [3, 5], draft[25:].sum())
    np.testing.assert_allclose(part, whole[:, :25], rtol=ERROR, atol=0)


def shares_of(masses):
    return masses / masses.sum()


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_sums_of_rises_are_the_probabilities_of_prefixes(k):
    rng = np.random.default_rng(k)
    draft = shares_of(rng.exponential(size=30) ** 3 * (rng.random(30) < 0.8))
    (inside,) = inside_of_prefixes(draft, [k])
    assert inside[0] == 0
    assert inside[-1] == pytest.approx(1, abs=(30 + 2) * EPS)
    np.testing.assert_allclose(np.diff(inside), inside_rises(draft, k), rtol=0, atol=64 * EPS)
    assert (inside <= 1).all() or k < 3


def test_exact_numbers_of_more_sets_than_anybody_counts_are_refused():
    draft = [Fraction(1, 40)] * 40
    law = otspec.WithoutReplacement(draft, 20)
    with pytest.raises(ValueError, match=r"20 distinct drafts of 39 tokens .*: use floats"):
        law.inside(range(39))
    with pytest.raises(ValueError, match=r"20 distinct drafts of 40 tokens .*: use floats"):
        law.inside_prefixes(np.arange(40))
    assert law.inside(range(40)) == 1
    assert otspec.WithoutReplacement(draft[:1] * 40, 3).inside(range(20)) == Fraction(
        math.comb(20, 3), math.comb(40, 3)
    )


def test_a_quadrature_beyond_the_memory_is_refused():
    draft = np.full(200_000, 1 / 200_000)
    with pytest.raises(ValueError, match="k is 100,000: so many distinct drafts need"):
        otspec.WithoutReplacement(draft, 100_000).inside(range(199_999))
