"""MCSD's tables 1, 2, 3, 6 and 7 of the book: the best trees against one draft."""

import re

import numpy as np
import pytest

from figures import mcsd_tab2
from figures.greedy import Greedy
from figures.mcsd_tab2 import PAPERS, PRINTED, BestTrees
from figures.on_letters import LetterTrees, letter_pair
from otspec.rules import PooledSelectionWithoutReplacement, RecursiveRejection

TABLE_2 = """
SD (same γ) 0 1x1x1x1x1 2.71 3.19 1x1x1x1 1.64 1.97
Ours 4x2x2x1x1 3.06 3.93 8x2x1x1 2.06 2.56
SD (same γ) 1 1x1x1x1 1.69 1.98 1x1x1 1.33 1.53
Ours 8x2x1x1 2.17 2.71 16x1x1 1.73 2.10
SD (same γ) 0 1x1x1x1x1 2.02 2.38 1x1 1.15 1.29
Ours 4x2x2x1x1 2.24 2.87 16x2 1.45 1.73
SD (same γ) 1 1x1x1 1.41 1.63 1x1 1.13 1.26
Ours 8x2x1 1.72 2.08 16x2 1.42 1.70
"""
"""As printed, with the speedups that the book leaves out and without the best single draft."""


@pytest.fixture(scope="module")
def quick(computed):
    return computed(BestTrees, quick=True)


def test_table_2_is_copied_as_printed():
    lines = TABLE_2.strip().splitlines()
    found = iter(row for row in PRINTED if row.table == 2)
    for alone, tree in zip(lines[::2], lines[1::2], strict=True):
        temperature = int(alone.split()[3])
        deep = re.findall(r"(\d\S*x\S*) \S+ (\d\.\d+)", alone)
        best = re.findall(r"(\d\S*x\S*) \S+ (\d\.\d+)", tree)
        for (line, tau_alone), (branching, tau) in zip(deep, best, strict=True):
            row = next(found)
            assert (row.temperature, row.tree, row.tau) == (temperature, branching, tau)
            assert (row.alone, row.tau_alone) == (line, tau_alone)
    assert next(found, None) is None


def test_every_table_has_its_models():
    assert len(PRINTED) == 32
    assert {(row.table, row.models.split()[0]) for row in PRINTED} == {
        (2, "LLaMA-68M,"), (3, "LLaMA-160M,"), (6, "LLaMA-68M,"), (7, "LLaMA-160M,")
    }  # fmt: skip
    assert all(float(row.tau) > float(row.tau_alone) for row in PRINTED)
    assert {row.models.split("-")[-1] for row in PRINTED if row.table in (2, 3)} == {"33B"}


def test_greedy_drafts_hold_the_likeliest_token_or_not():
    draft, target = np.array([0.3, 0.3, 0.4]), np.array([0.2, 0.7, 0.1])
    assert [Greedy(draft, target, k).acceptance() for k in (1, 2, 3)] == [0, 0, 1]
    assert Greedy(draft, target, 3).accepted().by_token.tolist() == [0, 1, 0]
    assert Greedy(draft, draft, 1).acceptance() == 1


def test_one_draft_on_the_letters_is_between_the_paper_s():
    """As the caption says of table 1."""
    found = [
        LetterTrees(letter_pair(), rule).tokens_per_call((1,)) - 1
        for rule in (Greedy, RecursiveRejection)
    ]
    assert [round(each, 2) for each in found] == [0.47, 0.61]


def test_quick_numbers_are_those_of_small_trees(quick):
    assert {tree for _, tree, _ in quick.letters} == {"2x2x2x1x1", "1x1x1x1x1"}
    (row,) = quick.numbers().rows
    assert row[:7] == (6, "LLaMA-68M, LLaMA-13B", "Alpaca", 0, "2x2x2x1x1", "3.89", "3.35")
    assert row[7] == quick.letters[0, "1x1x1x1x1", PAPERS] < quick.letters[0, "2x2x2x1x1", PAPERS]
    said = " ".join(quick.notes())
    assert "paper 0.22 to 0.80" in said
    assert "paper: 1.16 to 1.16 times" in said


def test_gains_are_ratios_of_means():
    trees = ("1x1", "8x2")
    best = PooledSelectionWithoutReplacement.title
    letters = {(1, tree, rule): 2.0 for tree in trees for rule in mcsd_tab2.RULES}
    letters[1, "8x2", best] = 3.0
    trace = {(1, "1x1", PAPERS): (1.0, 2.0), (1, "8x2", PAPERS): (2.0, 4.0)}
    found = BestTrees(letters, trace, {1: (0.5, (0.5, 0.7))}).gains(1)
    rows = [row for row in PRINTED if (row.temperature, row.tree) == (1, "8x2")]
    assert len(found["paper"]) == len(rows)
    assert set(found[f"letters, {best}"]) == {1.5}
    assert set(found[f"trace, {PAPERS}"]) == {2.0}
