"""The sequential test: its evidence, its rate of alarms, its power, and the looks that it takes."""

from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log, prod

import numpy as np
import pytest

from otspec.conformance.evidence.evidence import (
    COARSER,
    LARGEST,
    Evidence,
    Requirement,
    affordable,
    requirement,
)


def needs(cells, alarm=0.01, rounding=0.0, concentration=6.0, size=1_000, detect=0.1):
    return Requirement(cells, detect, alarm, rounding, size, concentration)


def literal(law, counts, concentration):
    """The likelihood of one order of samples under the Dirichlet prior, over that of the law.

    Sample by sample: each cell's share of the pseudo-counts and of the samples before.
    """

    def likelihood(weight):
        seen, total = [0] * len(law), Fraction(1)
        for cell, count in enumerate(counts):
            for _ in range(count):
                total *= (weight * law[cell] + seen[cell]) / (weight + sum(seen))
                seen[cell] += 1
        return total

    mixture = (likelihood(concentration) + likelihood(concentration / COARSER)) / 2
    return mixture / prod(mass**count for mass, count in zip(law, counts, strict=True))


@pytest.mark.parametrize("counts", [(0, 0, 0), (1, 0, 0), (3, 5, 2), (0, 0, 12), (20, 1, 7)])
def test_the_evidence_is_the_ratio_of_likelihoods(counts):
    law = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    evidence = Evidence(np.array(law, dtype=float), needs(3))
    right = literal(law, counts, Fraction(6))
    # A dozen logarithms of gamma functions of up to 50, each right to a few ulps.
    assert evidence.logarithm(np.array(counts)) == pytest.approx(log(right), abs=1e-12)


def test_a_cell_of_probability_0_is_impossible_without_rounding():
    evidence = Evidence(np.array([0.5, 0.5, 0.0]), needs(3))
    assert evidence.logarithm(np.array([3, 3, 1])) == inf
    assert evidence.wrong(np.array([0, 0, 1]))
    assert evidence.logarithm(np.array([4, 4, 0])) < 1


@pytest.mark.parametrize("first", [Fraction(1, 2), Fraction(1, 5)])
@pytest.mark.parametrize("alarm", [0.5, 0.1])
def test_a_right_law_alarms_no_more_often_than_stated_whenever_one_looks(first, alarm):
    """All ways of eight samples, with the exact chance of each."""
    law = [first, 1 - first]
    evidence = Evidence(np.array(law, dtype=float), needs(2, alarm=alarm))
    alarmed = Fraction(0)
    for way in product((0, 1), repeat=8):
        seen = np.zeros(2, dtype=int)
        for cell in way:
            seen[cell] += 1
            if evidence.wrong(seen):
                alarmed += prod(law[c] for c in way)
                break
    assert alarmed <= alarm


@pytest.mark.parametrize("worst", [(0.011, 0.989), (0.009, 0.991)])
def test_rounding_of_a_law_alarms_no_more_often(worst):
    """The expected evidence is at most 1 for every law that rounding explains."""
    rounding = 0.002
    evidence = Evidence(np.array([0.01, 0.99]), needs(2, rounding=rounding, concentration=3.0))
    largest = (1 + 2 * rounding) * evidence.expected
    assert np.all(np.array(worst) <= largest + 1e-15)
    expected = sum(
        comb(8, k)
        * worst[0] ** k
        * worst[1] ** (8 - k)
        * exp(evidence.logarithm(np.array([k, 8 - k])))
        for k in range(9)
    )
    assert expected <= 1 + 1e-12


@pytest.mark.parametrize(("cells", "detect", "alarm"), [(2, 0.05, 1e-4), (9, 0.1, 1e-6)])
def test_a_law_at_the_distance_is_found(cells, detect, alarm):
    """The mass goes from likely cells to likely ones, the hardest way: 400 tests, none missed."""
    found = requirement(cells, detect, alarm, 1e-6)
    law = np.full(cells, 1 / cells)
    half = cells // 2
    wrong = law + detect * np.concatenate(
        [np.full(half, 1 / half), np.full(cells - half, -1 / (cells - half))]
    )
    evidence = Evidence(law, found)
    rng = np.random.default_rng(5)
    missed = sum(not evidence.wrong(rng.multinomial(found.size, wrong)) for _ in range(400))
    # One in 1000 may be: more than 5 of 400 have the chance 1e-5.
    assert missed <= 5


def test_what_is_affordable_is_what_so_many_samples_are_required_for():
    found = requirement(5, 0.03, 1e-6, 1e-6)
    back = affordable(5, found.size, 1e-6, 1e-6)
    assert back.detect == pytest.approx(0.03, rel=2e-3)
    assert affordable(5, 1, 1e-6, 1e-6).detect == 1.0
    assert requirement(5, 0.06, 1e-6, 1e-6).size < found.size


def test_rounding_hides_what_no_number_of_samples_finds():
    hidden = affordable(5, LARGEST, 1e-6, 2e-3).detect
    assert 0.03 < hidden < 0.07
    assert requirement(5, hidden / 2, 1e-6, 2e-3).size >= LARGEST * 0.999


@pytest.mark.parametrize("size", [1, 3, 700, 100_000])
def test_looks_rise_to_all_samples(size):
    looks = Evidence(np.array([0.5, 0.5]), needs(2, size=size)).looks()
    assert looks == sorted(set(looks))
    assert looks[-1] == size
    assert min(looks) >= 1


def test_a_near_law_passes_early_and_a_far_one_never():
    size, detect = 40_000, 0.05
    evidence = Evidence(np.array([0.5, 0.5]), needs(2, size=size, detect=detect))
    half = size // 2
    assert evidence.passes(np.array([half // 2, half // 2]))
    off = round(half * detect)
    assert not evidence.passes(np.array([half // 2 + off, half // 2 - off]))
    assert not evidence.passes(np.array([300, 300]))  # not one of the looks that may end it
    assert evidence.passes(np.array([half + 2 * off, half - 2 * off]))  # the last one
