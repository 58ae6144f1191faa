"""Canonical's tables 1, 2 and 4 of the book."""

import numpy as np
import pytest

from figures import canonical_tab1
from figures.canonical_tab1 import SAMPLING, SPECINFER, SPECTR, TABLE_1, TABLE_2, Sweeps
from figures.on_letters import LetterTrees, Warping, letter_pair
from otspec.rules import ImportanceSampling, PooledSelection, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

PRINTED = """
IS 2.13 0.05 2.22 0.05 2.26 0.05 2.27 0.05 2.28 0.06
SpecInfer 1.76 0.04 1.86 0.05 1.95 0.05 2.00 0.04 2.04 0.05
SpecTr 1.77 0.04 1.89 0.05 1.96 0.05 2.03 0.06 2.08 0.04
"""
SECOND = "10 1.98 0.03 20 2.00 0.04 40 2.05 0.04 50 2.03 0.05 5 2.05 0.04 10 2.04 0.05 15 2.04 0.04"


@pytest.fixture(scope="module")
def quick(computed):
    return computed(Sweeps, quick=True)


def test_the_paper_is_copied_as_printed():
    names = {"IS": SAMPLING, "SpecInfer": SPECINFER, "SpecTr": SPECTR}
    for line in PRINTED.strip().splitlines():
        name, *cells = line.split()
        pairs = zip(cells[::2], cells[1::2], strict=True)
        assert TABLE_1[names[name]] == " ".join(f"{mean}±{error}" for mean, error in pairs)
    cells = SECOND.split()
    rows = zip(cells[::3], cells[1::3], cells[2::3], strict=True)
    for ((_, value), cell), (size, mean, error) in zip(TABLE_2.items(), rows, strict=True):
        assert (str(value), cell) == (size, f"{mean}±{error}")


def test_the_order_of_the_rules(quick):
    for row in quick.rows:
        for values in (row.calls, row.letters, {rule: np.mean(v) for rule, v in row.trace.items()}):
            known = [values[rule] for rule in (OPTIMUM, SPECTR, SPECINFER) if rule in values]
            assert known == sorted(known, reverse=True)
            if SAMPLING in values:
                assert values[SAMPLING] < values[OPTIMUM]


def test_what_the_caption_says():
    """Six drafts over two, for the rule that is quickest."""
    hot = letter_pair(Warping(draft_temperature=canonical_tab1.HOT))
    trees = LetterTrees(hot, RecursiveRejection, merge=True)
    two, six = (trees.tokens_per_call((k, 1, 1, 1, 1)) for k in (2, 6))
    assert round(six / two, 2) == 1.17
    best, rejected = (
        LetterTrees(letter_pair(Warping(top_p=0.5)), rule).tokens_per_call((2,))
        for rule in (PooledSelection, RecursiveRejection)
    )
    assert round(best - rejected, 3) == 0.013


def test_truncation_costs_acceptance_until_nothing_is_cut():
    pair = letter_pair()
    row = int(np.argmax(pair.places))
    draft, target = pair.draft[row], pair.target[row]
    few, more, all_of_them = (
        canonical_tab1.sampled(draft, target, alphabet, free)[SAMPLING]
        for alphabet, free in ((5, 5), (27, 5), (27, 27))
    )
    best = canonical_tab1.sampled(draft, target, 27, 27)[OPTIMUM]
    assert few < more <= all_of_them + 1e-9
    assert all_of_them == pytest.approx(best, abs=1e-9)
    rule = ImportanceSampling(draft, target, 2, alphabet=5, free=5)
    assert few == pytest.approx(float(rule.acceptance()), abs=1e-12)


def test_every_setting_has_its_row(quick):
    table = quick.numbers()
    assert [row[:3] for row in table.rows] == [
        ("table 1", "drafts", "2"),
        ("table 2", "alphabet", "10"),
        ("table 2", "free tokens", "10"),
        ("table 4", "top-p", "0.5"),
    ]
    assert table.rows[0][3:6] == ("2.13±0.05", "1.77±0.04", "1.76±0.04")
    said = " ".join(quick.notes())
    assert "over 2 drafts, times: paper 1.00, letters 1.00" in said
