"""Canonical's figures 5 to 7 of the book."""

from pathlib import Path

import numpy as np
import pytest

import otspec
from figures.canonical_fig5 import DRAFT, LETTERS, TARGET, TOP_P, TRACE, EffectiveSizes, shares_of
from otspec.datasets import letters

GALLERY = Path(__file__).parents[2] / "docs" / "gallery.md"


@pytest.fixture(scope="module")
def found(computed):
    return computed(EffectiveSizes)


def quartiles(shares):
    sizes, below = list(shares), np.cumsum(list(shares.values()))
    return [sizes[np.searchsorted(below, share - 1e-12)] for share in (0.25, 0.5, 0.75)]


def fewest(masses, share):
    """The fewest of the likeliest tokens that have a share, by adding up."""
    total = 0.0
    for count, mass in enumerate(sorted(masses, reverse=True), start=1):
        total += mass
        if total >= share:
            return count
    raise AssertionError("the masses are a distribution")


def test_sizes_of_the_trace_are_those_of_sums(found):
    sizes = {DRAFT: [], TARGET: []}
    for _, *pair in otspec.datasets.load_smollm2().pairs():
        for side, masses in zip(sizes, pair, strict=True):
            sizes[side].append(fewest(masses.tolist(), TOP_P))
    for side, each in sizes.items():
        shares = found.shares[TRACE, side]
        assert sorted(each) == [
            size for size, share in shares.items() for _ in range(round(share * len(each)))
        ]


def test_sizes_of_the_letters_are_those_of_fractions(found):
    pair = letters()
    law = {}
    for context, mass in pair.target.contexts().items():
        size = fewest(pair.draft(context).tolist(), 0.95)
        law[size] = law.get(size, 0) + float(mass)
    assert found.shares[LETTERS, DRAFT] == pytest.approx(law)


def test_the_page_has_the_quartiles(found):
    page = " ".join(GALLERY.read_text(encoding="utf-8").split())
    low, half, high = quartiles(found.shares[TRACE, DRAFT])
    assert f"keep at most {low} of 49,152 tokens of the draft and half at most {half}" in page
    assert f"a quarter keep more than {high:,}" in page


def test_shares_add_up_and_unlikely_places_are_left_out():
    rows = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    assert shares_of(rows, np.array([3.0, 1.0, 0.0])) == {1: 0.25, 2: 0.75}
