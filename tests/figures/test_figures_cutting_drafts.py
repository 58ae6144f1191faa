"""What cut drafts keep: the table of the page against exact sums over the letters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from figures.cutting_drafts import CuttingDrafts, total_variation
from otspec.datasets import letters

TABLE = Path(__file__).parents[2] / "docs" / "tables" / "cutting_drafts.md"


def rows():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return {row[1]: row for row in cells[2:]}


@pytest.fixture(scope="module")
def pair():
    """Draft and target of the letters as arrays, and the chance of each two letters."""
    models = letters(exact=False)
    places = np.zeros((27, 27))
    for text, share in models.target.contexts().items():
        places[text] = share
    draft = np.array([models.draft((b,)) for b in range(27)])
    target = np.array([[models.target((a, b)) for b in range(27)] for a in range(27)])
    return draft, target, places


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.2])
def test_chains_keep_what_a_sum_over_texts_says(pair, threshold):
    draft, target, places = pair
    left = np.where(draft >= threshold, draft, 0)
    kept = np.minimum(left, target)  # (a, b, next)
    more = np.zeros((27, 27))
    for _ in range(3):
        more = (kept * (1 + more)).sum(axis=-1)
    exact = 1 + (places * more).sum()
    names = [f"confidence-{how}, {threshold}" for how in ("dropped", "masked")]
    for name in names if threshold else ["nothing is cut"]:
        _, _, off, mean, interval, _ = rows()[name]
        low, high = map(float, interval.split(" to "))
        assert abs(float(mean) - exact) <= high - low  # four standard errors
        if "dropped" in name:
            rejected = (left - kept).sum(axis=-1, keepdims=True)
            rest = np.maximum(target - draft, 0)
            rest = rest / np.maximum(rest.sum(axis=-1, keepdims=True), 1e-300)
            output = kept + rejected * rest + (1 - left.sum(axis=-1))[:, None] * target
            wanted = (places * np.abs(output - target).sum(axis=-1) / 2).sum()
            assert float(off) == pytest.approx(wanted, abs=1e-4)


def test_the_sequence_race_keeps_what_the_lossy_tree_keeps():
    lossy, race = (rows()[f"{name}, 6 nodes"] for name in ("sampled-budget", "sequence-race"))
    low, high = map(float, lossy[4].split(" to "))
    assert low <= float(race[3]) <= high
    assert float(race[5]) <= float(lossy[5])
    assert float(race[2]) == 0


def test_the_smallest_example_is_off_by_a_twentieth():
    assert total_variation(np.array([0.9, 0.1]), np.full(2, 0.5), [0]) == pytest.approx(0.05)


def test_quick_numbers_have_a_row_for_each(computed):
    found = computed(CuttingDrafts, quick=True).numbers()
    assert {row[1] for row in found.rows} == set(rows())
